# SPDX-License-Identifier: Apache-2.0
"""The bins of an error histogram, for those who count errors and for those who draw the counts.

It stands alone because whoever draws a report needs neither NumPy nor CANN.
"""

from __future__ import annotations

__all__ = ["ERROR_EDGES"]

ERROR_EDGES = (*(10 ** (exponent / 2) for exponent in range(-8, 5)), float("inf"))
"""Upper edges of the bins of an error histogram: half decades of |error| / tolerance."""
