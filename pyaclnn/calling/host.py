# SPDX-License-Identifier: Apache-2.0
"""A call on NumPy arrays: there and back, and done when it returns."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.calling.launch import launch
from pyaclnn.errors import AclError
from pyaclnn.operators.parameters import Tensor
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.transfer import fetch_now, send_now

if TYPE_CHECKING:
    from pyaclnn.calling.call import Call
    from pyaclnn.runtime.stream import Stream

__all__ = ["run_on_host"]


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
    stream = call.stream
    with stream.device.active():
        arguments = _sent(call, stream)
        if call.zeros is None:
            _finish(call, arguments, stream)
            arrays = dict(zip(call.names, arguments, strict=True))
            results = [_fetched(call, name, arrays[name]) for name in call.outputs]
            for tensor in call.described.inputs:
                array = call.values[tensor.name]
                if (
                    array is not None
                    and call.described.wants(tensor, call.values)
                    and tensor.written
                ):
                    _fetch_into(array, arrays[tensor.name])
        else:
            results = [_filled(call, name) for name in call.outputs]
    return call.make_result(*results)


def _sent(call: Call, stream: Stream) -> list[Any]:
    device, context = stream.device, stream.device.context

    def on_device(value: np.ndarray[Any, Any] | None, layout: Layout) -> DeviceArray:
        # Copies happen at once, so the memory must not be one that queued work still uses.
        array = DeviceArray.on_loan(stream.pool.take(layout, device, idle=True), device)
        if value is not None:
            send_now(np.asarray(value, order="C"), array.memory)
        return array

    arguments = []
    for name, parameter in call.described.by_name.items():
        output = call.outputs.get(name)
        if output is not None:
            made = output.made and call.zeros is None
            layout = Layout.dense(context, output.dtype, output.shape) if made else None
            arguments.append(None if layout is None else on_device(None, layout))
        elif isinstance(parameter, Tensor):
            value = call.values[name]
            if value is None or call.zeros is not None:
                arguments.append(None)
            else:
                layout = Layout.dense(context, value.dtype, value.shape)
                arguments.append(on_device(value, layout))
        else:
            arguments.append(call.argument(name))
    return arguments


def _finish(call: Call, arguments: list[Any], stream: Stream) -> None:
    before = stream.timeline.mark
    try:
        launch(call.operator, *arguments, stream=stream)
    except AclError:
        # Something may have been queued before the failure; leave nothing behind.
        if stream.timeline.mark != before:
            with contextlib.suppress(AclError):
                stream.synchronize()
        raise
    stream.synchronize()


def _fetched(call: Call, name: str, array: DeviceArray | None) -> Any:
    output = call.outputs[name]
    if not output.wanted or array is None:
        return None
    target = output.given if isinstance(output.given, np.ndarray) else None
    if target is None:
        target = np.empty(output.shape, output.dtype)
    _fetch_into(target, array)
    return target


def _fetch_into(target: np.ndarray[Any, Any], array: DeviceArray) -> None:
    host = target if target.flags.c_contiguous else np.empty(target.shape, target.dtype)
    fetch_now(host, array.memory)
    if host is not target:
        np.copyto(target, host)


def _filled(call: Call, name: str) -> Any:
    output = call.outputs[name]
    if not output.wanted:
        return None
    target = output.given if isinstance(output.given, np.ndarray) else None
    if target is None:
        target = np.empty(output.shape, output.dtype)
    target[...] = 0
    return target
