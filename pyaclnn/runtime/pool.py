# SPDX-License-Identifier: Apache-2.0
"""A stream's cache of device memory for results and temporaries.

Memory that nobody refers to any more is handed out again instead of going back to CANN, whose
``aclrtMalloc`` is slow. Reuse is in stream order: new work on the same stream may have a block at
once, because it runs after the old; everything else only when the stream has passed the block.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pyaclnn._binding import lib
from pyaclnn.cann import raw
from pyaclnn.errors import OutOfMemoryError
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.memory import Memory
from pyaclnn.runtime.timeline import cap_of

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Loan", "Pool", "PoolStats", "pool_of"]


class PoolStats(NamedTuple):
    """The memory of a pool, in bytes."""

    reserved: int
    """What the pool holds of CANN."""
    cached: int
    """What of that is free to be handed out again."""
    allocations: int
    """How often CANN was asked for memory."""
    cap: int | None
    """The most the pool may hold; None without a limit."""


# Half the time of calling the class, in the one place where that counts.
_lend = tuple.__new__


class Loan(NamedTuple):
    """A block in use; the pool gets it back when nothing refers to the loan any more."""

    pool: Pool
    memory: Memory
    """The block."""
    layout: Layout
    """The layout of the array it was handed out for."""
    tensor: Any
    """That array, described to the launcher."""
    tensor_at: int
    """The address of the description."""

    # Not weakref.finalize: that costs more than the whole launch this block was taken for. A loan
    # is in no reference cycle, and what it does cannot raise.
    def __del__(self) -> None:
        pool, memory, layout, tensor, tensor_at = self
        if pool.enabled and lib.binding_block_is_of(memory.block, pool.timeline):
            pool.free[layout.room].append((memory, layout, tensor, tensor_at))
        else:
            pool.take_back(memory, layout, tensor)

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return not self.memory.block.open

    def close(self) -> None:
        """Give the block back to CANN once every stream has passed its last use."""
        self.pool.give_up(self.memory)

    def as_buffer(self, device: Device) -> Buffer:
        """Return the block, which lies on ``device``, as a buffer that keeps it on loan."""
        return _Lent(self, device)


class _Lent(Buffer):
    """A block on loan as a buffer: closing it gives the block back, losing it does not."""

    def __init__(self, loan: Loan, device: Device) -> None:
        memory = loan.memory
        super().__init__(memory.nbytes, device, address=raw.address_of(memory.pointer), owner=loan)
        self._close_loan = loan.close

    def close(self) -> None:
        super().close()
        self._close_loan()


class Pool:
    """The cache of one stream.

    Attributes:
        enabled: Whether memory is kept; if not, it goes back to CANN at once. The environment
            variable PYACLNN_CACHING=0 turns every pool off.
        timeline: The stream's timeline, as the launchers know it.
        free: By size, the blocks to be handed out, each with the layout it had last, so that its
            description can be used again. The lists are only appended to and popped from, which
            needs no lock.
    """

    # A mistyped name is an error, and not an attribute of no effect.
    __slots__ = (
        "__weakref__",
        "_allocations",
        "_cap",
        "_lock",
        "_owned",
        "_reserved",
        "_timeline",
        "enabled",
        "free",
        "timeline",
    )

    enabled_by_default: ClassVar[bool] = os.environ.get("PYACLNN_CACHING", "1") != "0"

    def __init__(self, timeline: Timeline) -> None:
        self.enabled = self.enabled_by_default
        self._cap: int | None = None
        self.timeline = timeline.struct
        self._timeline = timeline
        self._lock = threading.RLock()
        self.free: defaultdict[int, list[tuple[Memory, Layout, Any, int]]] = defaultdict(list)
        # Buffers, and not only their memory: those are closed when the interpreter ends.
        self._owned: dict[int, Buffer] = {}
        self._reserved = 0
        self._allocations = 0

    @property
    def cap(self) -> int | None:
        """The most bytes to hold of CANN; None without a limit. Can be set."""
        return self._cap

    @cap.setter
    def cap(self, nbytes: int | None) -> None:
        self._cap = cap_of(nbytes, "Pool.cap")
        if self._cap is not None and self._reserved > self._cap:
            self.trim()

    def take(self, layout: Layout, device: Device, *, idle: bool = False) -> Loan:
        """Hand out memory for an array.

        Args:
            layout: The array's layout.
            device: The stream's device.
            idle: Whether the memory is used at once, not in stream order.

        Returns:
            A loan, whose memory holds anything.

        Raises:
            OutOfMemoryError: The device, or the cap, has no room for it.
        """
        stack = self.free[layout.room]
        if stack and not (idle and self._timeline.busy):
            try:
                memory, known, tensor, tensor_at = stack.pop()
            except IndexError:  # another thread was faster
                return self._allocate(layout, device)
            if known is not layout:
                return self._lend(memory, layout)
            return _lend(Loan, (self, memory, layout, tensor, tensor_at))
        return self._allocate(layout, device)

    def _allocate(self, layout: Layout, device: Device) -> Loan:
        size = layout.room
        if not size:
            memory = Memory(Buffer.kind, raw.NULL, 0)
            memory.block.shared = 1  # nothing to be kept
            return self._lend(memory, layout)
        with self._lock:
            self._make_room(size)
            self._reserved += size
        try:
            buffer = Buffer(size, device)
        except BaseException:
            with self._lock:
                self._reserved -= size
            raise
        memory = buffer.memory
        with self._lock:
            self._owned[id(memory)] = buffer
            self._allocations += 1
        return self._lend(memory, layout)

    def _lend(self, memory: Memory, layout: Layout) -> Loan:
        tensor = layout.tensor(memory, 0)
        return Loan(self, memory, layout, tensor, raw.address_of(tensor))

    def _make_room(self, size: int) -> None:
        if self.cap is None or self._reserved + size <= self.cap:
            return
        self.trim()
        if self._reserved + size > self.cap:
            message = (
                f"a result of {size} bytes does not fit the stream's pool, which holds "
                f"{self._reserved} of at most {self.cap}.\n"
                "Hint: let go of results, or raise Stream.pool.cap."
            )
            raise OutOfMemoryError(message, routine="Pool.take")

    def take_back(self, memory: Memory, layout: Layout, tensor: Any) -> None:
        """Decide about a block that other streams have used; called when its loan is gone."""
        if not memory.block.open:
            return
        if self.enabled and tensor and memory.nbytes and not memory.uses():
            memory.make_room()
            self.free[layout.room].append((memory, layout, tensor, raw.address_of(tensor)))
        else:
            self.give_up(memory)

    def give_up(self, memory: Memory) -> None:
        """Give a block back to CANN once every stream has passed its last use."""
        with self._lock:
            buffer = self._owned.pop(id(memory), None)
            if buffer is not None:
                self._reserved -= memory.nbytes
        if buffer is not None:
            buffer.close()

    def trim(self) -> int:
        """Give every block that is not in use back to CANN, and return how many bytes that were."""
        freed = 0
        for stack in list(self.free.values()):
            while stack:
                try:
                    memory, *_ = stack.pop()
                except IndexError:
                    break
                freed += memory.nbytes
                self.give_up(memory)
        return freed

    def stats(self) -> PoolStats:
        """Describe the pool's memory."""
        cached = sum(size * len(stack) for size, stack in list(self.free.items()))
        return PoolStats(self._reserved, cached, self._allocations, self.cap)

    def retire(self) -> None:
        """Keep nothing any more: the stream is used no longer."""
        self.enabled = False
        self.trim()

    def orphan(self) -> None:
        """Belong to another process, and be held up by none of its threads."""
        self._lock = threading.RLock()


def pool_of(timeline: Timeline) -> Pool:
    """Return the pool of a timeline."""
    if timeline.pool is None:
        timeline.pool = Pool(timeline)
    return timeline.pool  # type: ignore[return-value]  # only this function sets it
