# SPDX-License-Identifier: Apache-2.0
"""Releases of CANN as the tests know them, typed and not derived from the product."""

from __future__ import annotations

from typing import Final

__all__ = ["NEWEST", "OLDEST", "VERSIONS"]

VERSIONS: Final = {
    "8.1": "1 13 0 8.1.RC1 8 1 RC1",
    "9.1": "1 17 0 9.1.0 9 1 0",
}
"""Release -> the version of its interface, its name in full, and the parts of that."""
OLDEST: Final = "8.1"
NEWEST: Final = "9.1"
