# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays of a call side by side in one block of device memory.

Those of small calls are copied together, once each way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pyaclnn.calling.dynamic_shape import Descriptors, Unsettled
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.launch import settle
from pyaclnn.calling.operator import NO_PLAN
from pyaclnn.cann import raw
from pyaclnn.runtime.array import array_on_loan
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.pool import pool_of
from pyaclnn.runtime.progress import finished
from pyaclnn.runtime.stream import require_stream
from pyaclnn.runtime.transfer import copy_now, fetch_now, send_now

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pyaclnn.calling.call import Call
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.memory import Memory
    from pyaclnn.runtime.pool import Loan
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Bundle"]

_LARGEST: Final = 64 << 10
"""Bytes up to which copying arrays together costs less than copying each."""
_STEP: Final = 512
"""Where the next array begins: at a multiple of this, as blocks do."""
_APART: Final = 32
"""Bytes between two arrays at least: CANN's kernels move blocks of so many."""


class _Piece(NamedTuple):
    """One array: the place of its argument, that in a list or -1, and where it lies."""

    place: int
    item: int
    layout: Layout
    offset: int

    def among(self, arguments: Sequence[Any]) -> Any:
        """Return the array."""
        value = arguments[self.place]
        return value if self.item < 0 else value[self.item]

    def put(self, arguments: list[Any], value: object) -> None:
        """Put another one into its place."""
        if self.item >= 0:
            items = list(arguments[self.place])
            items[self.item] = value
            value = tuple(items)
        arguments[self.place] = value

    def view(self, host: NDArray[Any]) -> NDArray[Any]:
        """Return its part of the block's bytes on the host."""
        return np.ndarray(self.layout.shape, self.layout.dtype, host, self.offset)  # type: ignore[no-any-return]


class _Staging:
    """Host memory that small arrays of a call are copied through, with the views of each.

    Args:
        sent: The arrays that are copied to the device.
        fetched: Those that are copied back.
        nbytes: The size of the block.
    """

    __slots__ = ("_ends", "_start", "fetched", "sent")

    def __init__(self, sent: list[_Piece], fetched: list[_Piece], nbytes: int) -> None:
        host = np.zeros(nbytes, np.uint8)
        last = sent[-1].offset + sent[-1].layout.span if sent else 0
        self._start = fetched[0].offset if fetched else nbytes
        self.sent, self.fetched = ([p.view(host) for p in each] for each in (sent, fetched))
        ends = host[:last], host[self._start :]
        self._ends = [(raw.ffi.from_buffer(end), end.nbytes) for end in ends]

    def send(self, address: int) -> None:
        """Copy to the device what ``sent`` holds."""
        pointer, nbytes = self._ends[0]
        if nbytes:
            copy_now(raw.pointer_to(address), pointer, nbytes, raw.ACL_MEMCPY_HOST_TO_DEVICE)

    def fetch(self, address: int) -> None:
        """Copy to ``fetched`` what the device holds."""
        pointer, nbytes = self._ends[1]
        if nbytes:
            source = raw.pointer_to(address + self._start)
            copy_now(pointer, source, nbytes, raw.ACL_MEMCPY_DEVICE_TO_HOST)


class Bundle:
    """Places of the arrays of a call in one block: inputs, what is read and written, results.

    Args:
        pieces: The arrays in this order.
        sent: Number of those that are copied to the device.
        kept: Number of those that are not copied back.
        context: The address of the context.
        nbytes: The size of the block.
    """

    __slots__ = ("_block", "_fetched", "_message", "_pieces", "_sent", "_staging")

    def __init__(
        self, pieces: list[_Piece], sent: int, kept: int, context: int, nbytes: int
    ) -> None:
        self._pieces, self._sent, self._fetched = pieces, pieces[:sent], pieces[kept:]
        self._block = Layout.dense(context, np.dtype(np.uint8), (nbytes,))
        self._message: tuple[Any, bytes, int, list[Any]] = (None, b"", 0, [])
        self._staging: list[_Staging] = []

    @classmethod
    def of(cls, call: Call, arguments: Sequence[Any], context: int) -> Bundle:
        """Lay out the arrays of a call on the device of a context."""
        order = sorted(_arrays(call, arguments), key=lambda row: row[0])
        pieces, end = [], 0
        for _, place, item, value in order:
            layout = Layout.dense(context, value.dtype, tuple(value.shape))
            pieces.append(_Piece(place, item, layout, end))
            end += -(-(layout.span + _APART) // _STEP) * _STEP
        ranks = [rank for rank, *_ in order]
        sent, kept = len(ranks) - ranks.count(2), ranks.count(0)
        return cls(pieces, sent, kept, context, end)

    def run(
        self,
        call: Call,
        arguments: list[Any],
        requested: StreamLike | None,
        device: Device,
        timeline: Timeline,
    ) -> None:
        """Make the call, and wait for it.

        Args:
            call: The call.
            arguments: Its arguments; results take the places of those to be made.
            requested: The ``stream`` argument.
            device: The device, whose context is current.
            timeline: That of the stream.

        Raises:
            AclError: CANN refused the work, or the work failed.
        """
        # Copies happen at once, so the memory must not be one that queued work still uses.
        loan = pool_of(timeline)._take(self._block, device, idle=True)
        if call.interface.found_later:
            self._send(arguments, loan.memory)
            self._run_to_settle(call, arguments, requested, loan, device, timeline)
            return
        operator, known = call.operator, self._message
        if known[0] is not loan.tensor:
            known = self._message = self._addressed(call, arguments, loan, device)
        _, message, address, _ = known
        staging = None
        if self._block.size <= _LARGEST:
            staging = self._taken()
            for piece, view in zip(self._sent, staging.sent, strict=True):
                view[...] = piece.among(arguments)
            staging.send(address)
        else:
            self._send(arguments, loan.memory)
        with finished(timeline):
            status = operator.function(timeline.struct, NO_PLAN, 1, message)
            if status:
                stream = require_stream(call.interface.routine, requested, None)
                placed = self._placed(arguments, loan, device)
                settle(operator, status, stream, placed, message)
        if staging is None:
            self._fetch(arguments, loan.memory)
            return
        staging.fetch(address)
        for piece, view in zip(self._fetched, staging.fetched, strict=True):
            target = piece.among(arguments)
            if target.__class__ is Empty:
                piece.put(arguments, view.copy())
            else:
                np.copyto(target, view)
        self._staging.append(staging)

    def _taken(self) -> _Staging:
        """Return host memory that no other thread uses; what an exception leaves is lost."""
        try:
            return self._staging.pop()
        except IndexError:
            return _Staging(self._sent, self._fetched, self._block.size)

    def _run_to_settle(
        self,
        call: Call,
        arguments: list[Any],
        requested: StreamLike | None,
        loan: Loan,
        device: Device,
        timeline: Timeline,
    ) -> None:
        """Make a call whose results have shapes that are known only then."""
        given = self._placed(arguments, loan, device)
        with finished(timeline):
            stream = require_stream(call.interface.routine, requested, None)
            kept = Descriptors(call.operator, given, stream)
        for place in call.writes:
            if given[place] is not None:
                arguments[place] = Unsettled(given[place], kept, place).actual().numpy()

    def _send(self, arguments: Sequence[Any], memory: Memory) -> None:
        """Copy arrays to the device one by one."""
        for piece in self._sent:
            send_now(np.asarray(piece.among(arguments), order="C"), memory, piece.offset)

    def _fetch(self, arguments: list[Any], memory: Memory) -> None:
        """Copy results back one by one, into the arrays that are given or new ones."""
        for piece in self._fetched:
            target, layout = piece.among(arguments), piece.layout
            if target.__class__ is not Empty and target.flags.c_contiguous:
                fetch_now(target, memory, piece.offset)
                continue
            found = np.empty(layout.shape, layout.dtype)
            fetch_now(found, memory, piece.offset)
            if target.__class__ is Empty:
                piece.put(arguments, found)
            else:
                np.copyto(target, found)

    def _placed(self, given: Sequence[Any], loan: Loan, device: Device) -> list[Any]:
        """Return the arguments with device arrays, which keep the block on loan."""
        arguments, block = list(given), array_on_loan(loan, device)
        for piece in self._pieces:
            piece.put(arguments, block._seen_as(piece.layout, piece.offset))  # noqa: SLF001  # of a known layout
        return arguments

    def _addressed(
        self, call: Call, given: Sequence[Any], loan: Loan, device: Device
    ) -> tuple[Any, bytes, int, list[Any]]:
        """Return the launcher's message for arrays in a block, by the description of the block."""
        arguments = self._placed(given, loan, device)
        tensors = [piece.among(arguments)._tensor for piece in self._pieces]
        address = raw.address_of(loan.memory.pointer)
        return loan.tensor, call.operator.message(arguments), address, tensors


def _arrays(call: Call, arguments: Sequence[Any]) -> Iterator[tuple[int, int, int, Any]]:
    """Yield how each array is used, 0 to 2 as in a bundle, and where it is."""
    for place in call.interface.tensors:
        value = arguments[place]
        is_list = value.__class__ is tuple
        for item, array in enumerate(value if is_list else (value,)):
            if array is not None:
                use = 2 if array.__class__ is Empty else int(place in call.writes)
                yield use, place, item if is_list else -1, array
