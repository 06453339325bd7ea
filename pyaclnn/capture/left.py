# SPDX-License-Identifier: Apache-2.0
"""Objects that a replay has made and not ended: those of a part of a trace are ended behind it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.cann import raw
from pyaclnn.cann.library import function

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.capture.trace import Call

__all__ = ["Left"]

_ENDS: Final = {
    r"(acl|aclrt)Create(.+?)(Ex)?(With.*)?": r"\1Destroy\2",
    r"aclrtMalloc(?!Host|Physical).*": "aclrtFree",
    r"aclrtMalloc(Host|Physical)": r"aclrtFree\1",
    "aclrtReserveMemAddress": "aclrtReleaseMemAddress",
    "aclSetAclOpExecutorRepeatable": "aclDestroyAclOpExecutor",
    "aclmdlRICaptureEnd": "aclmdlRIDestroy",
    "aclrtSetDevice": "aclrtResetDevice",
}
"""Function that makes something -> the function that ends it."""
_OF_DEVICE: Final = "aclrt(SetDevice|Malloc|CreateStream)"
"""Functions that make what ends when a device is reset."""


class Left:
    """Objects that a replay has made and not ended."""

    def __init__(self, in_thread: Callable[..., None]) -> None:
        """Make it.

        Args:
            in_thread: Calls a function in the thread for the calls of a recorded one.
        """
        self._in_thread = in_thread
        self._made: dict[int, tuple[Call, Any, int]] = {}

    def add(self, call: Call, handle: int) -> None:
        """Note what a call has made; a stream is to be destroyed in its context."""
        context, device = raw.ffi.new("void **"), raw.ffi.new("int32_t *", -1)
        if call.name.startswith("aclrtCreateStream"):
            function("aclrtGetCurrentContext")(context)
        if call.name == "aclrtSetDevice":
            device[0] = handle
        elif re.match(_OF_DEVICE, call.name):
            function("aclrtGetDevice")(device)
        self._made[handle] = (call, context[0], device[0])

    def note(self, call: Call, first: int) -> None:
        """Note a call that answers with no handle; ``first`` is its first argument in this run."""
        if call.name in {"aclrtSetDevice", "aclSetAclOpExecutorRepeatable"}:
            self.add(call, first)
        elif call.name.startswith("aclrtResetDevice"):
            ended = {
                handle
                for handle, (made, _, device) in self._made.items()
                if device in {first, -1} and re.match(_OF_DEVICE, made.name)
            }
            self._made = {h: made for h, made in self._made.items() if h not in ended}

    def remove(self, handle: int) -> None:
        """Note that something has ended; 0, an absent object, is not device 0."""
        if handle:
            self._made.pop(handle, None)

    def end(self) -> None:
        """End all, the newest first, each in the thread that made it."""
        for handle, (call, context, _) in reversed(self._made.items()):
            found = ((re.fullmatch(made, call.name), name) for made, name in _ENDS.items())
            for end in (match.expand(name) for match, name in found if match):
                if context:
                    self._in_thread(call.thread, function("aclrtSetCurrentContext"), context)
                argument = raw.ffi.cast(raw.ffi.typeof(function(end)).args[0], handle)
                self._in_thread(call.thread, function(end), argument)
        self._made.clear()
