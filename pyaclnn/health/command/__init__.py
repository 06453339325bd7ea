# SPDX-License-Identifier: Apache-2.0
"""The run of the checks, and the command lines."""

__all__: list[str] = []
