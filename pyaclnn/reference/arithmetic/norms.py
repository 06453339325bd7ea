# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.precision import total

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["norms"]

EUCLIDEAN = 2
_LONGEST_PRODUCT = 1 << 12
"""Elements of a row that a product adds up without losing more than pairs do."""


def norms(x: NDArray[Any], axes: tuple[int, ...], order: float) -> NDArray[Any]:
    """Take the norms of the vectors along axes, which stay as ones.

    Args:
        x: A tensor in the type that arithmetic runs in.
        axes: The axes.
        order: `sum(|x| ** order) ** (1 / order)`; for infinity the largest |x|, for minus infinity
            the smallest, for 0 the number of elements that are not 0.

    Returns:
        The norms. Those of an empty tensor are 0 for every order.
    """
    if order == EUCLIDEAN:
        return np.asarray(np.sqrt(_total_of_squares(x, axes)))
    sizes = np.abs(x)
    if not x.size or order == 1:
        return total(sizes, axes)
    if math.isinf(order):
        extreme = np.maximum if order > 0 else np.minimum
        return np.asarray(extreme.reduce(sizes, axes, keepdims=True))
    if order == 0:
        return total((sizes != 0).astype(x.dtype), axes)
    return np.asarray(total(sizes**order, axes) ** (1 / order))


def _total_of_squares(x: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    last = x.ndim - 1
    if last not in axes or not x.size:
        return total(x * x, axes)
    # A row by itself needs no room for the squares, which take longer to store than to add up.
    length = x.shape[last]
    whole = length - length % _LONGEST_PRODUCT
    pieces = [x[..., :whole].reshape(*x.shape[:last], -1, _LONGEST_PRODUCT)] if whole else []
    if whole < length:
        pieces.append(x[..., np.newaxis, whole:])
    products = [np.matmul(piece[..., np.newaxis, :], piece[..., np.newaxis]) for piece in pieces]
    rows = np.concatenate(products, axis=last)[..., 0, 0]
    return rows if axes == (last,) and rows.shape[last] == 1 else total(rows, axes)
