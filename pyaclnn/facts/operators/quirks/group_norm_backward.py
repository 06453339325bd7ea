# SPDX-License-Identifier: Apache-2.0
"""What aclnnGroupNormBackward does beyond any rule (CANN: ops-nn norm/group_norm_grad)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["beyond"]

_LIMITED = ("910b", "910_93")
_MOST_CHANNELS = 240_000
_MOST_IN_A_GROUP = 8_000


def beyond(request: Request) -> str | None:
    """The kernel of Atlas A2 and A3 holds so many channels and no more."""
    if request.chip.family not in _LIMITED:
        return None
    (channels,), group = request.known["C"], request.values["num_groups"]
    if channels <= _MOST_CHANNELS and channels // group <= _MOST_IN_A_GROUP:
        return None
    return (
        f"C is {channels} in {group} groups; on {request.chip.soc_name} it must be at most "
        f"{_MOST_CHANNELS}, and at most {_MOST_IN_A_GROUP} a group"
    )
