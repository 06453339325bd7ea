# SPDX-License-Identifier: Apache-2.0
"""Survey of the NPUs of a cluster, each in its own process with deadlines, on any engine.

The processes of a node are asked for at once and hold their NPUs until all of the node are done: so
an NPU whose process was ended can come back, and be given to another process, but is recognised and
not touched again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from pyaclnn.health.child.processes import Terminated
from pyaclnn.health.report.record import Exit, Report, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


__all__ = ["Answer", "Ended", "FleetError", "Holds", "Limits", "Lost", "Node", "Stopped", "survey"]


class FleetError(RuntimeError):
    """No cluster is available; the message has the reason and the next step."""


@dataclass(frozen=True)
class Node:
    """A machine of a cluster, as its engine knows it.

    Attributes:
        id: The engine's id.
        name: The name for people.
        npus: Number of NPUs.
        free: Number of NPUs that were unused at first.
    """

    id: str
    name: str
    npus: int
    free: int


@dataclass(frozen=True)
class Ended:
    """End of the examination of one NPU.

    Attributes:
        node: The node.
        npu: The physical id of the NPU; None if none was to be had.
        status: ``PASS`` with a report; ``TIMEOUT``, ``CRASH`` or ``FAIL`` for what is broken, and
            ``ERROR`` for no conclusion.
        reason: The reason, in a sentence, if there is no report.
        report: The report.
        seconds: Duration.
    """

    node: Node
    npu: str | None
    status: Status
    reason: str = ""
    report: Report | None = None
    seconds: float = 0.0


_POLL: Final = 0.2


@dataclass(frozen=True)
class Holds:
    """A process has begun and holds an NPU.

    Attributes:
        npu: The physical id of the NPU.
    """

    npu: str


@dataclass(frozen=True)
class Lost:
    """A process is gone, or the engine could not start it.

    Attributes:
        reason: The reason.
    """

    reason: str


Answer = Holds | Report | Lost


class Engine(Protocol):
    """Starter of processes in a cluster."""

    def start(self, node: Node) -> Any:
        """Ask for a process on a node that holds an NPU, and return its handle."""

    def examine(self, process: Any) -> None:
        """Have a process that holds an NPU examine it."""

    def answers(self, wait: float) -> Iterable[tuple[Any, Answer]]:
        """Return what processes have answered since, after at most so many seconds."""

    def end(self, process: Any) -> None:
        """End a process, whatever it is doing, without waiting for it."""


@dataclass(frozen=True)
class Limits:
    """Limits of waiting.

    Attributes:
        patience: Seconds until a process must hold an NPU.
        deadline: Seconds that an examination may take.
        at_once: Number of NPUs of a node that are examined at the same time.
    """

    patience: float = 120.0
    deadline: float = 900.0
    at_once: int = 64


class Stopped(KeyboardInterrupt):
    """Somebody pressed Ctrl-C, or asked the process to end.

    Attributes:
        ended: End of the examination of each NPU, as far as it got.
        status: The exit status of a command.
    """

    def __init__(self, ended: list[Ended], status: int) -> None:
        self.ended = ended
        self.status = status
        super().__init__()


@dataclass
class _Slot:
    node: Node
    process: Any
    since: float
    npu: str | None = None
    examining: bool = False
    ended: Ended | None = None


def survey(
    engine: Engine,
    nodes: Sequence[Node],
    limits: Limits,
    notify: Callable[[Node, int, str | None, Ended | None], None] = lambda *_: None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Ended]:
    """Examine every NPU of a cluster.

    Args:
        engine: The starter of processes.
        nodes: The machines.
        limits: The limits of waiting.
        notify: Called with a node, the number of one of its processes, the NPU that this one
            examines, and how that ended, whenever that changes.
        clock: Seconds since some moment.

    Returns:
        The end of it for each NPU of each node, in the order of the nodes.

    Raises:
        Stopped: Somebody asked the process to end; it has what was found until then.
    """
    return _Survey(engine, nodes, limits, notify, clock).run()


class _Survey:
    def __init__(
        self,
        engine: Engine,
        nodes: Sequence[Node],
        limits: Limits,
        notify: Callable[[Node, int, str | None, Ended | None], None],
        clock: Callable[[], float],
    ) -> None:
        self.engine = engine
        self.limits = limits
        self._listener = notify
        self._clock = clock
        self.slots: dict[str, list[_Slot]] = {node.id: [] for node in nodes}
        self._by_process: dict[Any, _Slot] = {}
        self._nodes = nodes

    def run(self) -> list[Ended]:
        """Wait until every NPU is settled; end processes that still run then or at an error."""
        try:
            for node in self._nodes:
                for _ in range(node.npus):
                    process = self.engine.start(node)
                    slot = _Slot(node, process, self._clock())
                    self.slots[node.id].append(slot)
                    self._by_process[process] = slot
                    self._notify(slot)
            while any(slot.ended is None for slot in self._all()):
                for process, answer in self.engine.answers(_POLL):
                    self._take(self._by_process[process], answer)
                for node in self._nodes:
                    self._go_on(self.slots[node.id])
        except (KeyboardInterrupt, SystemExit, Terminated) as end:
            for slot in self._all():
                if slot.ended is None:
                    self._settle(slot, Status.NOT_RUN, "stopped before it had reported")
            status = getattr(end, "status", Exit.INTERRUPTED)
            raise Stopped(self._ended(), status) from None
        finally:
            for slot in self._all():
                self.engine.end(slot.process)
        return self._ended()

    def _ended(self) -> list[Ended]:
        return [slot.ended for slot in self._all() if slot.ended is not None]

    def _all(self) -> list[_Slot]:
        return [slot for slots in self.slots.values() for slot in slots]

    def _take(self, slot: _Slot, answer: Answer) -> None:
        if slot.ended is not None:
            return
        if isinstance(answer, Lost):
            self._settle(slot, Status.CRASH, answer.reason)
            self.engine.end(slot.process)
        elif isinstance(answer, Report):
            self._settle(slot, Status.PASS, report=answer)
        else:
            self._hold(slot, answer.npu)

    def _hold(self, slot: _Slot, npu: str) -> None:
        others = [s for s in self.slots[slot.node.id] if s.npu == npu and s is not slot]
        slot.npu = npu
        if not others:
            return  # its turn comes
        if any(_alive(other) for other in others):
            self._settle(slot, Status.FAIL, f"two processes were given NPU {npu} at the same time")
        else:
            # It came back from a process that failed there, and is only held now.
            slot.npu = None
            self._settle(slot, Status.ERROR, f"only NPU {npu} was to be had, which failed before")

    def _go_on(self, slots: Sequence[_Slot]) -> None:
        """Begin what may begin on a node, and give up what is late."""
        now = self._clock()
        running = sum(slot.examining and slot.ended is None for slot in slots)
        for slot in slots:
            if slot.ended is not None:
                continue
            if slot.npu is not None and not slot.examining and running < self.limits.at_once:
                slot.examining, slot.since = True, now
                running += 1
                self.engine.examine(slot.process)
                self._notify(slot)
            elif slot.npu is None and now - slot.since > self.limits.patience:
                self._never_began(slot, slots)
            elif slot.examining and now - slot.since > self.limits.deadline:
                self._settle(
                    slot, Status.TIMEOUT, f"no report within {self.limits.deadline:g} s; ended"
                )
                self.engine.end(slot.process)

    def _never_began(self, slot: _Slot, slots: Sequence[_Slot]) -> None:
        self.engine.end(slot.process)
        waited = f"within {self.limits.patience:g} s"
        if sum(one.npu is not None for one in slots) < slot.node.free:
            self._settle(slot, Status.TIMEOUT, f"no process began on the node {waited}")
        else:
            self._settle(slot, Status.ERROR, f"no NPU became free {waited}: others use it")

    def _settle(
        self, slot: _Slot, status: Status, reason: str = "", report: Report | None = None
    ) -> None:
        seconds = self._clock() - slot.since
        slot.ended = Ended(slot.node, slot.npu, status, reason, report, seconds)
        self._notify(slot)

    def _notify(self, slot: _Slot) -> None:
        number = self.slots[slot.node.id].index(slot)
        self._listener(slot.node, number, slot.npu, slot.ended)


def _alive(slot: _Slot) -> bool:
    """Return whether a process holds its NPU: one that has reported does until its node is done."""
    return slot.ended is None or slot.ended.status is Status.PASS
