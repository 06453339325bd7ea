# SPDX-License-Identifier: Apache-2.0
"""What aclnnLayerNormQuant does beyond any rule (CANN: ops-nn norm/layer_norm_quant)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["FITS", "breaks"]


def _zero_points(request: Request) -> str | None:
    dims = request.tensors["zero_points"].dims
    if len(dims) == 1:
        return None
    return f"zeroPointsOptional has shape {shape_text(dims)}; it must have one dimension"


FITS = {"zero_points": _zero_points, "scaleOut": lambda _: None}


def breaks(request: Request) -> str | None:
    """Nobody has compared how many zero points there are."""
    size = request.tensors["zero_points"].size
    return None if size == 1 else f"zeroPointsOptional has {size} elements; it must have one"
