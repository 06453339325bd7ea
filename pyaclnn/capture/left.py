# SPDX-License-Identifier: Apache-2.0
"""Objects that a replay has made and not ended: those of a part of a trace are ended behind it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pyaclnn.cann import raw
from pyaclnn.cann.library import function

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.capture.roles import Role
    from pyaclnn.capture.trace import Call

__all__ = ["Left"]


class Left:
    """Objects that a replay has made and not ended."""

    def __init__(self, in_thread: Callable[..., None]) -> None:
        """Make it.

        Args:
            in_thread: Calls a function in the thread for the calls of a recorded one.
        """
        self._in_thread = in_thread
        self._devices: Counter[int] = Counter()
        """The number of times that each device was set and not reset."""
        self._made: dict[tuple[int, bool], tuple[str, int, Any, int]] = {}
        """Its handle, and whether it is a mapping -> the function that ends it, the thread, and,
        unless it is a descriptor, the context and device that it is in."""
        self._once: set[int] = set()
        """Executors that their second phase ends."""

    def add(self, call: Call, role: Role, handle: int) -> None:
        """Note what a call has made."""
        context, device = raw.ffi.new("void **"), raw.ffi.new("int32_t *", -1)
        if role.word("end") == "aclrtResetDevice":
            self._devices[handle] += 1
        elif role.word("end"):
            if "phase-1" in role:
                self._once.add(handle)
            elif "p" not in role:
                self._once -= {handle} if "repeatable" in role else set()
                function("aclrtGetCurrentContext")(context)
                function("aclrtGetDevice")(device)
            made = (role.word("end"), call.thread, context[0], device[0])
            self._made[handle, "maps" in role] = made

    def reset(self, device: int, *, force: bool) -> None:
        """Note that a device is about to be reset; before the last time all on it is ended."""
        self._devices[device] -= self._devices[device] if force else 1
        if self._devices[device] <= 0:
            self._end([key for key, made in self._made.items() if made[-1] == device])

    def launch(self, executor: int) -> None:
        """Note that a second phase has run."""
        if executor in self._once:
            self._once.remove(executor)
            self.remove(executor)

    def remove(self, handle: int, *, mapping: bool = False) -> None:
        """Note that something has ended."""
        self._made.pop((handle, mapping), None)

    def synchronize(self) -> None:
        """Wait for the work of all contexts: a part of a trace may end before it."""
        places = {made[1:3]: None for made in self._made.values() if made[2]}
        for thread, context in places:
            self._in_thread(thread, function("aclrtSetCurrentContext"), context)
            self._in_thread(thread, function("aclrtSynchronizeDevice"))

    def end(self) -> None:
        """End all, and reset the devices."""
        self._end([*self._made])
        for device in self._devices.elements():
            function("aclrtResetDevice")(device)
        self._devices.clear()

    def _end(self, keys: list[tuple[int, bool]]) -> None:
        """End objects, the newest first, each in the thread that made it."""
        for key in reversed(keys):
            name, thread, context, _ = self._made.pop(key)
            if context:
                self._in_thread(thread, function("aclrtSetCurrentContext"), context)
            argument = raw.ffi.cast(raw.ffi.typeof(function(name)).args[0], key[0])
            self._in_thread(thread, function(name), argument)
