# SPDX-License-Identifier: Apache-2.0
"""Mutations that change nothing which a test could see, each with its reason."""

from __future__ import annotations

__all__ = ["EQUIVALENT"]

# By file, the line before and the line after.
EQUIVALENT: dict[tuple[str, str, str], str] = {}
