# SPDX-License-Identifier: Apache-2.0
"""A stream's cache of device memory for results and temporaries.

Memory without references is reused instead of being freed by CANN, whose
``aclrtMalloc`` is slow. Reuse is in stream order: new work on the same stream may have a block at
once, because it runs after the old; everything else only when the stream has passed the block.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from pyaclnn._binding import lib
from pyaclnn.base.errors import OutOfMemoryError
from pyaclnn.base.variable import choice
from pyaclnn.cann import raw
from pyaclnn.runtime.buffer import Buffer, allocate
from pyaclnn.runtime.cap import cap_of
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE
from pyaclnn.runtime.handle import Handle
from pyaclnn.runtime.idle_budget import IdleBudget
from pyaclnn.runtime.memory import Memory

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Loan", "Pool", "PoolStats", "pool_of"]


class PoolStats(NamedTuple):
    """The memory of a pool, in bytes."""

    reserved: int
    """Bytes that the pool holds."""
    cached: int
    """Bytes of those that are free for reuse."""
    allocations: int
    """The number of allocations from CANN."""
    cap: int | None
    """The most the pool may hold; None without a limit."""


# Half the time of calling the class, in the one place where that counts.
_lend = tuple.__new__
_is_of: Any = lib.binding_block_is_of


class Loan(NamedTuple):
    """A block in use; the pool gets it back when nothing refers to the loan any more."""

    pool: Pool
    memory: Memory
    """The block."""
    ticket: Any
    """Goes with the block from pool to loan and back; C sees when it is lost on the way."""
    layout: Layout
    """The layout of the array it was handed out for."""
    tensor: Any
    """That array, described to the launcher."""
    tensor_at: int
    """The address of the description."""

    # Not weakref.finalize: that costs more than the whole launch this block was taken for. A loan
    # is in no reference cycle, and what it does cannot raise. A signal handler that raises here
    # loses the ticket.
    def __del__(self) -> None:
        pool, memory, ticket, layout, tensor, tensor_at = self
        if pool.enabled and _is_of(memory.block, pool._struct):
            pool._free[layout.room].append((memory, ticket, layout, tensor, tensor_at))
        else:
            pool._look_closely(memory)

    @property
    def closed(self) -> bool:
        """True if ``close`` was called."""
        return not self.memory.block.open

    def close(self) -> None:
        """Free the block once every stream has passed its last use."""
        self.pool._give_up(self.memory)

    def as_buffer(self, device: Device) -> Buffer:
        """Return the block, which lies on ``device``, as a buffer that keeps it on loan."""
        return _Lent(self, device)


_Idle: TypeAlias = "tuple[Memory, Any, Layout, Any, int]"


class _Return(weakref.ref[Any]):
    """A block that is to be looked at closely: because of its past, or since its ticket is lost.

    It refers to the ticket: when that is lost, C adds the return to the finalizer queue, and no
    signal handler comes between.
    """

    __slots__ = ("_layout", "_memory", "_pool")

    _layout: Layout
    _memory: Memory
    _pool: weakref.ref[Pool]

    @classmethod
    def of(cls, ticket: Any, pool: Pool, memory: Memory, layout: Layout) -> _Return:
        made = cls(ticket, FINALIZER_QUEUE.note_in_c)
        made._pool, made._memory, made._layout = weakref.ref(pool), memory, layout
        return made

    def proceed(self) -> None:
        pool = self._pool()
        if pool is not None:
            pool._take_back(self, self._memory, self._layout)


class _Lent(Buffer):
    """A block on loan as a buffer: closing it gives the block back, losing it does not."""

    def __init__(self, loan: Loan, device: Device) -> None:
        memory = loan.memory
        super().__init__(memory.nbytes, device, address=raw.address_of(memory.pointer), owner=loan)
        self._close_loan = loan.close

    def close(self) -> None:
        super().close()
        self._close_loan()


class _Owned(Handle):
    """A block of a pool: no buffer, which would keep its device in use, but closed at the end."""

    _kind: ClassVar[str] = Buffer._kind
    _expects_close: ClassVar[bool] = False

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.memory = memory
        self.ending: _Return | None = None

    def ticket(self, pool: Pool, layout: Layout) -> Any:
        """Make a ticket; one that was made before is worth nothing any more."""
        # Garbage collections do not visit this type: they would report it lost too early.
        ticket = raw.ffi.new("char *")
        self.ending = _Return.of(ticket, pool, self.memory, layout)
        return ticket


class _Asking:
    """Lives as long as CANN is asked for a block, however that ends."""

    __slots__ = ("__weakref__",)


class Pool:
    """The cache of one stream.

    It keeps about as much idle as was in use at a time lately, or 16 MiB if that is more, and gives
    the rest back to CANN, what was used longest ago first. A program that asks for the same
    sizes gets the same blocks: nothing is given back as long as nothing new is needed.

    Attributes:
        enabled: True if memory is kept; if not, it goes back to CANN at once. The environment
            variable PYACLNN_CACHING=0 turns every pool off.
    """

    # A mistyped name is an error, and not an attribute of no effect.
    __slots__ = (
        "__weakref__",
        "_allocations",
        "_asking",
        "_budget",
        "_cap",
        "_free",
        "_owned",
        "_struct",
        "_timeline",
        "enabled",
    )

    _enabled_by_default: ClassVar[bool] = choice("PYACLNN_CACHING", "0", "1") != "0"

    def __init__(self, timeline: Timeline) -> None:
        self.enabled = self._enabled_by_default
        self._cap: int | None = None
        self._struct = timeline.struct  # as the launchers know it
        self._timeline = timeline
        # By size, the blocks to be handed out, each with its ticket and the layout it had last
        # (its description can be used again). Only appended to and popped from, which needs
        # no lock.
        self._free: defaultdict[int, list[_Idle]] = defaultdict(list)
        self._owned: dict[int, _Owned] = {}
        self._asking: dict[weakref.ref[_Asking], int] = {}
        self._budget = IdleBudget()
        self._allocations = 0

    @property
    def cap(self) -> int | None:
        """The most bytes to hold of CANN; None without a limit. Can be set."""
        return self._cap

    @cap.setter
    def cap(self, nbytes: int | None) -> None:
        self._cap = cap_of(nbytes, "Pool.cap")
        if self._cap is not None and self._reserved() > self._cap:
            self.trim()

    def _take(self, layout: Layout, device: Device, *, idle: bool = False) -> Loan:
        """Hand out memory for an array.

        Args:
            layout: The array's layout.
            device: The stream's device.
            idle: True if the memory is used at once, not in stream order.

        Returns:
            A loan, whose memory holds anything.

        Raises:
            OutOfMemoryError: The device, or the cap, has no room for it.
        """
        stack = self._free[layout.room]
        while stack and not (idle and self._timeline.busy):
            # Where a block is taken off and lent, no call is made: neither a signal handler nor
            # another thread comes between.
            try:
                memory, ticket, known, tensor, tensor_at = entry = stack[-1]
                if known is not layout:
                    tensor = layout.tensor(memory, 0)
                    tensor_at = raw.address_of(tensor)
                    if stack[-1] is not entry:
                        continue
                del stack[-1]
            except IndexError:  # another thread was faster
                break
            return _lend(Loan, (self, memory, ticket, layout, tensor, tensor_at))
        return self._allocate(layout, device)

    def _allocate(self, layout: Layout, device: Device) -> Loan:
        size = layout.room
        if not size:
            memory = Memory(Buffer._kind, raw.NULL, 0)
            memory.block.shared = 1  # nothing to be kept
            tensor = layout.tensor(memory, 0)
            return Loan(self, memory, None, layout, tensor, raw.address_of(tensor))
        asking = _Asking()
        with FINALIZER_QUEUE.lock:
            self._asking[weakref.ref(asking, self._asking.pop)] = size
        try:
            self._make_room(size)
            self._give_back_unneeded(size)
            memory = allocate(size, device)
            owned = _Owned(memory)
        finally:
            del asking
        key, tensor = id(memory), layout.tensor(memory, 0)
        memory.block.shared = 1  # not ours yet
        ticket = owned.ticket(self, layout)
        loan = Loan(self, memory, ticket, layout, tensor, raw.address_of(tensor))
        self._owned[key] = owned
        memory.block.shared = 0
        self._allocations += 1
        return loan

    def _reserved(self) -> int:
        """Bytes that the pool holds of CANN, or is about to."""
        owned = list(self._owned.values())
        return sum(block.memory.nbytes for block in owned) + sum(list(self._asking.values()))

    def _make_room(self, size: int) -> None:
        if self.cap is None or self._reserved() <= self.cap:
            return
        self.trim()
        if self._reserved() > self.cap:
            message = (
                f"a result of {size} bytes does not fit the stream's pool, which holds "
                f"{self._reserved() - size} of at most {self.cap}.\n"
                "Hint: release results, or raise Stream.pool.cap."
            )
            raise OutOfMemoryError(message, routine="Stream.pool")

    def _give_back_unneeded(self, size: int) -> None:
        """Release what is idle beyond need, now that CANN is asked for one more block."""
        if not self._budget.ask(size):
            return
        idle = self._cached()
        self._budget.look(self._reserved() - idle)
        if idle > self._budget.nbytes:
            self._give_back(idle - self._budget.nbytes)
        for other, stack in list(self._free.items()):
            if not stack:
                self._give_up_all(self._free.pop(other, []))

    def _give_back(self, nbytes: int) -> None:
        """Release so many idle bytes at least, of what was used longest ago."""
        # No other stream has used what is idle: all uses are of this one.
        last_uses = [
            (max(use.submission for use in memory.block.uses), size)
            for size, stack in list(self._free.items())
            for memory, *_ in list(stack)
        ]
        for _, size in sorted(last_uses):
            if nbytes <= 0:
                return
            nbytes -= self._give_up_idle(self._free[size], 0)
            self._budget.give_back(size)

    def _look_closely(self, memory: Memory) -> None:
        """Decide about a block that is no longer on loan; other streams may have used it."""
        block = self._owned.get(id(memory))
        if block is not None and block.ending is not None:
            FINALIZER_QUEUE.due(block.ending)

    def _take_back(self, ending: _Return, memory: Memory, layout: Layout) -> None:
        """Reuse a block, or free it; the end of its loan may be reported twice."""
        block = self._owned.get(id(memory))
        if block is None or block.ending is not ending:
            return
        if self.enabled and memory.block.open and not memory.uses():
            memory.make_room()
            tensor = layout.tensor(memory, 0)
            tensor_at = raw.address_of(tensor)
            stack = self._free[layout.room]
            ticket = block.ticket(self, layout)
            # No call from here on: what is interrupted is done, or begins anew.
            stack += [(memory, ticket, layout, tensor, tensor_at)]
        else:
            self._give_up(memory)

    def _give_up(self, memory: Memory) -> None:
        """Free a block once every stream has passed its last use."""
        block = self._owned.pop(id(memory), None)
        if block is not None:
            block.close()

    def trim(self) -> int:
        """Free every block that is not in use, and return how many bytes that were."""
        return sum(self._give_up_all(stack) for stack in list(self._free.values()))

    def _give_up_all(self, stack: list[_Idle]) -> int:
        freed = 0
        while stack:
            freed += self._give_up_idle(stack, -1)
        return freed

    def _give_up_idle(self, stack: list[_Idle], place: int) -> int:
        """Free an idle block; return its size, or 0 if another thread was faster."""
        try:
            # One step: another thread, or a garbage collection, may take or return blocks.
            memory = stack.pop(place)[0]
        except IndexError:
            return 0
        self._give_up(memory)
        return memory.nbytes

    def _cached(self) -> int:
        """Bytes that are idle."""
        return sum(size * len(stack) for size, stack in list(self._free.items()))

    def stats(self) -> PoolStats:
        """Describe the pool's memory."""
        return PoolStats(self._reserved(), self._cached(), self._allocations, self.cap)

    def _retire(self) -> None:
        """Keep nothing any more: the stream is used no longer."""
        self.enabled = False
        self.trim()


def pool_of(timeline: Timeline) -> Pool:
    """Return the pool of a timeline."""
    if timeline.pool is None:
        timeline.pool = Pool(timeline)
    return timeline.pool  # type: ignore[return-value]  # only this function sets it
