# SPDX-License-Identifier: Apache-2.0
"""A finding and its next step name the device that they are about, by all of its numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.finding import FAMILIES, Finding, check_rows, ok
from pyaclnn.health.checks.npu_smi import place_of
from pyaclnn.health.child.run_state import RunState
from pyaclnn.health.child.steps import device as steps
from pyaclnn.health.report.record import Status
from pyaclnn.runtime.device import MemoryInfo

if TYPE_CHECKING:
    from pathlib import Path

CHIPS = """\
	NPU ID     Chip ID    Chip Logic ID   Chip Name
	4          0          0               Ascend 910
	4          1          1               Ascend 910
	5          0          2               Ascend 910
	5          1          3               Ascend 910
"""


def environment(folder: Path, chips: str = CHIPS, visible: str | None = None) -> dict[str, str]:
    tool = folder / "npu-smi"
    (folder / "chips").write_text(chips, encoding="utf-8")
    tool.write_text(f'#!/bin/sh\n[ "$*" = "info -m" ] && exec cat {folder}/chips\nexit 1\n')
    tool.chmod(0o755)
    found = {"PATH": f"{folder}:/usr/bin:/bin"}
    return found if visible is None else {**found, "ASCEND_RT_VISIBLE_DEVICES": visible}


PLACES = [
    # device, visible devices; physical number, card and chip, options of npu-smi
    (0, None, 0, 4, 0, "-i 4"),
    (1, None, 1, 4, 1, "-i 4 -c 1"),
    (0, "2,3", 2, 5, 0, "-i 5"),
    (1, "2,3", 3, 5, 1, "-i 5 -c 1"),
    (1, "2", None, None, 0, "-i 1"),
]


@pytest.mark.parametrize(("device", "visible", "physical", "card", "chip", "options"), PLACES)
def test_a_device_has_a_logical_a_physical_and_npu_smi_s_number(
    tmp_path: Path,
    device: int,
    visible: str | None,
    physical: int | None,
    card: int | None,
    chip: int,
    options: str,
) -> None:
    place = place_of(device, environment(tmp_path, visible=visible))
    assert (place.logical, place.physical, place.card, place.chip) == (device, physical, card, chip)
    assert place.options == options


def test_without_npu_smi_the_physical_number_is_used() -> None:
    place = place_of(1, {"PATH": "/nowhere", "ASCEND_RT_VISIBLE_DEVICES": "3,6"})
    assert (place.physical, place.card, place.options) == (6, None, "-i 6")
    assert place.reason == "npu-smi is not on PATH"


def test_a_problem_of_a_device_names_it_and_its_next_step_does(tmp_path: Path) -> None:
    state = RunState(environment=environment(tmp_path, visible="2,3"))
    wrong = Finding(Status.FAIL, "hot", (), (), "npu-smi info -t temp -i ID; look after the fans")
    state.record(find("DEV-104"), wrong, device=1)
    state.record(find("DEV-104"), wrong)
    state.record(find("DEV-105"), ok("right"), device=1)
    state.add(find("DEV-104").result(wrong, 0.0, 1))  # as it comes from a child
    of_device, of_machine, fine, of_child = state.results
    assert (of_child.next_step, of_child.evidence) == (of_device.next_step, of_device.evidence)
    assert of_device.next_step == "npu-smi info -t temp -i 5 -c 1; look after the fans"
    [evidence] = of_device.evidence
    assert evidence.text == "logical 1, physical 3, npu-smi -i 5 -c 1"
    assert of_machine.next_step == wrong.next_step
    assert (of_machine.evidence, fine.evidence) == ((), ())


@pytest.mark.parametrize("family", FAMILIES)
def test_no_text_names_device_0_whatever_device_it_is_about(family: str) -> None:
    rows = [str(row) for row in check_rows(family).values()]
    assert [row for row in rows if "-i 0" in row] == []


@pytest.mark.parametrize(("count", "status"), [(2**31 - 1, Status.FAIL), (16, Status.PASS)])
def test_a_count_of_devices_that_no_machine_has_is_a_finding(
    count: int, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "fetch", lambda *_: count)
    monkeypatch.setattr(steps, "ensure_runtime", lambda: None)
    session = SimpleNamespace(
        load=lambda: None, facts={}, task=SimpleNamespace(expected_devices=None)
    )
    finding = steps._counts(session)  # type: ignore[arg-type]  # the parts that it uses
    assert finding.status is status
    assert session.facts["devices"] == (16 if status is Status.PASS else 1)


def test_the_memory_of_a_device_is_in_gib_and_the_little_that_is_free_in_mib() -> None:
    device = SimpleNamespace(id=0, memory_info=lambda: MemoryInfo(20 << 20, 64 << 30))
    finding = steps._opens(SimpleNamespace(device=device))  # type: ignore[arg-type]  # likewise
    assert finding.summary == "of 64.0 GiB only 20 MiB are free"
