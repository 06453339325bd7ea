# SPDX-License-Identifier: Apache-2.0
"""What aclnnBatchNormReduce does beyond any rule (CANN: ops-nn norm/bn_training_reduce)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["beyond"]

_RESULTS = {"sum": "sum", "square_sum": "squareSum"}


def beyond(request: Request) -> str | None:
    """Results have no format of their own."""
    for name, c_name in _RESULTS.items():
        form = request.tensors[name].format_name
        if form != "ND":
            return f"{c_name} has format {form}; it must be ND"
    return None
