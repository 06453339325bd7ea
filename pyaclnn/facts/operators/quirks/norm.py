# SPDX-License-Identifier: Apache-2.0
"""What aclnnNorm does beyond any rule (CANN: ops-nn norm/norm)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.types import TYPES

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["types"]

_COMPLEX = ("c64", "c128")
_ON_950 = ("f32", "f16", "bf16")


def types(request: Request) -> str | None:
    """Types that no kernel has are computed in float32, but on the 950, which looks at a list."""
    for name, c_name in (("input", "self"), ("out", "out")):
        kind = request.tensors[name].type
        if kind in _COMPLEX or kind not in TYPES:
            return f"{c_name} has data type {kind}; it must be real"
        if request.chip.family == "950" and kind not in _ON_950:
            return f"{c_name} has data type {kind}; it must be one of {', '.join(_ON_950)}"
    return None
