# SPDX-License-Identifier: Apache-2.0
"""Arrays on the host: what is taken for one, and what is said of anything else."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.base.spelling import with_article
from pyaclnn.runtime.dlpack import host_array, is_foreign
from pyaclnn.runtime.dtypes import holds, require_native
from pyaclnn.runtime.shaped import Shaped

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["as_numpy", "fitted", "no_array", "number_of", "require_numpy"]


def as_numpy(
    routine: str,
    argument: str,
    host: Any,
    expected: str = "a NumPy array",
    dtype: str = "float32",
) -> NDArray[Any]:
    """Look at an array on the host, NumPy's or another library's, as one of NumPy.

    Args:
        routine: The public function, for messages.
        argument: The argument's name.
        host: The caller's argument.
        expected: Description of a valid value.
        dtype: The dtype that a hint suggests.

    Raises:
        InvalidArgumentError: It is no such array, has a mask, or lies elsewhere.
    """
    if not isinstance(host, (np.ndarray, np.generic)):
        shared = host_array(routine, argument, host)
        host = host if shared is None else shared
    require_numpy(routine, argument, host, expected, dtype)
    found: NDArray[Any] = host
    return found


def require_numpy(
    routine: str,
    argument: str,
    host: object,
    expected: str = "a NumPy array",
    dtype: str = "float32",
) -> None:
    """Require a NumPy array without a mask, of the machine's byte order.

    Args:
        routine: The public function, for the message.
        argument: The argument's name.
        host: The caller's argument.
        expected: Description of a valid value.
        dtype: The dtype that a hint suggests.

    Raises:
        InvalidArgumentError: It is something else.
    """
    if isinstance(host, np.ndarray) and not _is_masked(host):
        require_native(routine, argument, host.dtype)
        return
    hint = _way_to_numpy(argument, host, dtype)
    raise InvalidArgumentError.of(routine, argument, no_array(host), expected, hint)


def _is_masked(given: object) -> bool:
    """True if something is an array with a mask."""
    # Naming the class would load all of NumPy's masked arrays, with the first call of every
    # program. The maker of such an array has them loaded.
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    return masked is not None and isinstance(given, masked)


def no_array(given: object) -> str:
    """Return words for a value that is no array."""
    if given is None:
        return "None"
    kind = type(given).__name__
    return f"a NumPy scalar of {kind}" if isinstance(given, np.generic) else with_article(kind)


def _way_to_numpy(argument: str, host: object, dtype: str) -> str | None:
    """Return how a value becomes a NumPy array; None if it does not.

    Args:
        argument: The argument's name.
        host: The caller's argument for it.
        dtype: The dtype to suggest.
    """
    buffers = (memoryview, array, ctypes.Array)
    ways = (
        (
            _is_masked(host),
            "its mask would be ignored: fill it with .filled(), or take .data as it is.",
        ),
        (
            isinstance(host, (np.generic, list, tuple, int, float)),
            f"make one: np.asarray({argument}, np.{dtype}).",
        ),
        (isinstance(host, Shaped), f"it is copied to the host by {argument}.numpy()."),
        (
            is_foreign(host),
            f"np.from_dlpack({argument}) or np.asarray({argument}) is one without a copy.",
        ),
        (
            isinstance(host, (bytes, bytearray)),
            f"say what the bytes are: np.frombuffer({argument}, np.{dtype}).",
        ),
        (
            isinstance(host, buffers) or hasattr(host, "__array__"),
            f"make one: np.asarray({argument}).",
        ),
        (
            type(host).__name__ == "PyCapsule",
            "hand over the tensor itself, and not what its __dlpack__() has returned.",
        ),
    )
    return next((way for fits, way in ways if fits), None)


def fitted(value: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Broadcast what is written to a part of a device array to the shape of that part.

    Args:
        value: A number, or an array on the host.
        shape: The shape of the part.
        dtype: Its dtype, which a number becomes.

    Raises:
        InvalidArgumentError: The value is neither, or does not fit.
    """
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return np.full(shape, number_of("__setitem__", "value", value, dtype))
    array = as_numpy("__setitem__", "value", value)
    try:
        return np.array(np.broadcast_to(array, shape), order="C")
    except ValueError:
        given, wanted = f"of shape {array.shape}", f"what can be broadcast to {shape}"
        raise InvalidArgumentError.of("__setitem__", "value", given, wanted) from None


def number_of(routine: str, argument: str, value: object, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Make a number an array without axes.

    Args:
        routine: The public function, for messages.
        argument: The argument's name.
        value: The number.
        dtype: The dtype to hold it; a fraction is cut off for an integer, as by NumPy.

    Raises:
        InvalidArgumentError: It is no number, or one that the dtype cannot hold.
    """
    given: Any = value
    with contextlib.suppress(Exception):
        # Older NumPy only warns, and wraps round.
        if dtype.kind not in "iu" or holds(dtype, given):
            return np.array(given, dtype).reshape(())
    wanted = f"a number that {dtype} can hold"
    raise InvalidArgumentError.of(routine, argument, repr_of(value), wanted)
