# SPDX-License-Identifier: Apache-2.0
"""What aclnnRmsNormQuantV3 does beyond any rule (CANN: ops-nn norm/rms_norm_quant_v2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.words import PACKED

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["refuse"]

_MOST_AXES = {"gamma": 2, "scale": 1}


def refuse(request: Request) -> str | None:
    """All that is looked at before the kernel."""
    for name, most in _MOST_AXES.items():
        dims = request.tensors[name].dims
        if not 1 <= len(dims) <= most:
            return f"{name} has shape {shape_text(dims)}; it must have 1 to {most} dimensions"
    x, y = request.tensors["x"].dims, request.tensors["y"].dims
    if request.types["y"] != "i32" or (x and y and x[-1] == PACKED * y[-1]):
        return None
    return (
        f"y has shape {shape_text(y)}; packed into int32 its last dimension must be an eighth of "
        f"that of x, whose shape is {shape_text(x)}"
    )
