# SPDX-License-Identifier: Apache-2.0
"""Foundations without knowledge of CANN: errors, files, safe paths, ELF, lazy names, limits."""

from __future__ import annotations

__all__: list[str] = []
