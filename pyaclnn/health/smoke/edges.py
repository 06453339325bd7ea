# SPDX-License-Identifier: Apache-2.0
"""Bins of error histograms; apart from the rest, because drawing needs neither NumPy nor CANN."""

from __future__ import annotations

__all__ = ["ERROR_EDGES"]

ERROR_EDGES = (*(10 ** (exponent / 2) for exponent in range(-8, 5)), float("inf"))
"""Upper edges of the bins of an error histogram: half decades of |error| / tolerance."""
