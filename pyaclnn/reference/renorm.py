# SPDX-License-Identifier: Apache-2.0
"""Vectors that are shortened to a largest norm (CANN: aclnnRenorm, aclnnEmbeddingRenorm)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.norms import norms
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, wide

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Added to a norm before it divides.
SMALL = 1e-7


@defined("input, p, dim, maxnorm, *, family=None")
def renorm(given: Given) -> Any:
    """Shorten each slice along an axis to a largest norm.

    A slice holds what has one index on that axis. One with a p-norm above `maxnorm` is multiplied
    by `maxnorm / (norm + 1e-7)`, the others stay.

    All families but ``"950"`` round the factor to the input's data type.

    Raises:
        TypeError: The input's data type is not one of the four.
        numpy.exceptions.AxisError: The axis does not exist.
    """
    tensor = given.array("input")
    slices = np.moveaxis(tensor, given.dim, 0)
    x = wide(slices, arithmetic_dtype("input", tensor))
    factor = factors(given, norms(x, tuple(range(1, x.ndim)), float(given.p)), tensor.dtype)
    return np.ascontiguousarray(np.moveaxis(rounded(x * factor, tensor.dtype), 0, given.dim))


def factors(given: Given, sizes: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return what slices of some norms are multiplied by."""
    largest = given.maxnorm
    factor = np.where(sizes > largest, largest / (sizes + SMALL), 1).astype(sizes.dtype)
    if given.family not in (None, "950"):
        factor = wide(rounded(factor, dtype), sizes.dtype)
    return factor


inplace_renorm = renorm  # of an operator that overwrites its tensor; this one does not


@defined("input, indices, max_norm, norm_type=2.0, *, family=None")
def embedding_renorm(given: Given) -> Any:
    """Shorten the named rows of a matrix to a largest norm, as `renorm` does.

    A row that is named twice is shortened once.

    Families differ as in `renorm`.

    Raises:
        TypeError: The input's data type is not one of the four.
        IndexError: There is no such row.
        ValueError: The input is no matrix.
    """
    tensor, rows = given.array("input"), np.unique(given.array("indices"))
    if tensor.ndim != 2:  # noqa: PLR2004
        raise ValueError(f"input has the shape {tensor.shape}; it must have two axes")
    if rows.size and not 0 <= rows[0] <= rows[-1] < len(tensor):
        raise IndexError(
            f"indices go from {rows[0]} to {rows[-1]}; input has the rows 0 to {len(tensor) - 1}"
        )
    largest = math.inf if math.isnan(given.max_norm) else given.max_norm
    renewed = tensor.copy()
    renewed[rows] = renorm(tensor[rows], given.norm_type, 0, largest, family=given.family)
    return renewed
