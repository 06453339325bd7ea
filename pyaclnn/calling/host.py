# SPDX-License-Identifier: Apache-2.0
"""Calls on NumPy arrays: copies to the device and back, complete on return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.calling.bundle import Bundle
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.fast_path import MOST_KEPT, types_of
from pyaclnn.runtime.device import require_device
from pyaclnn.runtime.dlpack import is_foreign
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.calling.call import Call
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["HostCalls", "host_key", "run_on_host"]


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

    def __setitem__(self, key: tuple[object, ...], call: Call) -> None:
        if len(self) >= MOST_KEPT:
            self.clear()
        super().__setitem__(key, call.without_arrays())


def run_on_host(call: Call, given: Sequence[Any], requested: StreamLike | None) -> Any:
    """Make a call on NumPy arrays.

    The thread's context is the device's for the whole of it, and is put back at the end.

    Args:
        call: The call, validated.
        given: Its arguments in C order.
        requested: The ``stream`` argument.

    Returns:
        Its results as NumPy arrays; those that were given are the very objects.

    Raises:
        InvalidArgumentError: The numbers of an array have another meaning than the operator's, or
            the stream is not acceptable.
        AclError: CANN refused the work, or the work failed.
    """
    interface, arguments = call.interface, list(given)
    if call.zeros is not None:
        for place in call.writes:
            arguments[place] = _zeros(arguments[place])
        return call.result(arguments)
    if requested is None:
        device = require_device(interface.routine, None)
        timeline = device._timeline
    else:
        stream = require_stream(interface.routine, requested, None)
        device, timeline = stream.device, stream._timeline
    if interface.refuse_mistake is not None:
        interface.refuse_mistake(arguments, device)
    context = device._context
    with device._active():
        bundle = call.bundles.get(context)
        if bundle is None:
            bundle = call.bundles[context] = Bundle.of(call, arguments, context)
        bundle.run(call, arguments, requested, device, timeline)
    return call.result(arguments)


def _zeros(value: Any) -> np.ndarray[Any, Any]:
    target: np.ndarray[Any, Any]
    target = np.empty(value.shape, value.dtype) if value.__class__ is Empty else value
    target[...] = 0
    return target
