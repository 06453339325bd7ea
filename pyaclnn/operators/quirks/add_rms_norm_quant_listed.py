# SPDX-License-Identifier: Apache-2.0
"""What the hand-written aclnnAddRmsNormQuant does beyond any rule.

It holds each tensor against a list and compares none with another; the rest is left to the kernel.

Source: CANN: ops-nn norm/add_rms_norm_quant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.operators.words import MAX_RANK

if TYPE_CHECKING:
    from pyaclnn.operators.request import Request

__all__ = ["refuse"]

_FLOATS = ("f32", "f16", "bf16")
_LISTED = {
    **dict.fromkeys(("x1", "x2", "gamma", "scales1", "scales2", "x"), _FLOATS),
    **dict.fromkeys(("zero_points1", "zero_points2"), ("i32", *_FLOATS)),
    **dict.fromkeys(("y1", "y2"), ("i8", "HIFLOAT8", "FLOAT8_E5M2", "FLOAT8_E4M3FN")),
}
_C_NAMES = {
    "scales2": "scales2Optional",
    "zero_points1": "zeroPoints1Optional",
    "zero_points2": "zeroPoints2Optional",
    "y1": "y1Out",
    "y2": "y2Out",
    "x": "xOut",
}


def refuse(request: Request) -> str | None:
    """Types, then numbers of axes."""
    given = [name for name in _LISTED if request.tensors[name] is not None]
    for name in given:
        if request.types[name] not in _LISTED[name]:
            return _text(name, f"data type {request.types[name]}", " or ".join(_LISTED[name]))
    if request.types["y1"] != request.types["y2"]:
        return _text("y1", f"data type {request.types['y1']}", f"{request.types['y2']}, as y2Out")
    for name in given:
        axes = len(request.tensors[name].dims)
        if not 1 <= axes <= MAX_RANK:
            return _text(name, f"{axes} dimensions", f"1 to {MAX_RANK}")
    return None


def _text(name: str, has: str, must: str) -> str:
    return f"{_C_NAMES.get(name, name)} has {has}; it must be {must}"
