# SPDX-License-Identifier: Apache-2.0
"""``acl.util``: addresses of Python's memory, and threads that process callbacks."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "bytes_to_ptr",
    "numpy_contiguous_to_ptr",
    "numpy_to_ptr",
    "ptr_to_bytes",
    "ptr_to_numpy",
    "start_thread",
    "stop_thread",
]

_NO_THREAD: Final = 100000
_DTYPES: Final[Mapping[int, np.dtype[Any]]] = {
    np.dtype(code).num: np.dtype(code) for code in "?bBhHiIlLqQefdgFDG"
}
_threads: dict[int, threading.Thread] = {}


def bytes_to_ptr(data: bytes) -> int:
    """Return the address of the contents; the object must live as long as it is used."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def ptr_to_bytes(ptr: int, size: int) -> bytes:
    """Copy ``size`` bytes of host memory."""
    return ctypes.string_at(ptr, size)


def numpy_to_ptr(array: NDArray[Any]) -> int:
    """Return the address of the first element; the array must live as long as it is used."""
    return int(array.ctypes.data)


numpy_contiguous_to_ptr = numpy_to_ptr


def ptr_to_numpy(ptr: int, dims: Sequence[int], np_type: int) -> NDArray[Any]:
    """View host memory as an array.

    Args:
        ptr: The address; the memory must live as long as the array.
        dims: The shape.
        np_type: NumPy's number of the element type, ``numpy.dtype(...).num``: 1 for int8, 11 for
            float32.

    Raises:
        ValueError: NumPy has no type of this number for numbers.
    """
    if np_type not in _DTYPES:
        message = f"np_type is {np_type}; it must be the num of a dtype of NumPy, such as 11"
        raise ValueError(message)
    dtype = _DTYPES[np_type]
    size = int(np.prod(dims)) * dtype.itemsize
    return np.frombuffer(memoryview((ctypes.c_char * size).from_address(ptr)), dtype).reshape(
        tuple(dims)
    )


def start_thread(function: Callable[[list[Any]], object], arguments: list[Any]) -> tuple[int, int]:
    """Run a function in a thread of its own, as ``acl.rt.subscribe_report`` needs it.

    Args:
        function: The function to call; it takes one list.
        arguments: The list.

    Returns:
        The thread's number, as C knows it, and the status.
    """
    thread = threading.Thread(target=function, args=(arguments,), daemon=True)
    thread.start()
    number = thread.ident or 0
    _threads[number] = thread
    return number, 0


def stop_thread(thread_id: int) -> int:
    """Wait for the end of a thread, which its function brings about; the status."""
    thread = _threads.pop(thread_id, None)
    if thread is None:
        return _NO_THREAD
    thread.join()
    return 0
