# SPDX-License-Identifier: Apache-2.0
"""The normalization operators, one family a module."""

__all__: list[str] = []
