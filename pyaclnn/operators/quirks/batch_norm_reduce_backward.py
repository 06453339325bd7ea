# SPDX-License-Identifier: Apache-2.0
"""What aclnnBatchNormReduceBackward does beyond any rule.

CANN: ops-nn norm/sync_batch_norm_backward_reduce.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.operators.request import Request

__all__ = ["IGNORED", "breaks"]

IGNORED = ("weight",)


def breaks(request: Request) -> str | None:
    """Shapes that nobody has compared do not go together in the products."""
    dims = request.tensors["input"].dims
    needed = {"grad_out": dims, "mean": (dims[1],), "invstd": (dims[1],)}
    for name, expected in needed.items():
        given = request.tensors[name].dims
        if given != expected:
            return f"{name} has shape {shape_text(given)}; it must be {shape_text(expected)}"
    return None
