# SPDX-License-Identifier: Apache-2.0
"""Results of aclnnAddRmsNormDynamicQuant and its V2: which are wanted, and of which types.

Source: CANN: ops-nn norm/add_rms_norm_dynamic_quant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.words import PACKED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request

__all__ = ["NARROW", "no_kernel", "wants_first", "wants_second", "wrong_outputs"]

NARROW = ("i8", "HIFLOAT8", "e5m2", "e4m3")
"""The types of results that CANN lists."""
_HALVES = ("f16", "bf16")
_FIRST, _SECOND = 0, 1


def _is_wanted(values: Mapping[str, Any], which: int) -> bool:
    chosen = values.get("output_mask")
    if chosen is not None:
        return bool(chosen[which])
    both = values["smooth_scale1"] is not None and values["smooth_scale2"] is not None
    return which == _FIRST or both


def wants_first(values: Mapping[str, Any]) -> bool:
    """Return whether the first result is wanted.

    Args:
        values: Arguments by their Python names.
    """
    return _is_wanted(values, _FIRST)


def wants_second(values: Mapping[str, Any]) -> bool:
    """The same of the second result."""
    return _is_wanted(values, _SECOND)


_LIKE_X1 = ("x1", "x2", "gamma", "smooth_scale1", "smooth_scale2", "beta", "x")


def _written(request: Request) -> list[str]:
    wants = {"y1": wants_first, "y2": wants_second}
    return [name for name, is_wanted in wants.items() if is_wanted(request.values)]


def wrong_outputs(request: Request) -> str | None:
    """Compare the types of outputs, and how much is packed into int32; CANN compares no others."""
    written = _written(request)
    if len({request.types[name] for name in written}) > 1:
        return f"y2Out has data type {request.types['y2']}; it must be {request.types['y1']}"
    last = request.tensors["x1"].dims[-1:]
    for name in written:
        dims = request.tensors[name].dims
        if request.types[name] == "i32" and (*(PACKED * dim for dim in dims[-1:]),) != last:
            return (
                f"{request.c_name(name)} has shape {shape_text(dims)}; packed into int32 its last "
                f"dimension must be an eighth of that of x1, which is {last[0]}"
            )
    return None


def no_kernel(request: Request) -> str | None:
    """Compare the other types at launch: there are no kernels for them."""
    kinds = {request.types[name] for name in _LIKE_X1 if request.tensors[name] is not None}
    written = _written(request)
    wanted = {request.types[name] for name in written}
    scales = {request.types[f"scale{name[1:]}"] for name in written}
    known = {"i8", "i32", "i4", *(NARROW if request.chip.family == "950" else ())}
    narrow = wanted <= known and scales == {"f32"}
    if len(kinds) == 1 and kinds <= {*_HALVES} and narrow:
        return None
    return f"no kernel for {', '.join(sorted(kinds))}, {', '.join(sorted(wanted | scales))}"
