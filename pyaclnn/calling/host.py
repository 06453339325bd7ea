# SPDX-License-Identifier: Apache-2.0
"""Calls on NumPy arrays: copies to the device and back, complete on return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.calling.bundle import Bundle
from pyaclnn.calling.call import map_arrays
from pyaclnn.calling.dynamic_shape import Descriptors, Unsettled
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.fast_path import MOST_KEPT, types_of
from pyaclnn.calling.launch import launch_operator
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.device import require_device
from pyaclnn.runtime.dlpack import is_foreign
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.progress import finished
from pyaclnn.runtime.stream import Stream
from pyaclnn.runtime.transfer import fetch_now, send_now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyaclnn.calling.call import Call
    from pyaclnn.runtime.device import Device

__all__ = ["HostCalls", "fetch_into", "host_key", "run_on_host"]


def host_key(given: Mapping[str, Any]) -> tuple[object, ...] | None:
    """Return the key of a call on NumPy arrays: shapes and dtypes, and exact options.

    Args:
        given: The arguments by their Python names.

    Returns:
        None if an argument can be no part of a key.
    """
    parts: list[object] = []
    for value in given.values():
        if type(value) is np.ndarray:
            parts += value.shape, value.dtype
        # The shape of such a tensor can change, and a key would keep it alive.
        elif is_foreign(value):
            return None
        else:
            parts += types_of(value), value
    key = tuple(parts)
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
    stream = None if call.requested is None else call.stream
    device = require_device(call.interface.routine, None) if stream is None else stream.device
    timeline = device._timeline if stream is None else stream._timeline
    if call.interface.refuse_mistake is not None:
        call.interface.refuse_mistake(arguments, device)
    with device._active():
        bundle = _bundle(call, device)
        if bundle is not None:
            return call.result(bundle.run(call, device, timeline))
        stream = stream or Stream.default(device)
        sent = _sent(call, stream)
        with finished(timeline):
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


def _bundle(call: Call, device: Device) -> Bundle | None:
    """Return how the arrays of a call lie together on a device, or None if they do not."""
    if call.interface.found_later:
        return None
    context = device._context
    if context not in call.bundles:
        call.bundles[context] = Bundle.of(call, context)
    found: Bundle | None = call.bundles[context]
    return found


def _sent(call: Call, stream: Stream) -> list[Any]:
    """Return the arguments with arrays on the device: copies of inputs, memory for results."""
    device, take = stream.device, stream.pool._take

    def sent(value: Any) -> DeviceArray:
        layout = Layout.dense(device._context, value.dtype, value.shape)
        # Copies happen at once, so the memory must not be one that queued work still uses.
        array = array_on_loan(take(layout, device, idle=True), device)
        if value.__class__ is not Empty:
            send_now(np.asarray(value, order="C"), array._memory)
        return array

    arguments = list(call.arguments)
    for place in call.interface.tensors:
        arguments[place] = map_arrays(sent, arguments[place])
    return arguments


def _in_pairs(function: Callable[[Any, Any], Any], value: Any, other: Any) -> Any:
    """Apply a function to a value and another, or to those of two tuples; None stays None."""
    if value.__class__ is tuple:
        pairs = zip(value, other, strict=True)
        return tuple([None if item is None else function(item, more) for item, more in pairs])
    return None if value is None else function(value, other)


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
