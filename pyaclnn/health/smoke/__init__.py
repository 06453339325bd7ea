# SPDX-License-Identifier: Apache-2.0
"""The numeric test of every operator."""

__all__: list[str] = []
