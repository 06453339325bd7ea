# SPDX-License-Identifier: Apache-2.0
"""What aclnnBatchNormElemt does beyond any rule (CANN: ops-nn norm/batch_norm_elemt)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["breaks"]

_VOLUME = 5


def breaks(request: Request) -> str | None:
    """The batch normalization inside of it wants five dimensions to be NCDHW."""
    given = request.tensors["input"]
    if len(given.dims) != _VOLUME or given.format_name == "NCDHW":
        return None
    return f"input has five dimensions and format {given.format_name}; it must be NCDHW"
