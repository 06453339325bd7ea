# SPDX-License-Identifier: Apache-2.0
"""What aclnnGroupNormSwishGrad does beyond any rule (CANN: ops-nn norm/group_norm_swish_grad)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.quirks import group_norm_swish

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["beyond", "scratch"]

_MOST_IN_A_GROUP = 4000
_FLOAT_BYTES = 4


def beyond(request: Request) -> str | None:
    """Beside what the forward operator looks at, a group may not have too many channels."""
    wrong = group_norm_swish.beyond(request)
    groups, (channels,) = request.values["num_groups"], request.known["C"]
    if wrong is None and groups > 0 and channels // groups > _MOST_IN_A_GROUP:
        return f"C is {channels} in {groups} groups; it must be at most {_MOST_IN_A_GROUP} a group"
    return wrong


def scratch(request: Request) -> int:
    """Partial sums of the gradients of both parameters.

    Deterministic ones, which the 950 always has, for every two samples; others of 16 bits once.
    """
    (samples,), (channels,) = request.known["N"], request.known["C"]
    sums = 2 * channels * _FLOAT_BYTES
    if request.deterministic or request.chip.family == "950":
        return sums * -(-samples // 2)
    return 0 if request.tensors["x"].type == "f32" else sums
