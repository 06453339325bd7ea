# SPDX-License-Identifier: Apache-2.0
"""Euclidean norms of vectors in strips; other norms in blocks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.arithmetic.norms import EUCLIDEAN
from pyaclnn.reference.arithmetic.precision import rounded
from pyaclnn.reference.fast.blocks import in_blocks
from pyaclnn.reference.fast.cuts import CUTS
from pyaclnn.reference.fast.strips import is_worth_strips, run
from pyaclnn.reference.norm import linalg_vector_norm as definition, norm as with_p

SQUARES = "squares += x * x"

in_blocks_of_rows = in_blocks(CUTS["linalg_vector_norm"])(definition)


@same(definition)
def linalg_vector_norm(given: Given) -> Any:
    """Compute the same as `definition("linalg_vector_norm")`, strip by strip."""
    tensor, dim, target = given.array("input"), given.dim, given.dtype_like("input")
    axes = (dim,) if isinstance(dim, int) else tuple(dim or range(tensor.ndim))
    length = len(axes)
    if (
        given.ord != EUCLIDEAN
        or target == np.float64
        or not is_worth_strips(tensor)
        or sorted(axes) not in ([*range(-length, 0)], [*range(tensor.ndim - length, tensor.ndim)])
    ):
        return in_blocks_of_rows(**vars(given))
    leading = tensor.shape[: tensor.ndim - length]
    shape = math.prod(leading), math.prod(tensor.shape[tensor.ndim - length :])
    squares = run(SQUARES, shape, {"x": tensor.reshape(shape)})["squares"]
    found = rounded(np.sqrt(squares).astype(np.float32), target)
    return found.reshape(leading + (1,) * length if given.keepdim else leading)


@same(with_p)
def norm(given: Given) -> Any:
    """Compute the same as `definition("norm")`, strip by strip."""
    return given.passed_to(linalg_vector_norm, ord=given.p)
