# SPDX-License-Identifier: Apache-2.0
"""What aclnnAddRmsNorm does beyond any rule (CANN: ops-nn norm/add_rms_norm)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["scratch"]

_SCRATCH_BYTES = 256


def scratch(_request: Request) -> int:
    """What the tiling asks for beside what all kernels want."""
    return _SCRATCH_BYTES
