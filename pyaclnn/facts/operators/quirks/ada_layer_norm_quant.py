# SPDX-License-Identifier: Apache-2.0
"""What aclnnAdaLayerNormQuant does beyond any rule (CANN: ops-nn norm/ada_layer_norm_quant)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["FITS"]


def _mode(request: Request) -> str | None:
    """All of it is compared; NULL will do."""
    mode = request.values["quantMode"]
    return None if mode in (None, "dynamic") else f"quantMode is {mode!r}; it must be 'dynamic'"


FITS = {"quantMode": _mode}
