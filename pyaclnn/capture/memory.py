# SPDX-License-Identifier: Apache-2.0
"""Memory of a traced program: ranges of addresses, and where they are in a replay."""

from __future__ import annotations

import bisect
import contextlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.cann import raw
from pyaclnn.cann.library import function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["TO_DEVICE", "TO_HOST", "Memory"]

_RELAXED: Final = 2
_WRONG_THREAD: Final = 107038
TO_DEVICE: Final = 1
TO_HOST: Final = 2


class Memory:
    """Ranges of addresses of the traced program, and where they are here."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._rest: dict[int, tuple[int, int]] = {}
        self._own: list[Any] = []
        self.captured: dict[int, int] = {}
        """The streams that are captured as graphs -> the number of the thread that began it."""

    def add(self, begin: int, size: int, here: int) -> None:
        """Note that a range lies elsewhere here; what it overlaps was freed unseen."""
        place = bisect.bisect_left(self._begins, begin + max(size, 1)) - 1
        while place >= 0 and begin < self._begins[place] + max(
            self._rest[self._begins[place]][0], 1
        ):
            self.remove(self._begins[place])
            place -= 1
        bisect.insort(self._begins, begin)
        self._rest[begin] = (size, here)

    def remove(self, begin: int) -> None:
        """Forget the range that begins there, if one does."""
        if self._rest.pop(begin, None) is not None:
            self._begins.remove(begin)

    def find(self, address: int) -> int | None:
        """Return where an address of the traced program is here; None if it is in no range."""
        place = bisect.bisect_right(self._begins, address) - 1
        if place < 0:
            return None
        begin = self._begins[place]
        size, here = self._rest[begin]
        return here + address - begin if address < begin + max(size, 1) else None

    def require(self, begin: int, size: int) -> None:
        """Provide a range of device memory that no replayed call has made.

        Such is memory of another process, of a pool, and what other libraries have lent.
        """
        if begin and size and (self.find(begin) is None or self.find(begin + size - 1) is None):
            here = self.allocate(size)
            if here:
                self.add(begin, size, here)

    def allocate(self, size: int) -> int:
        """Return device memory of this replay's own, or 0; it lasts until the device is reset."""
        made = raw.ffi.new("void **")
        if function("aclrtMalloc")(made, size, 0):
            return 0
        self._own.append(made[0])
        return raw.address_of(made[0])

    def free(self) -> None:
        """Free what this replay has allocated for itself."""
        own = {raw.address_of(pointer) for pointer in self._own}
        for begin in [begin for begin, (_, here) in self._rest.items() if here in own]:
            self.remove(begin)
        while self._own:
            function("aclrtFree")(self._own.pop())

    def note_capture(self, role: frozenset[str], status: object, stream: int, thread: int) -> None:
        """Note that a stream is captured as a graph, or no more; another thread cannot end that."""
        if "graph-begin" in role and status == 0:
            self.captured[stream] = thread
        elif "graph-end" in role and status != _WRONG_THREAD:
            self.captured.pop(stream, None)

    @contextlib.contextmanager
    def _at_once(self) -> Iterator[None]:
        """Let this thread copy while a stream is captured."""
        mode = raw.ffi.new("aclmdlRICaptureMode *", _RELAXED)
        exchange = function("aclmdlRICaptureThreadExchangeMode") if self.captured else None
        if exchange:
            exchange(mode)
        yield
        if exchange:
            exchange(mode)

    def read(self, begin: int, size: int, stream: int) -> NDArray[np.uint8] | None:
        """Return bytes of a device when a stream has passed; None if they cannot be read."""
        here = self.find(begin)
        if here is None or size == 0:
            return None
        waited = function("aclrtSynchronizeStream")(raw.pointer_to(stream))
        memory = np.empty(size, np.uint8)
        target = raw.ffi.cast("void *", raw.ffi.from_buffer(memory))
        with self._at_once():
            status = function("aclrtMemcpy")(target, size, raw.pointer_to(here), size, TO_HOST)
        return None if waited or status else memory

    def write(self, begin: int, data: Any) -> bool:
        """Write bytes to a device; return whether the range is known."""
        here, source = self.find(begin), raw.ffi.from_buffer(data)
        if here is not None:
            size = raw.ffi.sizeof(source)
            with self._at_once():
                function("aclrtMemcpy")(raw.pointer_to(here), size, source, size, TO_DEVICE)
        return here is not None
