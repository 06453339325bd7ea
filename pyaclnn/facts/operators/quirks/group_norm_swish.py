# SPDX-License-Identifier: Apache-2.0
"""What aclnnGroupNormSwish does beyond any rule (CANN: ops-nn norm/group_norm_swish)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["beyond"]


def beyond(request: Request) -> str | None:
    """The tiling divides the channels, and takes nothing empty."""
    groups, dims = request.values["num_groups"], request.tensors["x"].dims
    if groups > 0 and dims[1] % groups:
        return f"numGroups is {groups}; it must divide the {dims[1]} channels of x"
    if 0 in dims:
        return f"x has shape {shape_text(dims)}; no dimension may be 0"
    return None
