# SPDX-License-Identifier: Apache-2.0
"""What aclnnAdaLayerNormBackward does beyond any rule (CANN: ops-nn norm/ada_layer_norm_grad)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["FITS", "failure", "idle"]

_PARAMETERS = ("weight", "bias")
_LAUNCHED_ON = ("910b", "910_93")
_RESULTS = ("grad_input", "grad_scale", "grad_shift", "grad_weight", "grad_bias")


def _one_axis(name: str, request: Request) -> str | None:
    """Its length is found out, and not looked at."""
    dims = request.tensors[name].dims
    if len(dims) == 1:
        return None
    return f"{request.c_name(name)} has shape {shape_text(dims)}; it must have 1 axis"


FITS = {name: partial(_one_axis, name) for name in _PARAMETERS}


def failure(request: Request) -> str | None:
    """The kernel would read beside a parameter of another length."""
    for name in _PARAMETERS:
        given = request.tensors[name]
        if given is not None and given.dims != request.known["norm"]:
            has, expected = shape_text(given.dims), shape_text(request.known["norm"])
            return f"{request.c_name(name)} has shape {has}; the kernel reads {expected}"
    return None


def idle(request: Request) -> bool:
    """Without a result to write, and on chips that have no kernel, it succeeds all the same."""
    nothing = all(request.tensors[name] is None for name in _RESULTS)
    return nothing or request.chip.family not in _LAUNCHED_ON
