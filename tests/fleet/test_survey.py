# SPDX-License-Identifier: Apache-2.0
"""The survey without an engine: who is asked for what, and what is given up or left alone."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.health.fleet.survey import Ended, Holds, Limits, Lost, Node, Stopped, survey
from pyaclnn.health.report.record import Status
from tests.doctor import report_samples as samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyaclnn.health.fleet.survey import Answer

HUNG = object()
"""Script entry of a process that never answers."""


@dataclass
class Script:
    """An engine whose processes answer what was written down for them, one answer a second."""

    answers_of: dict[tuple[str, int], list[Any]]
    now: float = 0.0
    ended: list[tuple[str, int]] = field(default_factory=list)
    examined: list[tuple[str, int]] = field(default_factory=list)
    most_at_once: int = 0
    on_second: Callable[[float], None] = lambda _: None

    def __post_init__(self) -> None:
        self._asked: dict[tuple[str, int], Any] = {}
        self._numbers = {name: itertools.count() for name in "abc"}

    def start(self, node: Node) -> tuple[str, int]:
        process = node.id, next(self._numbers[node.id])
        self._asked[process] = self.answers_of[process].pop(0)
        return process

    def examine(self, process: tuple[str, int]) -> None:
        self.examined.append(process)
        self._asked[process] = self.answers_of[process].pop(0)
        self.most_at_once = max(self.most_at_once, len(self.examined) - len(self.ended))

    def answers(self, wait: float) -> Iterable[tuple[tuple[str, int], Answer]]:
        assert wait > 0
        self.now += 1
        self.on_second(self.now)
        ready = [(p, a) for p, a in self._asked.items() if a is not HUNG and p not in self.ended]
        for process, _ in ready:
            del self._asked[process]
        return ready

    def end(self, process: tuple[str, int]) -> None:
        if process not in self.ended:
            self.ended.append(process)


def node(name: str, npus: int, free: int | None = None) -> Node:
    return Node(name, f"node-{name}", npus, npus if free is None else free)


def healthy(*npus: str) -> list[list[Any]]:
    return [[Holds(npu), samples.HEALTHY] for npu in npus]


def script(**answers: list[list[Any]]) -> Script:
    return Script({(name, n): one for name, all_ in answers.items() for n, one in enumerate(all_)})


LIMITS = Limits(patience=10, deadline=20, at_once=8)


def run(engine: Script, *nodes: Node, limits: Limits = LIMITS) -> list[Ended]:
    return survey(engine, nodes, limits, clock=lambda: engine.now)


def said(ended: Iterable[Ended]) -> list[tuple[str, str | None, Status]]:
    return [(one.node.id, one.npu, one.status) for one in ended]


def test_every_npu_of_every_node_reports_once() -> None:
    engine = script(a=healthy("0", "1"), b=healthy("4", "5"), c=healthy("0"))
    ended = run(engine, node("a", 2), node("b", 2), node("c", 1))
    assert said(ended) == [
        (name, npu, Status.PASS)
        for name, npu in (("a", "0"), ("a", "1"), ("b", "4"), ("b", "5"), ("c", "0"))
    ]
    assert all(one.report is samples.HEALTHY for one in ended)
    assert sorted(engine.ended) == sorted(engine.examined)


@pytest.mark.parametrize(
    ("answers", "status", "words"),
    [
        ([Holds("1"), Lost("SIGSEGV")], Status.CRASH, "SIGSEGV"),
        ([Lost("the node has died")], Status.CRASH, "the node has died"),
        ([Holds("1"), HUNG], Status.TIMEOUT, "no report within 20 s"),
        ([HUNG], Status.TIMEOUT, "no process began on the node within 10 s"),
        ([Holds("0"), HUNG], Status.FAIL, "two processes were given NPU 0"),
    ],
)
def test_what_goes_wrong_with_one_leaves_the_others_alone(
    answers: list[Any], status: Status, words: str
) -> None:
    engine = script(a=[*healthy("0"), answers], b=healthy("0"))
    first, second, third = run(engine, node("a", 2), node("b", 1))
    assert (first.status, third.status) == (Status.PASS, Status.PASS)
    assert second.status is status
    assert words in second.reason
    assert ("a", 1) in engine.ended


@pytest.mark.parametrize(
    ("first", "status", "words"),
    [
        ([Holds("0"), HUNG], Status.FAIL, "two processes were given NPU 0"),  # under examination
        ([Holds("0"), samples.HEALTHY], Status.FAIL, "two processes were given NPU 0"),  # held yet
        ([Holds("0"), Lost("SIGSEGV")], Status.ERROR, "which failed before"),  # given back
    ],
)
def test_an_npu_belongs_to_a_process_until_that_has_failed(
    first: list[Any], status: Status, words: str
) -> None:
    engine = script(a=[first, [HUNG]])

    def give_it_again(second: float) -> None:
        if second == 4:
            engine._asked["a", 1] = Holds("0")

    engine.on_second = give_it_again
    _, second = run(engine, node("a", 2), limits=Limits(patience=60, deadline=20))
    assert second.status is status
    assert words in second.reason
    assert ("a", 1) not in engine.examined


def test_an_npu_in_use_by_others_is_no_fault_of_the_node() -> None:
    engine = script(a=[*healthy("0"), [HUNG]])
    _, second = run(engine, node("a", 2, free=1))
    assert second.status is Status.ERROR
    assert "others use it" in second.reason


def test_an_npu_that_failed_is_not_touched_again() -> None:
    """Its process is ended, the engine gives it to the next one, and that one is only held."""
    engine = script(a=[[Holds("0"), HUNG], [HUNG], *healthy("2")])

    def free(_: float) -> None:
        if ("a", 0) in engine.ended and engine._asked.get(("a", 1)) is HUNG:
            engine._asked["a", 1] = Holds("0")

    engine.on_second = free
    limits = Limits(patience=60, deadline=20)
    first, second, third = run(engine, node("a", 3), limits=limits)
    assert (first.status, third.status) == (Status.TIMEOUT, Status.PASS)
    assert second.status is Status.ERROR
    assert "which failed before" in second.reason
    assert ("a", 1) not in engine.examined


def test_no_more_are_examined_at_once_than_allowed() -> None:
    engine = script(a=healthy("0", "1", "2", "3", "4"))
    ended = run(engine, node("a", 5), limits=Limits(patience=60, deadline=20, at_once=2))
    assert [one.status for one in ended] == [Status.PASS] * 5
    assert engine.examined == [("a", n) for n in range(5)]


def test_of_an_npu_whose_turn_has_not_come_it_is_not_said_that_it_is_examined() -> None:
    at_work: dict[int, bool] = {}
    most: list[int] = []

    def tell(_: Node, number: int, npu: str | None, ended: Ended | None) -> None:
        at_work[number] = npu is not None and ended is None
        most.append(sum(at_work.values()))

    engine = script(a=healthy("0", "1", "2", "3", "4"))
    limits = Limits(patience=60, deadline=20, at_once=2)
    survey(engine, [node("a", 5)], limits, tell, clock=lambda: engine.now)
    assert max(most) == 2
    assert most[-1] == 0


def test_whoever_watches_is_told_of_each_change() -> None:
    told: list[tuple[str, int, str | None, bool]] = []
    engine = script(a=healthy("7"))
    survey(
        engine,
        [node("a", 1)],
        LIMITS,
        lambda place, number, npu, end: told.append((place.id, number, npu, end is not None)),
        clock=lambda: engine.now,
    )
    assert told == [("a", 0, None, False), ("a", 0, "7", False), ("a", 0, "7", True)]


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (SystemExit, 130)])
def test_who_is_stopped_ends_everything_and_tells_what_was_found(
    error: type[BaseException], status: int
) -> None:
    engine = script(a=[*healthy("0"), [Holds("1"), HUNG]])

    def stop(second: float) -> None:
        if second > 3:
            raise error

    engine.on_second = stop
    with pytest.raises(Stopped) as caught:
        run(engine, node("a", 2))
    assert [one.status for one in caught.value.ended] == [Status.PASS, Status.NOT_RUN]
    assert caught.value.status == status
    assert sorted(engine.ended) == [("a", 0), ("a", 1)]
