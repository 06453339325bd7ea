# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the definitions: number types, rounding, rows, channels."""

from __future__ import annotations

__all__: list[str] = []
