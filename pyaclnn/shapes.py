# SPDX-License-Identifier: Apache-2.0
"""Shapes and strides, reasoned about by NumPy itself on arrays that are never read.

A *phantom* is a NumPy array whose address is that of device memory, or none at all. Slicing,
transposing and overlap tests on it are NumPy's own, and touch no element.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import EllipsisType

    from numpy.typing import NDArray

__all__ = ["basic_index", "is_count", "overlap", "phantom", "shape_of", "span", "strides_of"]

_SOMEWHERE: Final = 1 << 32

# NumPy's type stubs only know two of the limits that the function takes.
_shares_memory: Final[Callable[..., bool]] = np.shares_memory


def is_count(value: object) -> bool:
    """Tell whether a value is an integer of 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def shape_of(shape: int | Sequence[int], routine: str, argument: str = "shape") -> tuple[int, ...]:
    """Check a shape.

    Args:
        shape: One length, or a sequence of them.
        routine: The function that was given it, for the message.
        argument: The name under which it was given.

    Returns:
        The lengths as a tuple of plain integers.

    Raises:
        InvalidArgumentError: It is something else, or a length is negative.
    """
    try:
        dims = (shape,) if hasattr(shape, "__index__") else tuple(shape)
        lengths = tuple(operator.index(length) for length in dims)
    except TypeError:
        lengths = (-1,)
    if any(length < 0 for length in lengths) or any(isinstance(d, bool) for d in dims):
        raise InvalidArgumentError.of(
            routine, argument, repr(shape), "an integer, or a tuple of integers, of 0 or more"
        )
    return lengths


def phantom(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int, address: int
) -> NDArray[Any]:
    """Make an array that stands for memory elsewhere; its elements must never be touched.

    Args:
        shape: Its shape.
        strides: Its strides in bytes; None for C-contiguous ones.
        itemsize: Bytes per element.
        address: The address of the first element; 0 where it does not matter.

    Returns:
        The array, of an opaque dtype.
    """
    interface = {
        "version": 3,
        "shape": shape,
        "strides": strides,
        "typestr": f"|V{itemsize}",
        "data": (address or _SOMEWHERE, True),
    }
    return np.asarray(_Elsewhere(interface))


class _Elsewhere:
    """Offers memory to NumPy by its address."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def strides_of(
    strides: Sequence[int] | None, shape: tuple[int, ...], itemsize: int, routine: str
) -> tuple[int, ...]:
    """Check strides.

    Args:
        strides: Bytes from one element to the next along each axis; None for C-contiguous ones.
        shape: The shape that they belong to.
        itemsize: Bytes per element.
        routine: The function that was given them, for the message.

    Returns:
        The strides as a tuple of plain integers.

    Raises:
        InvalidArgumentError: Their number differs from that of the axes, or one is negative or not
            a multiple of the item size.
    """
    if strides is None:
        return phantom(shape, None, itemsize, 0).strides
    try:
        steps = tuple(operator.index(step) for step in strides)
    except TypeError:
        steps = (-1,)
    if len(steps) != len(shape) or any(step < 0 or step % itemsize for step in steps):
        raise InvalidArgumentError.of(
            routine,
            "strides",
            repr(strides),
            f"{len(shape)} multiples of {itemsize} bytes, none negative",
        )
    return steps


def basic_index(entry: object) -> int | slice | EllipsisType | None:
    """Check one entry of an index that must make a view.

    Args:
        entry: An integer, a slice with positive step, ... or None.

    Returns:
        The entry, an integer as a plain one.

    Raises:
        InvalidArgumentError: It is something else.
    """
    if entry is None or isinstance(entry, type(Ellipsis)):
        return entry
    if isinstance(entry, slice):
        if entry.step is not None and operator.index(entry.step) < 1:
            expected = "a slice with a positive step: CANN has no negative strides"
            raise InvalidArgumentError.of("DeviceArray[...]", "index", repr(entry), expected)
        return entry
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        return operator.index(entry)
    raise InvalidArgumentError.of(
        "DeviceArray[...]",
        "index",
        repr(entry),
        "integers, slices, ... or None: other indices would copy",
    )


def span(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """Return how many bytes lie from the first byte of an array to behind its last.

    Args:
        shape: Its shape.
        strides: Its strides in bytes, none negative.
        itemsize: Bytes per element.
    """
    if 0 in shape:
        return 0
    return itemsize + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))


def overlap(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Tell whether two arrays or phantoms have a byte in common; exact unless that is costly.

    Args:
        first: One of them.
        second: The other.

    Returns:
        True also where deciding exactly would take too long and their bounds overlap.
    """
    try:
        return bool(_shares_memory(first, second, max_work=10_000))
    except np.exceptions.TooHardError:
        return True
