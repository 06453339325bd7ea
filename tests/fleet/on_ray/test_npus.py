# SPDX-License-Identifier: Apache-2.0
"""The survey: every NPU examined, and what becomes of one that fails."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.health import fleet
from pyaclnn.health.fleet.examination import LEFT
from pyaclnn.health.report.record import Status

from .nodes import MARKS, PATIENCE, another

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.health.fleet.survey import Ended, Node
    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import CheckResult

pytestmark = MARKS
QUICK = ("DEV-104",)
"""A device is opened, and no more."""
SLOW = ("DEV-104", "NUM-rms_norm")


def results(found: Fleet, node: str) -> dict[str, CheckResult]:
    report = next(r for n, r in zip(found.names, found.reports, strict=True) if n.startswith(node))
    return {result.id: result for result in report.results}


def opened(found: Fleet) -> dict[str, Status]:
    """Return the outcome of opening each NPU, by node and NPU."""
    return {
        f"{name.split()[0]}{result.id.partition('@')[2]}": result.status
        for name, report in zip(found.names, found.reports, strict=True)
        for result in report.results
        if result.id.startswith("DEV-104@")
    }


ALL = {"head0", "head1", "one0", "two0", "two1"}


def when_examined(act: Callable[[Node], None]) -> Callable[..., None]:
    """Something to do once, when the first NPU of a node has its process."""
    done: list[str] = []

    def tell(node: Node, _: int, npu: str | None, ended: Ended | None) -> None:
        if npu is not None and ended is None and not done:
            done.append(npu)
            act(node)

    return tell


def left() -> list[int]:
    """The processes that still hold an NPU when those that were ended have had time to."""
    end = time.monotonic() + PATIENCE
    while probes() and time.monotonic() < end:
        time.sleep(0.2)
    return probes()


def probes(title: bytes = b"ray::Probe") -> list[int]:
    """The processes that hold an NPU, or are about to; Ray shows in the title what one runs."""
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if title in read(path)
    ]


def examining() -> int:
    """A process that examines its NPU: others may still begin when the first one does."""
    end = time.monotonic() + PATIENCE
    while not (found := probes(b"ray::Probe.examine")):
        assert time.monotonic() < end, "no process examines its NPU"
        time.sleep(0.01)
    return found[0]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


def test_every_npu_is_examined_once_on_its_node(cluster: Any) -> None:
    found = fleet.examine(only=QUICK, patience=PATIENCE)
    assert opened(found) == dict.fromkeys(ALL, Status.PASS)
    assert found.exit_status == 0
    assert found.simulated
    assert results(found, "two")["RAY-101"].summary == "2 of 2 NPUs have reported"
    assert not left()
    assert cluster is not None


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("number", "deadline", "status", "words"),
    [
        (signal.SIGKILL, 120.0, Status.CRASH, "ActorDiedError"),
        (signal.SIGSTOP, 60.0, Status.TIMEOUT, "no report within 60 s"),
    ],
)
def test_a_process_that_is_killed_or_stands_still_costs_its_own_npu(
    number: signal.Signals, deadline: float, status: Status, words: str
) -> None:
    hit = when_examined(lambda _: os.kill(examining(), number))
    found = fleet.examine(only=SLOW, deadline=deadline, patience=PATIENCE, notify=hit)
    lost = [r for report in found.reports for r in report.results if r.id.startswith("RAY-102@")]
    assert [one.status for one in lost] == [status]
    assert words in lost[0].summary
    assert list(opened(found).values()) == [Status.PASS] * 4
    assert found.exit_status == 1
    assert not left()


def test_a_node_that_dies_is_told_and_the_others_go_on(cluster: Any) -> None:
    with another(cluster, "gone", 2) as node:

        def die(place: Node) -> None:
            if place.name == "gone":
                cluster.remove_node(node, allow_graceful=False)

        def tell(place: Node, _: int, npu: str | None, ended: Ended | None) -> None:
            if place.name == "gone" and npu is not None and ended is None and not dead:
                dead.append(npu)
                die(place)

        dead: list[str] = []
        found = fleet.examine(only=SLOW, patience=PATIENCE, notify=tell)
    assert dead
    assert opened(found).items() >= dict.fromkeys(ALL, Status.PASS).items()
    lost = [result for result in results(found, "gone").values() if result.status.broken]
    assert [one.summary.partition(";")[0] for one in lost] == [LEFT]
    assert found.exit_status == 1


def test_a_driver_that_hangs_is_named_and_wrong_numbers_are_those_of_their_npu(
    cluster: Any,
) -> None:
    hang = another(cluster, "hung", 1, PYACLNN_MOCK_FAULTS="aclnnRmsNorm=hang")
    wrong = another(cluster, "wrong", 1, PYACLNN_MOCK_FAULTS="aclnnRmsNorm=wrong")
    with hang, wrong:
        found = fleet.examine(only=SLOW, deadline=120, patience=PATIENCE)
    bad = {
        (name.split()[0], result.id)
        for name, report in zip(found.names, found.reports, strict=True)
        for result in report.results
        if result.status.broken
    }
    assert bad == {("hung", "NUM-rms_norm@0"), ("wrong", "NUM-rms_norm@0")}
    hung, wrong_one = (results(found, name)["NUM-rms_norm@0"] for name in ("hung", "wrong"))
    assert (hung.status, wrong_one.status) == (Status.TIMEOUT, Status.FAIL)
    assert "aclrtSynchronizeStreamWithTimeout" in hung.summary
    assert opened(found).items() >= dict.fromkeys(ALL, Status.PASS).items()


@pytest.mark.usefixtures("cluster")
def test_an_npu_that_others_use_could_not_be_examined() -> None:
    import ray  # noqa: PLC0415  # where it is

    class Job:
        def work(self) -> bool:
            return True

    job = ray.remote(num_cpus=0, resources={"NPU": 1}, max_restarts=0)(Job).remote()
    assert ray.get(job.work.remote(), timeout=PATIENCE)
    try:
        found = fleet.examine(only=QUICK, patience=15)
    finally:
        ray.kill(job)
    assert len(opened(found)) == 4
    (untold,) = [r for report in found.reports for r in report.results if r.status is Status.ERROR]
    assert "others use it" in untold.summary
    assert found.exit_status == 3


def test_an_id_that_a_node_has_twice_is_a_finding(cluster: Any) -> None:
    with another(cluster, "twin", 2, ASCEND_RT_VISIBLE_DEVICES="3,3"):
        found = fleet.examine(only=QUICK, patience=PATIENCE)
    twice = results(found, "twin")["RAY-102@3"]
    assert twice.status is Status.FAIL
    assert "two processes were given NPU 3" in twice.summary
