# SPDX-License-Identifier: Apache-2.0
"""What aclnnBatchNormReduceBackward does beyond any rule.

CANN: ops-nn norm/sync_batch_norm_backward_reduce.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["IGNORED", "breaks", "fills"]

IGNORED = ("weight",)

_WANTED_BY = {
    "sum_dy": "input_g",
    "sum_dy_xmu": "input_g",
    "grad_weight": "weight_g",
    "grad_bias": "bias_g",
}


def breaks(request: Request) -> str | None:
    """Shapes that nobody has compared do not go together in the products."""
    dims = request.tensors["input"].dims
    needed = {"grad_out": dims, "mean": (dims[1],), "invstd": (dims[1],)}
    for name, expected in needed.items():
        given = request.tensors[name].dims
        if given != expected:
            return f"{name} has shape {shape_text(given)}; it must be {shape_text(expected)}"
    return None


def fills(request: Request) -> dict[str, float]:
    """On the 950 sums of nothing are 0; other chips write nothing."""
    if request.chip.family != "950":
        return {}
    return {name: 0.0 for name, option in _WANTED_BY.items() if request.values[option]}
