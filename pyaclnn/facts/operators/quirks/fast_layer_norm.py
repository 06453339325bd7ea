# SPDX-License-Identifier: Apache-2.0
"""What aclnnFastLayerNorm does beyond any rule (CANN: ops-nn norm/fast_layer_norm)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["breaks"]

_MOST_COLUMNS = 583_705_600


def breaks(request: Request) -> str | None:
    """The kernel counts only so far."""
    columns = prod(request.known["norm"])
    if columns <= _MOST_COLUMNS:
        return None
    return f"input has {columns} elements a row; it must have at most {_MOST_COLUMNS}"
