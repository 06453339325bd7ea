# SPDX-License-Identifier: Apache-2.0
"""Vectors that are shortened to a largest norm (CANN: aclnnRenorm, aclnnEmbeddingRenorm)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.norms import norms
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["embedding_renorm", "inplace_renorm", "renorm"]

# Added to a norm before it divides.
SMALL = 1e-7


@np.errstate(all="ignore")
def renorm(
    input: ArrayLike, p: float, dim: int, maxnorm: float, *, family: str | None = None
) -> NDArray[Any]:
    """Shorten each slice along an axis to a largest norm.

    A slice holds what has one index on that axis. One with a p-norm above `maxnorm` is multiplied
    by `maxnorm / (norm + 1e-7)`, the others stay.

    All families but ``"950"`` round the factor to the input's data type.

    Raises:
        TypeError: The input's data type is not one of the four.
        numpy.exceptions.AxisError: The axis does not exist.
    """
    tensor = np.asarray(input)
    slices = np.moveaxis(tensor, dim, 0)
    x = wide(slices, arithmetic_dtype("input", tensor))
    sizes = norms(x, tuple(range(1, x.ndim)), float(p))
    factor = np.where(sizes > maxnorm, maxnorm / (sizes + SMALL), 1).astype(x.dtype)
    if family not in (None, "950"):
        factor = wide(rounded(factor, tensor.dtype), x.dtype)
    return np.ascontiguousarray(np.moveaxis(rounded(x * factor, tensor.dtype), 0, dim))


inplace_renorm = renorm  # of an operator that overwrites its tensor; this one does not


def embedding_renorm(
    input: ArrayLike,
    indices: ArrayLike,
    max_norm: float,
    norm_type: float = 2.0,
    *,
    family: str | None = None,
) -> NDArray[Any]:
    """Shorten the named rows of a matrix to a largest norm, as `renorm` does.

    A row that is named twice is shortened once.

    Families differ as in `renorm`.

    Raises:
        TypeError: The input's data type is not one of the four.
        IndexError: There is no such row.
        ValueError: The input is no matrix.
    """
    tensor, rows = np.asarray(input), np.unique(np.asarray(indices))
    if tensor.ndim != 2:  # noqa: PLR2004
        raise ValueError(f"input has the shape {tensor.shape}; it must have two axes")
    if rows.size and not 0 <= rows[0] <= rows[-1] < len(tensor):
        raise IndexError(
            f"indices go from {rows[0]} to {rows[-1]}; input has the rows 0 to {len(tensor) - 1}"
        )
    largest = math.inf if math.isnan(max_norm) else max_norm
    renewed: NDArray[Any] = tensor.copy()
    renewed[rows] = renorm(tensor[rows], norm_type, 0, largest, family=family)
    return renewed
