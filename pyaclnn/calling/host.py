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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.calling.call import Call

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
    context = device._context
    with device._active():
        if context not in call.bundles:
            call.bundles[context] = Bundle.of(call, context)
        return call.result(call.bundles[context].run(call, device, timeline))


def _zeros(value: Any) -> np.ndarray[Any, Any]:
    target: np.ndarray[Any, Any]
    target = np.empty(value.shape, value.dtype) if value.__class__ is Empty else value
    target[...] = 0
    return target
