# SPDX-License-Identifier: Apache-2.0
"""What aclnnRmsNormGradQuant does beyond any rule (CANN: ops-nn norm/rms_norm_grad_quant)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["breaks"]


def breaks(request: Request) -> str | None:
    """Only the kernel looks at the mode."""
    mode = request.values["quantMode"]
    return None if mode == "static" else f"quantMode is {mode!r}; it must be 'static'"
