# SPDX-License-Identifier: Apache-2.0
"""What aclnnAddLayerNorm does beyond any rule (CANN: ops-nn norm/add_layer_norm)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["FITS"]


def _bias(request: Request) -> str | None:
    """Only the 950 looks at its shape."""
    dims, wide = request.tensors["bias"].dims, request.tensors["x1"].dims
    narrow = request.tensors["gamma"].dims
    if request.chip.family != "950" or dims in (wide, narrow):
        return None
    has, one, other = map(shape_text, (dims, narrow, wide))
    return f"{request.c_name('bias')} has shape {has}; it must have {one} or {other}"


FITS = {"bias": _bias}
