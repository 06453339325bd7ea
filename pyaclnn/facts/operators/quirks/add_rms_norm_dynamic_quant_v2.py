# SPDX-License-Identifier: Apache-2.0
"""What aclnnAddRmsNormDynamicQuantV2 does beyond any rule.

Source: CANN: ops-nn norm/add_rms_norm_dynamic_quant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.norm.add_rms_norm_quant import wants_first, wants_second
from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.words import PACKED

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["failure", "types"]

_RESULTS = {"y1": wants_first, "y2": wants_second}
_LIKE_X1 = ("x1", "x2", "gamma", "smooth_scale1", "smooth_scale2", "beta", "x")


def _written(request: Request) -> list[str]:
    """Those of the two results that are wanted."""
    return [name for name, is_wanted in _RESULTS.items() if is_wanted(request.values)]


def types(request: Request) -> str | None:
    """Only how the results' types go together, and how much is packed into int32."""
    written = _written(request)
    if len({request.types[name] for name in written}) > 1:
        return f"y2Out has data type {request.types['y2']}; it must be {request.types['y1']}"
    last = request.tensors["x1"].dims[-1:]
    for name in written:
        dims = request.tensors[name].dims
        packed = (*(PACKED * dim for dim in dims[-1:]),)
        if request.types[name] == "i32" and packed != last:
            return (
                f"{request.c_name(name)} has shape {shape_text(dims)}; packed into int32 its last "
                f"dimension must be an eighth of that of x1, which is {last[0]}"
            )
    return None


def failure(request: Request) -> str | None:
    """Nobody has looked at the other types; there are no kernels for them."""
    kinds = {request.types[name] for name in _LIKE_X1 if request.tensors[name] is not None}
    wanted = {request.types[name] for name in _written(request)}
    scales = {request.types[f"scale{name[1:]}"] for name in _written(request)}
    if (
        len(kinds) == 1
        and kinds <= {"f16", "bf16"}
        and wanted <= {"i8", "i32"}
        and scales == {"f32"}
    ):
        return None
    return f"no kernel for {', '.join(sorted(kinds))}, {', '.join(sorted(wanted | scales))}"
