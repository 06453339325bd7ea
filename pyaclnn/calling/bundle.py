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
from pyaclnn.runtime.array import array_on_loan
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.pool import pool_of
from pyaclnn.runtime.progress import finished
from pyaclnn.runtime.transfer import fetch_now, send_now

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pyaclnn.calling.call import Call
    from pyaclnn.runtime.device import Device
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


class Bundle:
    """Places of the arrays of a call in one block: inputs, what is read and written, results.

    Args:
        pieces: The arrays in this order.
        sent: How many of them are copied to the device.
        kept: How many of those are not copied back.
        context: The address of the context.
        nbytes: The size of the block.
    """

    __slots__ = ("_block", "_fetched", "_message", "_pieces", "_sent")

    def __init__(
        self, pieces: list[_Piece], sent: int, kept: int, context: int, nbytes: int
    ) -> None:
        self._pieces, self._sent, self._fetched = pieces, pieces[:sent], pieces[kept:]
        self._block = Layout.dense(context, np.dtype(np.uint8), (nbytes,))
        self._message: tuple[Any, bytes, list[Any]] = (None, b"", [])

    @classmethod
    def of(cls, call: Call, context: int) -> Bundle:
        """Lay out the arrays of a call on the device of a context."""
        order = sorted(_arrays(call), key=lambda row: row[0])
        pieces, end = [], 0
        for _, place, item, value in order:
            layout = Layout.dense(context, value.dtype, tuple(value.shape))
            pieces.append(_Piece(place, item, layout, end))
            end += -(-(layout.span + _APART) // _STEP) * _STEP
        ranks = [rank for rank, *_ in order]
        sent, kept = len(ranks) - ranks.count(2), ranks.count(0)
        return cls(pieces, sent, kept, context, end)

    def run(self, call: Call, device: Device, timeline: Timeline) -> list[Any]:
        """Make the call, and wait for it.

        Args:
            call: The call.
            device: The device, whose context is current.
            timeline: That of the stream.

        Returns:
            Its arguments, with results in the places of those to be made.

        Raises:
            AclError: CANN refused the work, or the work failed.
        """
        # Copies happen at once, so the memory must not be one that queued work still uses.
        loan = pool_of(timeline)._take(self._block, device, idle=True)
        host = np.zeros(self._block.size, np.uint8) if self._block.size <= _LARGEST else None
        self._send(call.arguments, loan.memory, host)
        if call.interface.found_later:
            return self._run_to_settle(call, loan, device, timeline)
        operator, known = call.operator, self._message
        if known[0] is not loan.tensor:
            known = self._message = self._addressed(call, loan, device)
        with finished(timeline):
            status = operator.function(timeline.struct, NO_PLAN, 1, known[1])
            if status:
                given = self._arguments(call, loan, device)
                settle(operator, status, call.stream, given, known[1])
        return self._fetch(list(call.arguments), loan.memory, host)

    def _run_to_settle(
        self, call: Call, loan: Loan, device: Device, timeline: Timeline
    ) -> list[Any]:
        """Make a call whose results have shapes that are known only then."""
        arguments, given = list(call.arguments), self._arguments(call, loan, device)
        with finished(timeline):
            kept = Descriptors(call.operator, given, call.stream)
        for place in call.writes:
            if given[place] is not None:
                arguments[place] = Unsettled(given[place], kept, place).actual().numpy()
        return arguments

    def _send(self, given: Sequence[Any], memory: Memory, host: NDArray[Any] | None) -> None:
        """Copy arrays to the device, by way of the block's bytes on the host if these are given."""
        for piece in self._sent:
            value = piece.among(given)
            if host is None:
                send_now(np.asarray(value, order="C"), memory, piece.offset)
            else:
                piece.view(host)[...] = value
        if host is not None and self._sent:
            last = self._sent[-1]
            send_now(host[: last.offset + last.layout.span], memory)

    def _fetch(self, arguments: list[Any], memory: Memory, host: NDArray[Any] | None) -> list[Any]:
        """Copy results back, into the arrays that are given or new ones."""
        if host is not None and self._fetched:
            first = self._fetched[0].offset
            fetch_now(host[first:], memory, first)
        for piece in self._fetched:
            target, layout = piece.among(arguments), piece.layout
            if host is not None:
                found = piece.view(host)
            elif target.__class__ is not Empty and target.flags.c_contiguous:
                fetch_now(target, memory, piece.offset)
                continue
            else:
                found = np.empty(layout.shape, layout.dtype)
                fetch_now(found, memory, piece.offset)
            if target.__class__ is not Empty:
                np.copyto(target, found)
            else:
                piece.put(arguments, found if host is None else found.copy())
        return arguments

    def _arguments(self, call: Call, loan: Loan, device: Device) -> list[Any]:
        """Return the arguments with device arrays, which keep the block on loan."""
        arguments, block = list(call.arguments), array_on_loan(loan, device)
        for piece in self._pieces:
            piece.put(arguments, block._seen_as(piece.layout, piece.offset))  # noqa: SLF001  # of a known layout
        return arguments

    def _addressed(self, call: Call, loan: Loan, device: Device) -> tuple[Any, bytes, list[Any]]:
        """Return the launcher's message for arrays in a block, by the description of the block."""
        arguments = self._arguments(call, loan, device)
        tensors = [piece.among(arguments)._tensor for piece in self._pieces]
        return loan.tensor, call.operator.message(arguments), tensors


def _arrays(call: Call) -> Iterator[tuple[int, int, int, Any]]:
    """Yield how each array is used, 0 to 2 as in a bundle, and where it is."""
    for place in call.interface.tensors:
        value = call.arguments[place]
        is_list = value.__class__ is tuple
        for item, array in enumerate(value if is_list else (value,)):
            if array is not None:
                use = 2 if array.__class__ is Empty else int(place in call.writes)
                yield use, place, item if is_list else -1, array
