# SPDX-License-Identifier: Apache-2.0
"""What aclnnLinalgVectorNorm does beyond any rule (CANN: ops-nn norm/lp_norm_v2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.types import TYPES

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["types"]

_COMPLEX = ("c64", "c128")
_ON_950 = {("f32", "f32"), ("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("bf16", "bf16")}


def types(request: Request) -> str | None:
    """The result's type must be the one that was asked for; the rest is up to promotion.

    Types that no kernel has are computed in float32, but on the 950, which takes rows.
    """
    given, out, wanted = request.tensors["input"], request.tensors["out"], request.values["dtype"]
    if out.type != wanted:
        return f"out has data type {out.type}; it must be {wanted}, which dtype says"
    for name, kind in (("self", given.type), ("out", out.type)):
        if kind in _COMPLEX or kind not in TYPES:
            return f"{name} has data type {kind}; it must be real"
    if request.chip.family == "950" and (given.type, out.type) not in _ON_950:
        return (
            f"self has data type {given.type} and out {out.type}; on {request.chip.soc_name} it "
            "must be a 16-bit float with itself or f32, or f32 with f32"
        )
    return None
