# SPDX-License-Identifier: Apache-2.0
"""What the hand-written aclnnAddRmsNormDynamicQuant does beyond any rule.

It holds each tensor against a list and compares no types; those are left to the kernel.

Source: CANN: ops-nn norm/add_rms_norm_dynamic_quant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["breaks", "refuse"]

_HALVES = ("f16", "bf16")
_NARROW = ("i8", "HIFLOAT8", "FLOAT8_E5M2", "FLOAT8_E4M3FN")
_LISTED = {
    **dict.fromkeys(("x1", "x2", "gamma", "smooth_scale1", "smooth_scale2"), _HALVES),
    **dict.fromkeys(("y1", "y2"), _NARROW),
    "x": _HALVES,
    **dict.fromkeys(("scale1", "scale2"), ("f32",)),
}


def refuse(request: Request) -> str | None:
    """Types alone."""
    for name, kinds in _LISTED.items():
        if request.tensors[name] is not None and request.types[name] not in kinds:
            has, must = request.types[name], " or ".join(kinds)
            return f"{request.c_name(name)} has data type {has}; it must be {must}"
    if request.types["y1"] != request.types["y2"]:
        return f"y2Out has data type {request.types['y2']}; it must be {request.types['y1']}"
    return None


def breaks(request: Request) -> str | None:
    """What stands for a second result is copied too: one element, of which nobody knows what."""
    smooth = (request.tensors[name] for name in ("smooth_scale1", "smooth_scale2"))
    if all(given is not None for given in smooth):
        return None
    for name in ("y2", "scale2"):
        given = request.tensors[name]
        if given.size != 1:
            has = shape_text(given.dims)
            return f"{request.c_name(name)} has shape {has}; without both scales it must be [1]"
    return None
