# SPDX-License-Identifier: Apache-2.0
"""What aclnnBatchNormBackward does beyond any rule (CANN: ops-nn norm/batch_norm_grad_v3)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyaclnn.operators.request import shape_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.operators.request import Request

__all__ = ["FITS", "breaks"]

_LATE: Mapping[str, str] = {
    "saveMean": "save_mean",
    "saveInvstd": "save_invstd",
    "gradWeight": "grad_weight",
    "gradBias": "grad_bias",
}


def _wrong_length(c_name: str, request: Request) -> str | None:
    """Without training the 950 wants no saved statistics, which may be empty then."""
    given, expected = request.tensors[_LATE[c_name]].dims, request.known["C"]
    saved = c_name.startswith("save") and not request.values["training"]
    if given == expected or (saved and request.chip.family == "950" and given == (0,)):
        return None
    return f"{c_name} has shape {shape_text(given)}; it must be {shape_text(expected)}"


def _on_950(c_name: str, request: Request) -> str | None:
    return _wrong_length(c_name, request) if request.chip.family == "950" else None


FITS = {c_name: partial(_on_950, c_name) for c_name in _LATE}


def breaks(request: Request) -> str | None:
    """Lengths that the other chips have not compared, until the kernels are put together."""
    wants = dict(zip(_LATE, (True, True, *request.values["output_mask"][1:]), strict=True))
    there = (c for c, name in _LATE.items() if wants[c] and request.tensors[name] is not None)
    return next(filter(None, (_wrong_length(c_name, request) for c_name in there)), None)
