# SPDX-License-Identifier: Apache-2.0
"""What the operators' definitions are written in: number types, rounding, rows, channels."""

from __future__ import annotations

__all__: list[str] = []
