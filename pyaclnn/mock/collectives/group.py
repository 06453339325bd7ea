# SPDX-License-Identifier: Apache-2.0
"""Groups of ranks: membership, pending operations, and their results."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pyaclnn.base.errors import text_of
from pyaclnn.mock.collectives.agreement import disagreement
from pyaclnn.mock.collectives.operations import OPERATIONS, PAIRED, RankWork
from pyaclnn.mock.collectives.packets import RESULTS, AnswerKind, AnswerPacket
from pyaclnn.mock.protocol.memory import DeviceMemoryError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyaclnn.mock.collectives.packets import Part, SubmitPacket
    from pyaclnn.mock.protocol.memory import DeviceMemory

    Send = Callable[[AnswerPacket], None]

__all__ = ["Group", "Rank", "Timeouts"]

Key: TypeAlias = tuple[int, ...]
"""Key of an operation: its sequence number; of a message also its sender and receiver."""
Member: TypeAlias = tuple[int, str]
"""Member of an operation: a rank, and its side of a message, because a rank may send to itself."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of ranks that wait for each other, in seconds; 0: none.

    Attributes:
        connect: Until all have joined the group (``HCCL_CONNECT_TIMEOUT``).
        execute: Until all have arrived at an operation (``HCCL_EXEC_TIMEOUT``).
    """

    connect: float
    execute: float


@dataclass(eq=False, slots=True)
class Rank:
    """A rank of a group.

    Attributes:
        number: Its number.
        process: That of the host.
        device: Its device, as that process counts them.
        send: Sends it a packet.
        memory: That of its device; None before its first operation.
        lost: Why it no longer takes part, or empty.
        awaited: It was notified that others wait for it.
    """

    number: int
    process: int
    device: int
    send: Send
    memory: DeviceMemory | None = None
    lost: str = ""
    awaited: bool = False


@dataclass(eq=False, slots=True)
class _Work:
    """A submission whose parts may end at different times."""

    rank: Rank
    submission: SubmitPacket
    left: int
    failed: bool = False

    def end(self, result: int = 0, text: str = "") -> None:
        """End a part of it."""
        self.left -= 1
        if self.failed or (result == 0 and self.left > 0):
            return
        self.failed = result != 0
        number = self.submission.number
        self.rank.send(AnswerPacket(AnswerKind.DONE, number, result, text=text))


@dataclass(eq=False, slots=True)
class _Waiting:
    """An operation at which not all members have arrived."""

    members: frozenset[Member]
    until: float
    come: dict[Member, tuple[_Work, Part]] = field(default_factory=dict)
    outcome: tuple[int, str] | None = None

    def missing(self) -> frozenset[Member]:
        """Return the members that have not arrived."""
        return self.members - self.come.keys()


class Group:
    """A group of ranks.

    Args:
        ranks: Number of ranks.
        timeouts: Seconds that they wait for each other.
    """

    def __init__(self, ranks: int, timeouts: Timeouts) -> None:
        self._count, self._timeouts = ranks, timeouts
        self._ranks: dict[int, Rank] = {}
        self._waiting: dict[Key, _Waiting] = {}
        self._until = _moment(timeouts.connect)
        self._complete = False

    def join(self, rank: Rank, ranks: int) -> tuple[int, str]:
        """Take a rank in.

        Args:
            rank: The rank.
            ranks: The number of ranks that it expects.

        Returns:
            A result and its text; 0: it is in.
        """
        if ranks != self._count:
            return RESULTS["E_PARA"], (
                f"EI0005: rank {rank.number} speaks of {ranks} ranks, others of {self._count}"
            )
        if rank.number in self._ranks or self._complete:
            return RESULTS["E_PARA"], f"EI0003: rank {rank.number} has come before"
        for other in self._ranks.values():
            if (other.process, other.device) == (rank.process, rank.device):
                return RESULTS["E_PARA"], (
                    f"EI0003: ranks {other.number} and {rank.number} have the same device, "
                    f"{rank.device} of process {rank.process}"
                )
        self._ranks[rank.number] = rank
        if len(self._ranks) == self._count:
            self._complete = True
            several = len({each.process for each in self._ranks.values()}) > 1
            for each in self._ranks.values():
                each.send(AnswerPacket(AnswerKind.WELCOME, flag=several))
        return 0, ""

    def submit(self, rank: Rank, submission: SubmitPacket) -> None:
        """Add the work that a rank's stream has reached."""
        work = _Work(rank, submission, len(submission.parts))
        for part in submission.parts:
            key, members = self._key(rank, part)
            waiting = self._waiting.get(key)
            if waiting is None:
                waiting = _Waiting(members, _moment(self._timeouts.execute))
                self._waiting[key] = waiting
            waiting.come[_member(rank.number, part)] = work, part
            if submission.abort_reason:
                reason = submission.abort_reason
                text = f"EI0004: rank {rank.number} gave up {part.operation}: {reason}"
                self._fail(waiting, RESULTS["E_REMOTE"], text)
            self._finish(key, waiting)
        self._notify_awaited()

    def remove(self, rank: Rank, why: str, *, unexpected: bool) -> None:
        """Remove a rank from the group.

        Args:
            rank: The rank.
            why: The reason, as the end of a sentence that begins with the rank.
            unexpected: Notify the others even if they do not wait for it.
        """
        rank.lost = f"EI0004: rank {rank.number} {why}"
        if not self._complete:
            self._ranks.pop(rank.number, None)
            return
        for key, waiting in list(self._waiting.items()):
            # Its memory is gone with it: the others cannot use what it submitted.
            for member in [each for each in waiting.come if each[0] == rank.number]:
                del waiting.come[member]
            self._finish(key, waiting)
        if unexpected:
            for each in self._present():
                each.send(
                    AnswerPacket(AnswerKind.BROKEN, result=RESULTS["E_REMOTE"], text=rank.lost)
                )
        self._notify_awaited()

    def is_over(self) -> bool:
        """Return whether no rank is left."""
        return not any(self._present())

    def deadline(self) -> float:
        """Return the time of the next timeout."""
        if not self._complete:
            return self._until
        return min((each.until for each in self._waiting.values()), default=_moment(0))

    def expire(self, now: float) -> None:
        """End what has waited too long."""
        if not self._complete and now >= self._until:
            missing = _names(number for number in range(self._count) if number not in self._ranks)
            text = (
                f"EI0006: after {self._timeouts.connect:g} s, {missing} of {self._count} "
                "did not come"
            )
            for rank in self._present():
                rank.send(AnswerPacket(AnswerKind.WELCOME, result=RESULTS["E_TIMEOUT"], text=text))
            self._ranks.clear()
        for key, waiting in list(self._waiting.items()):
            if now >= waiting.until and waiting.outcome is None:
                operation = next(iter(waiting.come.values()))[1].operation
                missing = _names(sorted({number for number, _ in waiting.missing()}))
                text = (
                    f"EI0002: {operation}: after {self._timeouts.execute:g} s, {missing} did not "
                    "come to it"
                )
                self._fail(waiting, RESULTS["E_TIMEOUT"], text)
                self._finish(key, waiting)
        self._notify_awaited()

    def _present(self) -> Iterable[Rank]:
        return (rank for rank in self._ranks.values() if not rank.lost)

    def _key(self, rank: Rank, part: Part) -> tuple[Key, frozenset[Member]]:
        if part.operation not in PAIRED:
            members = frozenset(_member(number, part) for number in range(self._count))
            return (part.sequence,), members
        pair = (rank.number, part.peer)
        sender, receiver = pair if part.operation == "Send" else pair[::-1]
        return (part.sequence, sender, receiver), frozenset({(sender, "Send"), (receiver, "Recv")})

    def _fail(self, waiting: _Waiting, result: int, text: str) -> None:
        waiting.outcome = waiting.outcome or (result, text)

    def _finish(self, key: Key, waiting: _Waiting) -> None:
        """End an operation if all ranks have arrived, or if one never will."""
        missing = waiting.missing()
        lost = [self._ranks[number].lost for number, _ in missing if self._ranks[number].lost]
        if lost:
            self._fail(waiting, RESULTS["E_REMOTE"], lost[0])
        if missing and waiting.outcome is None:
            return
        if waiting.outcome is None:
            waiting.outcome = self._run(waiting)
        for work, _ in waiting.come.values():
            work.end(*waiting.outcome)
        # Ranks that arrive later get the same result.
        waiting.members = missing
        waiting.come.clear()
        waiting.until = _moment(0)
        if all(self._ranks[number].lost for number, _ in missing):
            del self._waiting[key]

    def _run(self, waiting: _Waiting) -> tuple[int, str]:
        all_ = []
        for (number, _), (work, part) in sorted(waiting.come.items(), key=lambda each: each[0]):
            if work.rank.memory is None:
                return RESULTS["E_INTERNAL"], f"EI0007: rank {number} has no memory"
            all_.append(RankWork(number, part, work.rank.memory, work.submission.wrong))
        differ = disagreement(all_)
        if differ:
            return RESULTS["E_PARA"], f"EI0005: {differ}"
        try:
            _function_of(all_[0].part.operation)(all_)
        except (DeviceMemoryError, KeyError, ValueError, MemoryError) as error:
            return RESULTS["E_INTERNAL"], f"EI0007: {all_[0].part.operation}: {text_of(error)}"
        return 0, ""

    def _notify_awaited(self) -> None:
        """Report to each rank whether others wait for it, if that has changed."""
        awaited: set[int] = set()
        for waiting in self._waiting.values():
            awaited |= {number for number, _ in waiting.missing()}
        for rank in self._present():
            if (rank.number in awaited) != rank.awaited:
                rank.awaited = not rank.awaited
                rank.send(AnswerPacket(AnswerKind.AWAITED, flag=rank.awaited))


def _function_of(operation: str) -> Callable[[Sequence[RankWork]], None]:
    if operation != "Operator":
        return OPERATIONS[operation]
    from pyaclnn.mock.collectives.kernels import run_kernels  # noqa: PLC0415  # few groups need it

    return run_kernels


def _member(number: int, part: Part) -> Member:
    return number, part.operation if part.operation in PAIRED else ""


def _moment(seconds: float) -> float:
    return time.monotonic() + seconds if seconds else float("inf")


def _names(numbers: Iterable[int]) -> str:
    words = [str(number) for number in numbers]
    return f"rank{'s' if len(words) > 1 else ''} {', '.join(words)}"
