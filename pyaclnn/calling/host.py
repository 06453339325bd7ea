# SPDX-License-Identifier: Apache-2.0
"""A call on NumPy arrays: there and back, and done when it returns."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import AclError
from pyaclnn.calling.fast_path import MOST_KEPT, types_of
from pyaclnn.calling.launch import launch
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.dlpack import is_foreign
from pyaclnn.runtime.transfer import fetch_now, send_now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.calling.call import Call, Output
    from pyaclnn.runtime.stream import Stream

__all__ = ["HostCalls", "completed", "fetch_into", "host_key", "run_on_host"]


def host_key(given: Mapping[str, Any]) -> tuple[object, ...] | None:
    """Return what a call on NumPy arrays is known by: shapes and dtypes, and exact options.

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
    """Calls of one operator on NumPy arrays that were accepted, without their arrays."""

    def remember(self, key: tuple[object, ...], call: Call) -> None:
        """Keep a call; what it is made of follows from its key."""
        if len(self) >= MOST_KEPT:
            self.clear()
        self[key] = call.again({}, None)


def run_on_host(call: Call) -> Any:
    """Make a call on NumPy arrays.

    The thread's context is the device's for the whole of it, and is put back at the end.

    Args:
        call: The call, checked.

    Returns:
        Its results as NumPy arrays; those that were given are the very objects.

    Raises:
        AclError: CANN refused the work, or the work failed.
    """
    if call.zeros is not None:
        return call.make_result(*(_zeros(output) for output in call.outputs.values()))
    stream = call.stream
    with stream.device._active():
        arguments = _sent(call, stream)
        with completed(stream):
            launch(call.operator, *arguments, stream=stream, written=call.written)
        arrays = dict(zip(call.names, arguments, strict=True))
        results = [_fetched(output, arrays[name]) for name, output in call.outputs.items()]
        for name in call.updated:
            fetch_into(call.values[name], arrays[name])
    return call.make_result(*(results or (call.values[name] for name in call.updated)))


def _sent(call: Call, stream: Stream) -> list[Any]:
    device, take, values = stream.device, stream.pool._take, call.values
    arguments = []
    for name, layout in zip(call.names, call.layouts(device._context), strict=True):
        if layout is None:
            arguments.append(call.constants.get(name))
            continue
        # Copies happen at once, so the memory must not be one that queued work still uses.
        array = array_on_loan(take(layout, device, idle=True), device)
        if name in values:
            send_now(np.asarray(values[name], order="C"), array._memory)
        arguments.append(array)
    return arguments


class completed:  # noqa: N801  # read as a word of the with statement
    """Waits at the end for what is queued meanwhile, also where that fails.

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


def _fetched(output: Output, array: DeviceArray | None) -> Any:
    if not output.wanted or array is None:
        return None
    target = _target(output)
    fetch_into(target, array)
    return target


def _target(output: Output) -> np.ndarray[Any, Any]:
    if isinstance(output.given, np.ndarray):
        return output.given
    return np.empty(output.shape, output.dtype)


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


def _zeros(output: Output) -> Any:
    if not output.wanted:
        return None
    target = _target(output)
    target[...] = 0
    return target
