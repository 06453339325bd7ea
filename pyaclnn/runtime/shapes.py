# SPDX-License-Identifier: Apache-2.0
"""Shapes and strides, reasoned about by NumPy itself on arrays that are never read.

A *phantom* is a NumPy array whose address is that of device memory, or none at all. Slicing,
transposing and overlap tests on it are NumPy's own, and touch no element.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Iterable, Mapping, Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import EllipsisType

    from numpy.typing import NDArray

__all__ = [
    "LARGEST",
    "MOST_AXES",
    "check_extent",
    "count_of",
    "indexed",
    "overlap",
    "phantom",
    "reshaped",
    "shape_of",
    "span",
    "strides_of",
    "transposed",
]

LARGEST: Final = 2**63 - 1
"""The most bytes, or elements, that NumPy and CANN can count."""

MOST_AXES: Final = 32
"""The most axes of an array, for every supported NumPy; operators accept fewer."""

_SOMEWHERE: Final = 1 << 32

# NumPy's type stubs only know two of the limits that the function takes.
_shares_memory: Final[Callable[..., bool]] = np.shares_memory


def count_of(value: object, most: int = LARGEST) -> int | None:
    """Return an integer, Python's or NumPy's, as a plain one.

    Args:
        value: A caller's argument.
        most: The largest that is accepted.

    Returns:
        The number; None if it is no integer from 0 to ``most``. Booleans are none.
    """
    if _is_boolean(value):  # asked first: NumPy 1 would warn
        return None
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # whether it is one is the question
    except TypeError:
        return None
    return number if 0 <= number <= most else None


def _is_boolean(value: object) -> bool:
    if type(value) is int:
        return False
    return isinstance(value, (bool, np.bool_)) or getattr(value, "dtype", None) == np.bool_


def shape_of(
    shape: int | Sequence[int], routine: str, argument: str = "shape", hint: str | None = None
) -> tuple[int, ...]:
    """Check a shape.

    Args:
        shape: One length, or a sequence of them.
        routine: The function that was given it, for the message.
        argument: The name under which it was given.
        hint: The remedy, for the message.

    Returns:
        The lengths as a tuple of plain integers.

    Raises:
        InvalidArgumentError: It is something else, or a length is negative.
    """
    single = count_of(shape)
    if single is not None:
        return (single,)
    lengths: tuple[int | None, ...] = (None,)
    if not isinstance(shape, (AbstractSet, Mapping)):  # these have no order to speak of
        with contextlib.suppress(TypeError):
            lengths = tuple(count_of(length) for length in shape)  # type: ignore[union-attr]  # caught
    known = tuple(length for length in lengths if length is not None)
    if len(known) != len(lengths):
        expected = "an integer, or a tuple of integers, of 0 or more and below 2**63"
        raise InvalidArgumentError.of(routine, argument, repr_of(shape), expected, hint)
    return known


def check_extent(shape: tuple[int, ...], itemsize: int, routine: str) -> None:
    """Check that an array can be so large.

    Args:
        shape: Its shape. The empty array of a shape without its zeros must be possible too, as in
            NumPy.
        itemsize: Bytes per element.
        routine: The function that was given the shape, for the message.

    Raises:
        InvalidArgumentError: It has too many axes or too many bytes.
    """
    nbytes = itemsize * math.prod(length for length in shape if length)
    if len(shape) > MOST_AXES or nbytes > LARGEST:
        given = repr_of(shape) if len(shape) <= MOST_AXES else f"of {len(shape)} axes"
        expected = f"of at most {MOST_AXES} axes and less than 2**63 bytes"
        raise InvalidArgumentError.of(routine, "shape", given, expected)


def phantom(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int, address: int
) -> NDArray[Any]:
    """Make an array that represents memory elsewhere; its elements must never be accessed.

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
        found = [count_of(step) for step in strides]
    except TypeError:
        found = [None]
    steps = tuple(step for step in found if step is not None and not step % itemsize)
    if not len(steps) == len(found) == len(shape):
        raise InvalidArgumentError.of(
            routine,
            "strides",
            repr_of(strides),
            f"{len(shape)} multiples of {itemsize} bytes, none negative",
        )
    return steps


def transposed(array: NDArray[Any], axes: tuple[object, ...]) -> NDArray[Any]:
    """Return a view of a phantom with the axes permuted.

    Args:
        array: The phantom.
        axes: The order of the axes; reversed if there are none.

    Raises:
        InvalidArgumentError: They are no permutation of the array's axes.
    """
    given = axes[0] if len(axes) == 1 else axes or None
    try:
        view: NDArray[Any] = array.transpose(None if given is None else _integers(given))
    except (TypeError, ValueError):
        expected = f"a permutation of the {array.ndim} axes, or nothing"
        raise InvalidArgumentError.of("transpose", "axes", repr_of(axes), expected) from None
    return view


def _integers(given: object) -> tuple[int, ...]:
    """Return an integer or several as plain ones.

    Errors other than that they are none pass: those of an object, or of a signal handler.

    Raises:
        TypeError: They are something else. NumPy would format it, and its text may raise.
    """
    values = given if isinstance(given, Iterable) else (given,)
    return tuple(map(operator.index, values))


def reshaped(array: NDArray[Any], shape: object) -> NDArray[Any]:
    """Return a view of a contiguous phantom with another shape.

    Args:
        array: The phantom.
        shape: The shape; one length may be -1, to be inferred.

    Raises:
        InvalidArgumentError: The number of elements differs, or the array is not contiguous.
    """
    if not array.flags.c_contiguous:
        given = f"not contiguous (strides {array.strides})"
        hint = "pyaclnn.array_api.reshape() copies it first."
        raise InvalidArgumentError.of("reshape", "self", given, "contiguous", hint)
    try:
        view: NDArray[Any] = array.reshape(_integers(shape))
    except (TypeError, ValueError):
        expected = f"a shape of {array.size} elements, as {array.shape} is"
        raise InvalidArgumentError.of("reshape", "shape", repr_of(shape), expected) from None
    return view


def indexed(array: NDArray[Any], index: object) -> NDArray[Any]:
    """Return a view of a phantom by basic indexing.

    Args:
        array: The phantom.
        index: Integers, slices with positive step, ... and None.

    Raises:
        InvalidArgumentError: It is something else.
        IndexError: It is out of bounds, as for any sequence.
    """
    entries = index if isinstance(index, tuple) else (index,)
    plain = tuple(_basic_index(entry) for entry in entries)
    if Ellipsis not in plain:
        # With an ellipsis NumPy answers with a view even if no axis is left, instead of reading
        # the element.
        plain = (*plain, Ellipsis)
    try:
        view: NDArray[Any] = array[plain]
    except OverflowError:
        raise IndexError(f"index {index!r} is out of bounds for shape {array.shape}") from None
    return view


def _basic_index(entry: object) -> int | slice | EllipsisType | None:
    if entry is None or isinstance(entry, type(Ellipsis)):
        return entry
    expected = "integers, slices, ... or None: other indices would copy"
    if isinstance(entry, slice):
        bounds = (entry.start, entry.stop, entry.step)
        expected = "a slice of integers"
        if all(bound is None or hasattr(bound, "__index__") for bound in bounds):
            if entry.step is None or operator.index(entry.step) >= 1:
                return entry
            expected = "a slice with a positive step: CANN has no negative strides"
    elif isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        return operator.index(entry)
    given = repr_of(entry)
    if isinstance(entry, np.ndarray):
        given = f"an array of {entry.dtype} and shape {entry.shape}"
    hint = None
    if isinstance(entry, (list, np.ndarray)) or hasattr(entry, "dtype"):
        hint = "pyaclnn.array_api.take() and where() make copies; .numpy() takes any index."
    raise InvalidArgumentError.of("DeviceArray[...]", "index", given, expected, hint)


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
    """Return whether two arrays or phantoms have a byte in common; exact unless that is costly.

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
