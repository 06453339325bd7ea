# SPDX-License-Identifier: Apache-2.0
"""What aclnnAddLayerNormQuantV2 does beyond any rule (CANN: ops-nn norm/add_layer_norm_quant)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.quirks import add_layer_norm_quant
from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["beyond", "refuse"]

_BESIDE = ("beta", "scales1", "zero_points1")


def refuse(request: Request) -> str | None:
    """Only the 950 finds scales itself."""
    mode = request.values["quant_mode"]
    if request.chip.family == "950" or mode.startswith("static"):
        return None
    return f"quantMode is {mode!r}; on {request.chip.soc_name} it must be 'static'"


def beyond(request: Request) -> str | None:
    """One scale goes with a gamma of two dimensions, others are of the shape of gamma."""
    gamma = request.tensors["gamma"].dims
    wanted = (1,) if len(gamma) > 1 else gamma
    for name in _BESIDE:
        given = request.tensors[name]
        expected = gamma if name == "beta" else wanted
        if given is not None and given.dims != expected:
            has, must = shape_text(given.dims), shape_text(expected)
            return f"{request.c_name(name)} has shape {has}; with this gamma it must be {must}"
    return add_layer_norm_quant.beyond(request)
