# SPDX-License-Identifier: Apache-2.0
"""What the hand-written aclnnAddRmsNormDynamicQuant does beyond any rule.

It holds each tensor against a list and compares no types; those are left to the kernel.

Source: CANN: ops-nn norm/add_rms_norm_dynamic_quant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.operators.request import Request

__all__ = ["breaks", "refuse"]

_HALVES = ("f16", "bf16")
_NARROW = ("i8", "HIFLOAT8", "FLOAT8_E5M2", "FLOAT8_E4M3FN")
_LISTED = {
    "x1": ("x1", _HALVES),
    "x2": ("x2", _HALVES),
    "gamma": ("gamma", _HALVES),
    "smooth_scale1": ("smoothScale1Optional", _HALVES),
    "smooth_scale2": ("smoothScale2Optional", _HALVES),
    "y1": ("y1Out", _NARROW),
    "y2": ("y2Out", _NARROW),
    "x": ("xOut", _HALVES),
    "scale1": ("scale1Out", ("f32",)),
    "scale2": ("scale2Out", ("f32",)),
}


def refuse(request: Request) -> str | None:
    """Types alone."""
    for name, (c_name, kinds) in _LISTED.items():
        if request.tensors[name] is not None and request.types[name] not in kinds:
            has, must = request.types[name], " or ".join(kinds)
            return f"{c_name} has data type {has}; it must be {must}"
    if request.types["y1"] != request.types["y2"]:
        return f"y2Out has data type {request.types['y2']}; it must be {request.types['y1']}"
    return None


def breaks(request: Request) -> str | None:
    """What stands for a second result is copied too: one element, of which nobody knows what."""
    smooth = (request.tensors[name] for name in ("smooth_scale1", "smooth_scale2"))
    if all(given is not None for given in smooth):
        return None
    for c_name, name in (("y2Out", "y2"), ("scale2Out", "scale2")):
        given = request.tensors[name]
        if given.size != 1:
            return (
                f"{c_name} has shape {shape_text(given.dims)}; without both scales it must be [1]"
            )
    return None
