# SPDX-License-Identifier: Apache-2.0
"""What aclnnGroupNormSilu does beyond any rule (CANN: ops-nn norm/group_norm_silu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["beyond"]


def beyond(request: Request) -> str | None:
    """Only the 950 takes tensors without samples or without channels."""
    dims = request.tensors["input"].dims
    if request.chip.family == "950" or 0 not in dims[:2]:
        return None
    return f"self has shape {shape_text(dims)}; its first two dimensions must not be 0"
