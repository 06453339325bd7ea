# SPDX-License-Identifier: Apache-2.0
"""Translation of the arguments of recorded calls: addresses, handles and texts of this run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.cann import raw
from pyaclnn.capture.contents import OF_HOST
from pyaclnn.capture.memory import TO_DEVICE, TO_HOST
from pyaclnn.capture.roles import role_of

if TYPE_CHECKING:
    from pyaclnn.capture.contents import ContentsOf
    from pyaclnn.capture.descriptors import Descriptors
    from pyaclnn.capture.memory import Memory
    from pyaclnn.capture.trace import Call

__all__ = ["Translation", "UnknownHandleError"]

_ANY_KIND: Final = 4
_COPIES: Final = frozenset({"copy", "copy-2d"})
_MANY: Final = 1 << 31
_MAY_BE_UNKNOWN: Final = frozenset({"stream", "workspace", "cfg", "expectPtr"})
"""Parameters that NULL serves for if no replayed call has made their handle or address."""


class UnknownHandleError(Exception):
    """A call cannot be made: an argument of it was not made in this run."""


class Translation:
    """Translation of the arguments of recorded calls.

    Attributes:
        handles: The handle of each object of the traced program -> that of this run.
        kept: Memory of the host that the work in flight may read.
    """

    def __init__(self, memory: Memory, descriptors: Descriptors, contents: ContentsOf) -> None:
        """Make it, without handles.

        Args:
            memory: The memory of the traced program.
            descriptors: Its descriptors.
            contents: The recorded contents.
        """
        self._memory = memory
        self._descriptors = descriptors
        self._contents = contents
        self.handles: dict[int, Any] = {}
        self.kept: list[Any] = []

    def of(self, call: Call, target: Any, answers: dict[str, Any]) -> list[Any]:
        """Return the arguments of a call.

        Args:
            call: The recorded call.
            target: The function of this machine.
            answers: The memory of each parameter through which it answers is added here.

        Raises:
            UnknownHandleError: An argument was not made in this run.
        """
        kind = raw.ffi.typeof(target)
        types = (kind.item if kind.kind == "pointer" else kind).args
        made = []
        for (name, value), c_type in zip(call.arguments.items(), types, strict=True):
            letter = call.letters[name]
            converted = self._argument(call, name, letter, value, answers)
            plain = letter[0] in "dfb"
            made.append(converted if plain else raw.ffi.cast(c_type, converted))
        return made

    def _argument(
        self, call: Call, name: str, letter: str, value: Any, answers: dict[str, Any]
    ) -> Any:
        if letter[0] in "dfb":
            return bool(value) if letter[0] == "b" else value
        if letter[0] in "vnolsS":
            return self._pointed(name, letter, value, answers)
        if letter[0] in "htTaAIFB":
            role = role_of(call.name)
            if role & _COPIES and name in {"dst", "src"}:
                return self._end_of_copy(call, name, value)
            if letter.startswith("h,"):
                count = list(call.arguments)[int(letter.partition(",")[2])]
                self._memory.require(value, call.handle(count))
            elif name in {"tensorData", "addr"}:
                self._memory.require(value, self._descriptors.reach(call))
            optional = name in _MAY_BE_UNKNOWN and "destroys" not in role
            return self.address(value, required=not optional)
        return value

    def _pointed(self, name: str, letter: str, value: Any, answers: dict[str, Any]) -> Any:
        """Return memory of the host with the argument, or for the answer."""
        if value is None or letter[0] == "S":
            return raw.NULL
        if letter[0] == "s":
            memory = raw.ffi.new("char[]", value.encode())
        elif letter[0] == "o":
            memory = answers[name] = raw.ffi.new("char[]", max(int(letter[1:].lstrip(">")), 16))
        elif isinstance(value, tuple):
            if letter.startswith("l="):
                value = tuple(self.address(handle, required=True) for handle in value)
                memory = raw.ffi.new("uint64_t[]", value)
            else:
                memory = raw.ffi.new("int64_t[]", value)
        else:
            memory = raw.ffi.new("char[]", bytes(value) or b"\0")
        self.kept.append(memory)
        return memory

    def address(self, value: int, *, required: bool = False) -> int:
        """Return an address or handle of this run; 0 if it is not known.

        Args:
            value: That of the traced program.
            required: True if it must be known.

        Raises:
            UnknownHandleError: It is not known, and required.
        """
        if value == 0:
            return 0
        found = self.handles.get(value)
        if found is None:
            found = self._memory.find(value)
        if found is None and required:
            raise UnknownHandleError
        return 0 if found is None else int(found)

    def _end_of_copy(self, call: Call, name: str, value: int) -> int:
        """Return an address for a copy; of the host, with the recorded contents."""
        kind, size, here = call.handle("kind"), _extent(call, name), self._memory.find(value)
        recorded_here = self._contents.take(call.number, OF_HOST) if name == "src" else []
        of_host = kind in {0, TO_DEVICE if name == "src" else TO_HOST} or (
            kind == _ANY_KIND and (bool(recorded_here) or (here is None and name == "dst"))
        )
        if not of_host or size >= _MANY:
            if size < _MANY:
                self._memory.require(value, size)
            return self.address(value, required=True)
        if here is None:
            memory = raw.ffi.new("char[]", max(size, 1))
            self.kept.append(memory)
            here = raw.address_of(memory)
        for contents in recorded_here:
            data = contents.data
            if data is None:
                small = np.random.default_rng(contents.hash).integers(0, 2, contents.size)
                data = small.astype(np.uint8).tobytes()
            raw.ffi.memmove(raw.pointer_to(here), data, len(data))
        return here


def _extent(call: Call, name: str) -> int:
    """Return the bytes from the first to the last of an end of a copy."""
    if "height" in call.arguments:
        rows, width = call.handle("height"), call.handle("width")
        pitch = call.handle("dpitch" if name == "dst" else "spitch")
        return (rows - 1) * pitch + width if rows else 0
    return max(call.handle("count"), call.handle("destMax") if name == "dst" else 0)
