# SPDX-License-Identifier: Apache-2.0
"""Memory for large results, which the caller of a function may offer."""

from __future__ import annotations

import math
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike, NDArray

__all__ = ["empty", "offered"]


class _Offers(threading.local):
    """Offers of the calling thread."""

    arrays: list[NDArray[Any]] | None = None


_offers = _Offers()


@contextmanager
def offered(arrays: list[NDArray[Any]]) -> Iterator[None]:
    """Offer memory for results of the functions that this thread calls.

    A result may lie there or elsewhere; the memory is written in either case.

    Args:
        arrays: C-contiguous arrays that no argument overlaps, no two of one size and dtype.
    """
    _offers.arrays = arrays
    try:
        yield
    finally:
        _offers.arrays = None


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array for a result, as ``np.empty``: in offered memory, if some of its size is."""
    size, kind = math.prod(shape), np.dtype(dtype)
    for place, array in enumerate(_offers.arrays or ()):
        if array.size == size and array.dtype == kind:
            assert _offers.arrays is not None  # noqa: S101  # it has been iterated
            del _offers.arrays[place]
            return array.reshape(shape)
    return np.empty(shape, kind)
