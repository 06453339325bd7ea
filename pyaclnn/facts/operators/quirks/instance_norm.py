# SPDX-License-Identifier: Apache-2.0
"""What aclnnInstanceNorm does beyond any rule (CANN: ops-nn norm/instance_norm)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["failure"]

_BLOCK = 32
_BYTES = {"f32": 4, "f16": 2}


def failure(request: Request) -> str | None:
    """The kernel works on whole blocks; the launcher is queued, and nobody looks at its status."""
    size = _BYTES[request.tensors["x"].type]
    for word, what in (("C", "channels"), ("space", "positions of a channel")):
        count = prod(request.known[word])
        if count * size < _BLOCK:
            return f"tiling failed: x has {count} {what}, which take less than {_BLOCK} bytes"
    return None
