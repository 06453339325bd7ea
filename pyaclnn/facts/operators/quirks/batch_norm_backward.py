# SPDX-License-Identifier: Apache-2.0
"""What aclnnBatchNormBackward does beyond any rule (CANN: ops-nn norm/batch_norm_grad_v3)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["FITS", "breaks"]

_LATE = ("save_mean", "save_invstd", "grad_weight", "grad_bias")


def _wrong_length(name: str, request: Request) -> str | None:
    """Without training the 950 wants no saved statistics, which may be empty then."""
    given, expected = request.tensors[name].dims, request.known["C"]
    saved = name.startswith("save") and not request.values["training"]
    if given == expected or (saved and request.chip.family == "950" and given == (0,)):
        return None
    has, must = shape_text(given), shape_text(expected)
    return f"{request.c_name(name)} has shape {has}; it must be {must}"


def _on_950(name: str, request: Request) -> str | None:
    return _wrong_length(name, request) if request.chip.family == "950" else None


FITS = {name: partial(_on_950, name) for name in _LATE}


def breaks(request: Request) -> str | None:
    """Lengths that the other chips have not compared, until the kernels are put together."""
    wants = dict(zip(_LATE, (True, True, *request.values["output_mask"][1:]), strict=True))
    there = (name for name in _LATE if wants[name] and request.tensors[name] is not None)
    return next(filter(None, (_wrong_length(name, request) for name in there)), None)
