# SPDX-License-Identifier: Apache-2.0
"""What aclnnRmsNormQuant does beyond any rule (CANN: ops-nn norm/rms_norm_quant)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.words import PACKED

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["FITS", "breaks"]


def _scale(request: Request) -> str | None:
    dims = request.tensors["scale"].dims
    if len(dims) == 1:
        return None
    return f"scale has shape {shape_text(dims)}; it must have one dimension"


def _offset(request: Request) -> str | None:
    dims, scale = request.tensors["offset"].dims, request.tensors["scale"].dims
    if dims == scale:
        return None
    return f"offset has shape {shape_text(dims)}; it must be {shape_text(scale)}, that of scale"


def _y(request: Request) -> str | None:
    """Only the 950 looks at more than the last dimension."""
    dims, (last,), rows = request.tensors["y"].dims, request.known["H"], request.known["rows"]
    packed = PACKED if request.types["y"] == "i32" else 1
    leading = rows if request.chip.family == "950" else dims[:-1]
    if dims and dims[-1] * packed == last and dims[:-1] == leading:
        return None
    return (
        f"y has shape {shape_text(dims)}; it must end in {last // packed}, where x ends in {last}"
    )


FITS = {"scale": _scale, "offset": _offset, "y": _y}


def breaks(request: Request) -> str | None:
    """What the kernel and the final copy find: more scales than one, and another shape of y."""
    scale, y = request.tensors["scale"], request.tensors["y"]
    if scale.size != 1:
        return f"scale has {scale.size} elements; it must have one"
    if y.dims[:-1] != request.known["rows"]:
        return f"y has shape {shape_text(y.dims)}; the result cannot be copied into it"
    return None
