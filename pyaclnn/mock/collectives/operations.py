# SPDX-License-Identifier: Apache-2.0
"""Operations of HCCL, in the memory of the ranks' devices: a function each.

Everything is read before anything is written, so that a rank may receive where it has sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.mock.collectives.arithmetic import data_type, reduced
from pyaclnn.mock.protocol.call_codec import Reader, read_call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from pyaclnn.mock.collectives.packets import Part
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Call

__all__ = ["LISTED", "OPERATIONS", "PAIRED", "REDUCING", "RankWork"]

REDUCING: Final = frozenset({"AllReduce", "Reduce", "ReduceScatter", "ReduceScatterV"})
"""Operations with a reduction."""
LISTED: Final = frozenset({"AlltoAllV", "AllGatherV", "ReduceScatterV"})
"""Operations whose counts are lists, another one for each rank."""
PAIRED: Final = frozenset({"Send", "Recv"})
"""The two sides of what two ranks do."""


@dataclass(frozen=True, slots=True)
class RankWork:
    """The part of one rank in an operation.

    Attributes:
        rank: Which one.
        part: Its request.
        memory: That of its device.
        wrong: It receives wrong numbers, by an injected fault.
    """

    rank: int
    part: Part
    memory: DeviceMemory
    wrong: bool

    def sent(self, count: int, start: int = 0) -> NDArray[Any]:
        """Elements of what it sends."""
        return self._array(self.part.send, count, start)

    def receive(self, values: NDArray[Any], start: int = 0) -> None:
        """Write what it receives."""
        array = self._array(self.part.receive, values.size, start)
        array[...] = values
        if self.wrong:
            array += array.dtype.type(1)

    def listed(self, which: int, ranks: int) -> tuple[int, ...]:
        """One of its lists of counts and displacements."""
        return self.part.lists[which * ranks : (which + 1) * ranks]

    def call(self) -> Call:
        """The call of its operator.

        Raises:
            WireError: It is not well-formed.
        """
        encoded = b"".join(word.to_bytes(8, "little") for word in self.part.lists)
        return read_call(Reader(encoded[: self.part.count]))

    def _array(self, address: int, count: int, start: int) -> NDArray[Any]:
        dtype = data_type(self.part.data_type)
        return self.memory.elements(address + start * dtype.itemsize, count, dtype)


def _total(all_: Sequence[RankWork], count: int, start: int = 0) -> NDArray[Any]:
    return reduced(all_[0].part.reduction, [each.sent(count, start) for each in all_])


def _barrier(all_: Sequence[RankWork]) -> None:
    """That all have come is all."""


def _all_reduce(all_: Sequence[RankWork]) -> None:
    total = _total(all_, all_[0].part.count)
    for each in all_:
        each.receive(total)


def _reduce(all_: Sequence[RankWork]) -> None:
    part = all_[0].part
    all_[part.peer].receive(_total(all_, part.count))


def _broadcast(all_: Sequence[RankWork]) -> None:
    part = all_[0].part
    values = all_[part.peer].sent(part.count).copy()
    for each in all_:
        if each.rank != part.peer:
            each.receive(values)


def _scatter(all_: Sequence[RankWork]) -> None:
    part = all_[0].part
    values = all_[part.peer].sent(part.count * len(all_)).copy().reshape(len(all_), -1)
    for each in all_:
        each.receive(values[each.rank])


def _reduce_scatter(all_: Sequence[RankWork]) -> None:
    totals = _total(all_, all_[0].part.count * len(all_)).reshape(len(all_), -1)
    for each in all_:
        each.receive(totals[each.rank])


def _all_gather(all_: Sequence[RankWork]) -> None:
    values = np.concatenate([each.sent(each.part.count) for each in all_])
    for each in all_:
        each.receive(values)


def _all_to_all(all_: Sequence[RankWork]) -> None:
    ranks, count = len(all_), all_[0].part.count
    values = np.stack([each.sent(count * ranks).copy().reshape(ranks, -1) for each in all_])
    for each in all_:
        each.receive(values[:, each.rank].reshape(-1))


def _all_to_all_v(all_: Sequence[RankWork]) -> None:
    ranks = len(all_)
    values = [
        [
            each.sent(count, start).copy()
            for count, start in zip(each.listed(0, ranks), each.listed(1, ranks), strict=True)
        ]
        for each in all_
    ]
    for each in all_:
        for sender, start in enumerate(each.listed(3, ranks)):
            each.receive(values[sender][each.rank], start)


def _all_gather_v(all_: Sequence[RankWork]) -> None:
    values = [each.sent(each.part.count).copy() for each in all_]
    for each in all_:
        for sender, start in enumerate(each.listed(1, len(all_))):
            each.receive(values[sender], start)


def _reduce_scatter_v(all_: Sequence[RankWork]) -> None:
    ranks = len(all_)
    totals = [
        reduced(
            each.part.reduction,
            [
                other.sent(each.part.count, other.listed(1, ranks)[each.rank]).copy()
                for other in all_
            ],
        )
        for each in all_
    ]
    for each, total in zip(all_, totals, strict=True):
        each.receive(total)


def _send(pair: Sequence[RankWork]) -> None:
    sender, receiver = sorted(pair, key=lambda each: each.part.operation == "Recv")
    receiver.receive(sender.sent(sender.part.count).copy())


OPERATIONS: Final[Mapping[str, Callable[[Sequence[RankWork]], None]]] = {
    "Barrier": _barrier,
    "AllReduce": _all_reduce,
    "Reduce": _reduce,
    "Broadcast": _broadcast,
    "Scatter": _scatter,
    "ReduceScatter": _reduce_scatter,
    "AllGather": _all_gather,
    "AlltoAll": _all_to_all,
    "AlltoAllV": _all_to_all_v,
    "AllGatherV": _all_gather_v,
    "ReduceScatterV": _reduce_scatter_v,
    "Send": _send,
    "Recv": _send,
}
"""Name of an operation -> its function, which gets all ranks in their order."""
