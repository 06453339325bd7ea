# SPDX-License-Identifier: Apache-2.0
"""Devices and contexts of a trace: those in which each thread calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyaclnn.capture.trace import Call

__all__ = ["Place", "Places"]


class Place(NamedTuple):
    """Number of a device and handle of a context; None if no call of the trace has named it."""

    device: int | None = None
    context: int | None = None


class Places:
    """Current device and context of each thread, as far as its calls name them."""

    def __init__(self) -> None:
        self._current: dict[int, Place] = {}
        self._devices: dict[int, int] = {}
        """The handle of each context -> its device."""

    def learn(self, call: Call) -> Place:
        """Note what a call has chosen, and return the place of its thread."""
        place = self._current.get(call.thread, Place())
        if call.failed:  # a thread has no context any more, or the call has changed nothing
            place = Place() if call.name == "aclrtGetCurrentContext" else place
        elif call.name == "aclrtSetDevice":
            place = Place(call.handle("deviceId"))
        elif call.name == "aclrtGetDevice":
            place = place._replace(device=call.handle("deviceId"))
        elif call.name == "aclrtCreateContext":
            place = Place(call.handle("deviceId"), call.handle("context"))
        elif call.name == "aclrtGetCurrentContext":
            place = place._replace(context=call.handle("context"))
        elif call.name == "aclrtSetCurrentContext":
            context = call.handle("context")
            place = Place(self._devices.get(context), context)
        if place.device is not None and place.context is not None:
            self._devices[place.context] = place.device
        self._current[call.thread] = place
        return place
