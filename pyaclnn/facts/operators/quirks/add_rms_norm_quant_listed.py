# SPDX-License-Identifier: Apache-2.0
"""What the hand-written aclnnAddRmsNormQuant does beyond any rule.

It holds each tensor against a list and compares none with another; the rest is left to the kernel.

Source: CANN: ops-nn norm/add_rms_norm_quant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.words import MAX_RANK

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["refuse"]

_FLOATS = ("f32", "f16", "bf16")
_LISTED = {
    **dict.fromkeys(("x1", "x2", "gamma", "scales1", "scales2", "x"), _FLOATS),
    **dict.fromkeys(("zero_points1", "zero_points2"), ("i32", *_FLOATS)),
    **dict.fromkeys(("y1", "y2"), ("i8", "HIFLOAT8", "FLOAT8_E5M2", "FLOAT8_E4M3FN")),
}


def refuse(request: Request) -> str | None:
    """Types, then numbers of axes."""
    given = [name for name in _LISTED if request.tensors[name] is not None]
    for name in given:
        if request.types[name] not in _LISTED[name]:
            has, must = request.types[name], " or ".join(_LISTED[name])
            return f"{request.c_name(name)} has data type {has}; it must be {must}"
    has, must = request.types["y1"], request.types["y2"]
    if has != must:
        return f"y1Out has data type {has}; it must be {must}, as y2Out"
    for name in given:
        axes = len(request.tensors[name].dims)
        if not 1 <= axes <= MAX_RANK:
            return f"{request.c_name(name)} has {axes} dimensions; it must be 1 to {MAX_RANK}"
    return None
