# SPDX-License-Identifier: Apache-2.0
"""GroupNorm in strips."""

from __future__ import annotations

from typing import Any

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.arithmetic.precision import rounded
from pyaclnn.reference.fast.layer_norm import NORMALIZED
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.strips import Operand, is_worth_strips, run
from pyaclnn.reference.group_norm import group_norm as definition, reciprocal_deviation


@same(definition)
def group_norm(given: Given) -> Any:
    """Compute the same as `definition("group_norm")`, strip by strip."""
    tensor = given.array("input")
    if not is_worth_strips(tensor):
        return definition(**vars(given))
    channels = given.channels("input")
    layout, count = channels.layout, channels.groups("num_groups")
    rows, columns = layout.groups(count)

    def of_channels(name: str, absent: float) -> Operand | None:
        if getattr(given, name) is None:
            return None
        each = channels.each(name, absent).reshape(count, -1)
        return Operand(each, period=count, repeat=layout.positions)

    out = empty(tensor.shape, tensor.dtype)
    found = run(
        NORMALIZED,
        (rows, columns),
        {
            "x": tensor.reshape(rows, columns),
            "weight": of_channels("weight", 1),
            "bias": of_channels("bias", 0),
            "out": out.reshape(rows, columns),
        },
        {"eps": given.eps},
    )
    mean, variance, rstd = (
        found[name].astype(layout.dtype).reshape(layout.samples, count)
        for name in ("mean", "variance", "rstd")
    )
    rstd = reciprocal_deviation(given, variance, rstd, tensor.dtype)
    return out, rounded(mean, tensor.dtype), rounded(rstd, tensor.dtype)
