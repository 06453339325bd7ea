# SPDX-License-Identifier: Apache-2.0
"""What aclnnAddLayerNormQuant does beyond any rule (CANN: ops-nn norm/add_layer_norm_quant)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["beyond"]


def beyond(request: Request) -> str | None:
    """The place of the sum is looked at also where nobody wants the sum."""
    found, wanted = request.tensors["x"].dims, request.tensors["x1"].dims
    if found == wanted:
        return None
    return f"xOut has shape {shape_text(found)}; it must be {shape_text(wanted)}, the shape of x1"
