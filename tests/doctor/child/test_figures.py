# SPDX-License-Identifier: Apache-2.0
"""Figures of the simulated NPU, and the detection of wrong ones."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import pyaclnn
from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.checks.finding import Finding
from pyaclnn.health.child.journal import ChildTask
from pyaclnn.health.child.probe import step_of
from pyaclnn.health.child.session import Session
from pyaclnn.health.child.steps.figures import meet
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import Severity, Status
from pyaclnn.mock import faults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZE = 4096
FIRST, SECOND = 2, 3
"""Devices that no other room opens: they are empty, as the places of stuck bits suppose."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    pyaclnn.select_backend("mock")
    task = ChildTask(
        backend="mock",
        device=FIRST,
        simulated=True,
        figure_bytes=SIZE,
        figure_seconds=0.0,
        memory_seconds=0.0,
        peers=(FIRST, SECOND),
        meeting=str(tmp_path_factory.mktemp("meeting")),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYACLNN_MOCK_DEVICES", str(SECOND + 1))
        opened = Session(task)
        opened.device  # noqa: B018  # opens it
        yield opened
        opened.close()


def step(session: Session, check: str, **but: Any) -> Finding:
    before = session.task
    session.task = replace(before, **but)
    try:
        found = step_of(check)(session)
    finally:
        session.task = before
    assert found is not None
    return found


NAMES = {
    "FIG-101": {
        *("host_to_device_pinned", "device_to_host_pinned"),
        *("host_to_device_pageable", "device_to_host_pageable"),
    },
    "FIG-102": {"within_device", "device_memory"},
    "FIG-103": {f"to_device_{SECOND}"},
    "FIG-104": {"copies_beside_computing"},
    "FIG-108": {"matrix_products"},
    "FIG-105": {"launches", "launches_of_a_plan", "launches_on_4_streams"},
}


@pytest.mark.parametrize("check", NAMES)
def test_figures_are_positive_numbers_with_names_and_units(session: Session, check: str) -> None:
    found = step(session, check)
    assert found.status is Status.PASS, found
    assert {figure.name for figure in found.figures} == NAMES[check]
    for figure in found.figures:
        assert figure.value > 0 or figure.unit == "ratio"
        assert f"{figure.name} {figure.value:.4g} {figure.unit}" in found.summary


def test_all_devices_begin_together(session: Session) -> None:
    meeting = session.task.meeting
    other = threading.Thread(target=meet, args=(meeting, 1, 2))
    other.start()
    found = step(session, "FIG-107")
    other.join()
    assert [figure.name for figure in found.figures] == ["host_to_device_beside_others"]
    assert found.summary.endswith("2 devices at a time")


def test_who_does_not_come_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    assert meet(str(tmp_path), 0, 2, patience=0.01) == 1


def test_alone_there_is_nobody_to_copy_to(session: Session) -> None:
    assert step(session, "FIG-103", peers=(FIRST,)).status is Status.SKIP


@pytest.mark.parametrize(
    ("fault", "check", "slower"),
    [
        ("aclrtMemcpyAsync=slow:20000", "FIG-101", "host_to_device_pinned"),
        ("aclrtMemcpy=slow:20000", "FIG-101", "device_to_host_pageable"),
        (f"aclnnRmsNorm@{FIRST}=slow:500", "FIG-105", "launches"),
        (f"aclnnMm@{FIRST}=slow:2000", "FIG-108", "matrix_products"),
    ],
)
def test_what_is_slow_shows_in_its_figure(
    session: Session, fault: str, check: str, slower: str
) -> None:
    with faults(fault):
        [figure] = [f for f in step(session, check).figures if f.name == slower]
    most = {"GB/s": SIZE / 0.02 / 1e9, "1/s": 1 / 0.0005, "TFLOP/s": 2 * 128**3 / 0.002 / 1e12}
    assert figure.value <= most[figure.unit]


def test_a_wrong_element_of_a_product_is_no_figure(session: Session) -> None:
    with faults("aclnnMm=wrong"):
        found = step(session, "FIG-108")
    assert (found.status, found.figures) == (Status.FAIL, ())
    assert "of 128 rows of a matrix product are wrong" in found.summary


@pytest.mark.parametrize("check", ["FIG-101", "FIG-102", "FIG-103"])
def test_a_copy_that_loses_a_bit_is_no_figure(session: Session, check: str) -> None:
    # The first block lies 512 bytes behind the beginning of the memory.
    places = [f"{device}:{512 + byte}" for device in (FIRST, SECOND) for byte in range(4)]
    with faults("; ".join(f"stuck={place}:3" for place in places)):
        found = step(session, check)
    assert found.status is Status.FAIL
    assert found.figures == ()
    assert "of 4096 bytes differ" in found.summary


# ---- memory -------------------------------------------------------------------------------------


def test_good_memory_holds_every_pattern(session: Session) -> None:
    found = step(session, "MEM-101", memory_seconds=60.0)
    assert found.status is Status.PASS
    values = {figure.name: figure.value for figure in found.figures}
    assert values == {"memory_tested": 4 * SIZE, "memory_bit_errors": 0}
    assert "hold 20 patterns" in found.summary
    assert "on the simulated NPU" in found.summary


def test_a_share_of_the_memory_can_be_asked_for(session: Session) -> None:
    free = session.device.memory_info().free
    found = step(session, "MEM-101", memory_share=10 * SIZE / free)
    tested = found.figures[0].value
    assert 9 * SIZE < tested <= 10 * SIZE
    assert "hold 2 patterns" in found.summary  # there was no time for more


def test_where_memory_ends_the_test_ends(session: Session) -> None:
    with faults(f"memory={3 * SIZE + 100}"):
        found = step(session, "MEM-101", memory_share=1.0)
    assert found.status is Status.PASS
    assert found.figures[0].value == 3 * SIZE


@pytest.mark.parametrize(
    ("byte", "bit"), [(512, 0), (512 + 5 * 1000 + 3, 7), (512 + 4 * SIZE - 1, 4)]
)
def test_a_stuck_bit_is_found_with_its_address(session: Session, byte: int, bit: int) -> None:
    first = pyaclnn.Buffer(64, session.device)
    base = first.address - 512  # nothing else is allocated
    first.close()
    with faults(f"stuck={FIRST}:{byte}:{bit}; stuck={SECOND}:{byte}:1"):
        found = step(session, "MEM-101")
    assert found.status is Status.FAIL
    assert f"first {base + byte:#x} bit {bit}: 1 instead of 0" in found.summary
    places = {re.match(r"0x\w+ bit \d", item.label) for item in found.evidence[1:]}
    assert {place[0] for place in places if place} == {f"{base + byte:#x} bit {bit}"}
    assert all("again when read once more" in item.text for item in found.evidence[1:])
    assert found.causes[0] == "a cell of the memory is damaged"


def test_memory_that_is_damaged_is_not_to_be_used() -> None:
    assert (
        find("MEM-101").result(Finding(Status.FAIL, "damaged"), 1.0, 0).severity is Severity.DRAIN
    )


# ---- the whole ----------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_slow_device_among_four_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_DEVICES", "4")
    # The time of a copy is simulated for each device: other load would make them differ.
    slow = [f"aclrtMemcpy*@{n}=slow:{100_000 if n == 2 else 10_000}" for n in range(4)]
    monkeypatch.setenv("PYACLNN_MOCK_FAULTS", "; ".join([*slow, "stuck=1:70000:3"]))
    options = Options(
        Level.LONG, backend="mock", only=("FIG", "MEM"), skip=("DEV-107",), figure_bytes=1 << 16,
        figure_seconds=0.0, memory_seconds=0.0,
    )  # fmt: skip
    report = run(options)
    results = {result.id: result for result in report.results}
    assert results["FIG-201@2"].severity.value == "DRAIN"
    assert "host_to_device_pinned" in {item.label for item in results["FIG-201@2"].evidence}
    assert results["MEM-101@1"].status is Status.FAIL
    assert results["FIG-107@0"].summary.endswith("4 devices at a time")
    assert report.exit_status == 1


@pytest.mark.exhaustive
def test_nobody_copies_to_a_device_that_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_DEVICES", "2")
    monkeypatch.setenv("PYACLNN_MOCK_FAULTS", "aclrtCreateStream*@1=207008")
    report = run(Options(Level.LONG, backend="mock", only=("FIG-103",), figure_seconds=0.0))
    states = {result.id: result.status for result in report.results}
    assert states["DEV-106@1"] is Status.FAIL
    assert states["FIG-103@1"] is Status.NOT_RUN
    assert states["FIG-103@0"] is Status.SKIP
