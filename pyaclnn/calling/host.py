# SPDX-License-Identifier: Apache-2.0
"""Calls on NumPy arrays: copies to the device and back, complete on return."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import AclError
from pyaclnn.calling.dynamic_shape import Descriptors, Unsettled
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.fast_path import MOST_KEPT, types_of
from pyaclnn.calling.launch import launch_operator
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.dlpack import is_foreign
from pyaclnn.runtime.transfer import fetch_now, send_now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyaclnn.calling.call import Call
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.stream import Stream

__all__ = ["HostCalls", "completed", "fetch_into", "host_key", "run_on_host"]


def host_key(given: Mapping[str, Any]) -> tuple[object, ...] | None:
    """Return the key of a call on NumPy arrays: shapes and dtypes, and exact options.

    Args:
        given: The arguments by their Python names.

    Returns:
        None if an argument can be no part of a key.
    """
    key = tuple(
        (value.shape, value.dtype) if type(value) is np.ndarray else (types_of(value), value)
        for value in given.values()
    )
    # The shape of such a tensor can change, and a key would keep it alive.
    if any(map(is_foreign, given.values())):
        return None
    try:
        hash(key)
    except (TypeError, ValueError):  # as of a memoryview that can be written
        return None
    return key


class HostCalls(dict[Any, "Call"]):
    """Cache of validated calls of one operator on NumPy arrays, without their arrays."""

    def remember(self, key: tuple[object, ...], call: Call) -> None:
        """Keep a call, without its arrays."""
        if len(self) >= MOST_KEPT:
            self.clear()
        self[key] = call.again({}, None)


def run_on_host(call: Call) -> Any:
    """Make a call on NumPy arrays.

    The thread's context is the device's for the whole of it, and is put back at the end.

    Args:
        call: The call, validated.

    Returns:
        Its results as NumPy arrays; those that were given are the very objects.

    Raises:
        InvalidArgumentError: The numbers of an array have another meaning than the operator's.
        AclError: CANN refused the work, or the work failed.
    """
    arguments = list(call.arguments)
    if call.zeros is not None:
        for place in call.writes:
            arguments[place] = _zeros(arguments[place])
        return call.result(arguments)
    stream = call.stream
    if call.interface.refuse_mistake is not None:
        call.interface.refuse_mistake(arguments, stream.device)
    with stream.device._active():
        sent = _sent(call, stream)
        with completed(stream):
            if call.interface.found_later:
                kept = Descriptors(call.operator, sent, stream)
            else:
                launch_operator(call.operator, *sent, stream=stream)
        for place in call.writes:
            array = sent[place]
            if call.interface.found_later and array is not None:
                arguments[place] = Unsettled(array, kept, place).actual().numpy()
            else:
                arguments[place] = _in_pairs(_fetched, arguments[place], array)
    return call.result(arguments)


def _sent(call: Call, stream: Stream) -> list[Any]:
    """Return the arguments with arrays on the device: copies of inputs, memory for results."""
    device, take = stream.device, stream.pool._take

    def sent(value: Any, layout: Layout) -> DeviceArray:
        # Copies happen at once, so the memory must not be one that queued work still uses.
        array = array_on_loan(take(layout, device, idle=True), device)
        if value.__class__ is not Empty:
            send_now(np.asarray(value, order="C"), array._memory)
        return array

    arguments = list(call.arguments)
    pairs = zip(call.interface.tensors, call.layouts(device._context), strict=True)
    for place, layout in pairs:
        arguments[place] = _in_pairs(sent, arguments[place], layout)
    return arguments


def _in_pairs(function: Callable[[Any, Any], Any], value: Any, other: Any) -> Any:
    """Apply a function to a value and another, or to those of two tuples; None stays None."""
    if value.__class__ is tuple:
        pairs = zip(value, other, strict=True)
        return tuple([None if item is None else function(item, more) for item, more in pairs])
    return None if value is None else function(value, other)


class completed:  # noqa: N801  # read as a word of the with statement
    """Context that waits at its end for the work queued in it, also where that fails.

    Raises what the work, or the wait, raises.
    """

    __slots__ = ("_before", "_stream")

    def __init__(self, stream: Stream) -> None:
        """Begin on a stream, the context of whose device is current."""
        self._stream = stream
        self._before = stream._timeline.submitted

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._stream._finish()
        # Something may have been queued before the failure; leave nothing behind.
        elif issubclass(kind, AclError) and self._stream._timeline.submitted != self._before:
            with contextlib.suppress(AclError):
                self._stream._finish()


def _fetched(value: Any, array: DeviceArray) -> np.ndarray[Any, Any]:
    target = np.empty(value.shape, value.dtype) if value.__class__ is Empty else value
    fetch_into(target, array)
    return target


def fetch_into(target: np.ndarray[Any, Any], array: DeviceArray) -> None:
    """Copy a device array, which nothing is queued for, into a NumPy array of any strides.

    Args:
        target: Where to, of the same shape and dtype.
        array: What to copy; contiguous.
    """
    host = target if target.flags.c_contiguous else np.empty(target.shape, target.dtype)
    fetch_now(host, array._memory)
    if host is not target:
        np.copyto(target, host)


def _zeros(value: Any) -> np.ndarray[Any, Any]:
    target: np.ndarray[Any, Any]
    target = np.empty(value.shape, value.dtype) if value.__class__ is Empty else value
    target[...] = 0
    return target
