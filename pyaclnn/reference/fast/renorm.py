# SPDX-License-Identifier: Apache-2.0
"""Vectors that are shortened, in strips if these are rows; others in blocks."""

from __future__ import annotations

from typing import Any

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.arithmetic.norms import EUCLIDEAN
from pyaclnn.reference.fast.blocks import in_blocks
from pyaclnn.reference.fast.cuts import CUTS
from pyaclnn.reference.fast.norm import SQUARES
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.strips import is_worth_strips, run
from pyaclnn.reference.renorm import factors, renorm as definition

SHORTENED = "out = x * factor"

in_blocks_of_slices = in_blocks(CUTS["renorm"])(definition)


@same(definition)
def renorm(given: Given) -> Any:
    """Compute the same as `definition("renorm")`, strip by strip."""
    tensor = given.array("input")
    if given.p != EUCLIDEAN or given.dim not in (0, -tensor.ndim) or not is_worth_strips(tensor):
        return in_blocks_of_slices(**vars(given))
    shape = len(tensor), tensor.size // len(tensor)
    out, matrix = empty(tensor.shape, tensor.dtype), tensor.reshape(shape)
    sizes = run(SQUARES, shape, {"x": matrix})["squares"] ** 0.5
    factor = factors(given, sizes.astype("f"), tensor.dtype)
    run(SHORTENED, shape, {"x": matrix, "out": out.reshape(shape)}, {"factor": factor})
    return out


inplace_renorm = renorm  # of an operator that overwrites its tensor; this one does not
