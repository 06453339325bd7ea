# SPDX-License-Identifier: Apache-2.0
"""A group of ranks: who has come, what they wait for, and what becomes of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pyaclnn.mock.collectives.agreement import disagreement
from pyaclnn.mock.collectives.operations import OPERATIONS, PAIRED, Taking
from pyaclnn.mock.collectives.packets import RESULTS, Answer, Answering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyaclnn.mock.collectives.memory import RankMemory
    from pyaclnn.mock.collectives.packets import Part, Submission

    Send = Callable[[Answer], None]

__all__ = ["Group", "Patience", "Rank"]

Key: TypeAlias = tuple[int, ...]
"""What tells operations of a group apart: the turn, and of a message who sends it to whom."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long ranks wait for each other, in seconds; 0: for ever.

    Attributes:
        connect: Until all have come to the group (``HCCL_CONNECT_TIMEOUT``).
        execute: Until all have come to an operation (``HCCL_EXEC_TIMEOUT``).
    """

    connect: float
    execute: float


@dataclass(eq=False, slots=True)
class Rank:
    """A rank of a group.

    Attributes:
        number: Which one.
        process: That of the host.
        device: Its device, as that process counts them.
        send: Sends it a packet.
        memory: That of its device; None before its first operation.
        gone: Why it takes part in nothing any more, or empty.
        awaited: Whether it was told that others wait for it.
    """

    number: int
    process: int
    device: int
    send: Send
    memory: RankMemory | None = None
    gone: str = ""
    awaited: bool = False


@dataclass(eq=False, slots=True)
class _Work:
    """A submission whose parts may end at different times."""

    rank: Rank
    submission: Submission
    left: int
    failed: bool = False

    def end(self, result: int = 0, text: str = "") -> None:
        """A part of it has ended."""
        self.left -= 1
        if self.failed or (result == 0 and self.left > 0):
            return
        self.failed = result != 0
        number = self.submission.number
        self.rank.send(Answer(Answering.DONE, number, result, text=text))


@dataclass(eq=False, slots=True)
class _Waiting:
    """An operation to which not all have come."""

    ranks: frozenset[int]
    until: float
    come: dict[int, tuple[_Work, Part]] = field(default_factory=dict)
    outcome: tuple[int, str] | None = None


class Group:
    """A group of ranks.

    Args:
        ranks: How many it has.
        patience: How long they wait for each other.
    """

    def __init__(self, ranks: int, patience: Patience) -> None:
        self._count, self._patience = ranks, patience
        self._ranks: dict[int, Rank] = {}
        self._waiting: dict[Key, _Waiting] = {}
        self._until = _moment(patience.connect)
        self._complete = False

    def join(self, rank: Rank, ranks: int) -> tuple[int, str]:
        """Take a rank in.

        Args:
            rank: The rank.
            ranks: How many ranks the group has in its eyes.

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
                each.send(Answer(Answering.WELCOME, flag=several))
        return 0, ""

    def submit(self, rank: Rank, submission: Submission) -> None:
        """A rank's stream has come to a piece of work."""
        work = _Work(rank, submission, len(submission.parts))
        for part in submission.parts:
            key, members = self._key(rank, part)
            waiting = self._waiting.get(key)
            if waiting is None:
                waiting = _Waiting(members, _moment(self._patience.execute))
                self._waiting[key] = waiting
            waiting.come[rank.number] = work, part
            if submission.given_up:
                text = f"EI0004: rank {rank.number} gave up {part.operation}: {submission.given_up}"
                self._fail(waiting, RESULTS["E_REMOTE"], text)
            self._settle(key, waiting)
        self._tell_awaited()

    def lose(self, rank: Rank, why: str, *, suddenly: bool) -> None:
        """A rank takes part in nothing any more.

        Args:
            rank: The rank.
            why: Why, as the end of a sentence that begins with it.
            suddenly: Whether the others are to be told although they may not wait for it.
        """
        rank.gone = f"EI0004: rank {rank.number} {why}"
        if not self._complete:
            self._ranks.pop(rank.number, None)
            return
        for key, waiting in list(self._waiting.items()):
            self._settle(key, waiting)
        if suddenly:
            for each in self._present():
                each.send(Answer(Answering.BROKEN, result=RESULTS["E_REMOTE"], text=rank.gone))
        self._tell_awaited()

    def is_over(self) -> bool:
        """Whether nobody is left."""
        return not any(self._present())

    def deadline(self) -> float:
        """The moment at which somebody's patience ends."""
        if not self._complete:
            return self._until
        return min((each.until for each in self._waiting.values()), default=_moment(0))

    def expire(self, now: float) -> None:
        """End what has waited too long."""
        if not self._complete and now >= self._until:
            missing = _names(number for number in range(self._count) if number not in self._ranks)
            text = (
                f"EI0006: after {self._patience.connect:g} s, {missing} of {self._count} "
                "did not come"
            )
            for rank in self._present():
                rank.send(Answer(Answering.WELCOME, result=RESULTS["E_TIMEOUT"], text=text))
            self._ranks.clear()
        for key, waiting in list(self._waiting.items()):
            if now >= waiting.until and waiting.outcome is None:
                operation = next(iter(waiting.come.values()))[1].operation
                missing = _names(sorted(waiting.ranks - waiting.come.keys()))
                text = (
                    f"EI0002: {operation}: after {self._patience.execute:g} s, {missing} did not "
                    "come to it"
                )
                self._fail(waiting, RESULTS["E_TIMEOUT"], text)
                self._settle(key, waiting)
        self._tell_awaited()

    def _present(self) -> Iterable[Rank]:
        return (rank for rank in self._ranks.values() if not rank.gone)

    def _key(self, rank: Rank, part: Part) -> tuple[Key, frozenset[int]]:
        if part.operation not in PAIRED:
            return (part.turn,), frozenset(range(self._count))
        pair = (rank.number, part.peer)
        sender, receiver = pair if part.operation == "Send" else pair[::-1]
        return (part.turn, sender, receiver), frozenset(pair)

    def _fail(self, waiting: _Waiting, result: int, text: str) -> None:
        waiting.outcome = waiting.outcome or (result, text)

    def _settle(self, key: Key, waiting: _Waiting) -> None:
        """End an operation if all have come, or if some never will."""
        missing = waiting.ranks - waiting.come.keys()
        gone = [self._ranks[number].gone for number in missing if self._ranks[number].gone]
        if gone:
            self._fail(waiting, RESULTS["E_REMOTE"], gone[0])
        if missing and waiting.outcome is None:
            return
        if waiting.outcome is None:
            waiting.outcome = self._run(waiting)
        for work, _ in waiting.come.values():
            work.end(*waiting.outcome)
        # Those who come later are told the same.
        waiting.ranks -= waiting.come.keys()
        waiting.come.clear()
        waiting.until = _moment(0)
        if not waiting.ranks or all(self._ranks[number].gone for number in waiting.ranks):
            del self._waiting[key]

    def _run(self, waiting: _Waiting) -> tuple[int, str]:
        all_ = []
        for number in sorted(waiting.come):
            work, part = waiting.come[number]
            if work.rank.memory is None:
                return RESULTS["E_INTERNAL"], f"EI0007: rank {number} has no memory"
            all_.append(Taking(number, part, work.rank.memory, work.submission.wrong))
        differ = disagreement(all_)
        if differ:
            return RESULTS["E_PARA"], f"EI0005: {differ}"
        try:
            OPERATIONS[all_[0].part.operation](all_)
        except (IndexError, KeyError, ValueError, MemoryError) as error:
            return RESULTS["E_INTERNAL"], f"EI0007: {all_[0].part.operation}: {error}"
        return 0, ""

    def _tell_awaited(self) -> None:
        """Tell each rank whether others wait for it, if that has changed."""
        awaited: set[int] = set()
        for waiting in self._waiting.values():
            awaited |= waiting.ranks - waiting.come.keys()
        for rank in self._present():
            if (rank.number in awaited) != rank.awaited:
                rank.awaited = not rank.awaited
                rank.send(Answer(Answering.AWAITED, flag=rank.awaited))


def _moment(seconds: float) -> float:
    return time.monotonic() + seconds if seconds else float("inf")


def _names(numbers: Iterable[int]) -> str:
    words = [str(number) for number in numbers]
    return f"rank{'s' if len(words) > 1 else ''} {', '.join(words)}"
