# SPDX-License-Identifier: Apache-2.0
"""Verdict of a report."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pyaclnn.health.report.record import CheckResult, Report, Status
from pyaclnn.health.report.verdict import about, first_problem, in_order, tally, verdict
from tests.doctor import report_samples as samples
from tests.doctor.report_samples import report, result

QUICK = report(result("ENV-001"), level="quick")
NUMBERS = (result("DEV-104@0"), result("NUM-003@0"), result("DEV-104@1"))
NO_NUMBERS = report(result("ENV-001"), result("DEV-104@0"), result("NUM-003@0", Status.SKIP))
NO_DEVICE = report(
    result("DEV-101"),
    result("HW-001", Status.FAIL, summary="no /dev/davinci node", next_step="lsmod"),
    exit_status=4,
)
WARNED = report(result("A-001"), result("A-002", Status.WARN, next_step="mend it"))

TONES = [
    (samples.HEALTHY, "good", "CANN 8.1.RC1 on Ascend910B3 works (3 passed, 1 skipped)."),
    (QUICK, "good", "no device was touched"),
    (NO_NUMBERS, "good", "is in order, but no numbers were computed (2 passed, 1 skipped)."),
    (report(*NUMBERS), "good", "no numbers were computed"),
    (report(*NUMBERS, result("NUM-003@1")), "good", "CANN 8.1.RC1 on Ascend910B3 works"),
    (WARNED, "good", "1 passed, 1 warned"),
    (replace(WARNED, exit_status=1), "broken", "What A-002 is about: A-002 found"),
    (samples.BROKEN, "broken", "Device 0 can be opened: aclrtSetDevice(0) failed with 507033"),
    (samples.SIMULATED, "simulated", "The simulated NPU does what it should"),
    (samples.NO_CANN, "nothing", "There is no CANN on this machine."),
    (NO_DEVICE, "nothing", "no device can be used: no /dev/davinci node"),
    (samples.UNCLEAR, "unclear", "Could not tell: the check itself failed"),
    (report(result("A-001", Status.SKIP), exit_status=3), "unclear", "no check came to a"),
    (replace(WARNED, exit_status=143), "unclear", "Stopped before the end; of what"),
    (replace(samples.BROKEN, exit_status=130), "broken", "Device 0 can be opened:"),
]


@pytest.mark.parametrize(("given", "tone", "words"), TONES)
def test_the_verdict_says_what_the_exit_status_says(given: Report, tone: str, words: str) -> None:
    said = verdict(given)
    assert said.tone == tone
    assert words in said.headline


@pytest.mark.parametrize("simulated", [False, True])
def test_the_verdict_names_every_check_that_warned(simulated: bool) -> None:
    found = report(result("A-001"), *(result(f"B-10{n}@0", Status.WARN) for n in (2, 2, 3, 4)))
    said = verdict(replace(found, simulated=simulated))
    assert said.detail.startswith("B-102@0 warns: B-102@0 found this. B-103, B-104 warn, too. ")


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (Status.WARN, "B-101 warns: B-101 found this. B-102 warns, too."),
        (Status.ERROR, "B-101 could not tell: B-101 found this. B-100, B-102 warn."),
    ],
)
def test_the_verdict_names_the_check_whose_next_step_it_gives(first: Status, words: str) -> None:
    passed = result("A-001")
    before = result("B-100", Status.PASS if first is Status.WARN else Status.WARN, next_step="no")
    given = [result("B-101", first, next_step="mend it"), result("B-102", Status.WARN)]
    said = verdict(report(passed, before, *given))
    assert (said.result, said.next_step) == (given[0], "mend it")
    assert said.detail.startswith(words)


def test_the_first_broken_check_decides_and_gives_its_next_step() -> None:
    said = verdict(samples.BROKEN)
    assert said.result == samples.SETUP_FAILED
    assert said.next_step == "npu-smi info -t board -i 0"


@pytest.mark.parametrize(
    ("statuses", "first"),
    [
        ([Status.WARN, Status.ERROR, Status.FAIL, Status.CRASH], Status.FAIL),
        ([Status.WARN, Status.ERROR], Status.ERROR),
        ([Status.PASS, Status.WARN], Status.WARN),
        ([Status.PASS, Status.SKIP, Status.NOT_RUN], None),
    ],
)
def test_what_is_broken_matters_more_than_what_is_unclear(
    statuses: list[Status], first: Status | None
) -> None:
    found: CheckResult | None = first_problem(report(*(result("A-001", s) for s in statuses)))
    assert (found.status if found else None) is first


def test_what_says_itself_what_was_being_tried_is_not_told_that_again() -> None:
    crash = "the process was ended by SIGSEGV while trying: What A-001 is about"
    given = report(result("A-001", Status.CRASH, summary=crash), exit_status=1)
    assert verdict(given).headline == crash


@pytest.mark.parametrize("given", [samples.SIMULATED, replace(QUICK, simulated=True)])
def test_a_simulated_backend_never_makes_a_machine_fine(given: Report) -> None:
    said = verdict(given)
    assert said.tone != "good"
    assert "simulated" in said.headline
    assert "says nothing about this machine" in said.detail


def test_a_failure_on_the_simulated_npu_says_so() -> None:
    given = replace(samples.BROKEN, simulated=True)
    assert verdict(given).headline.startswith("On the simulated NPU: ")


@pytest.mark.parametrize(
    "given", [samples.NO_CANN, NO_DEVICE, report(exit_status=4, backend="none")]
)
def test_without_cann_or_a_device_it_says_how_to_try_the_simulated_npu(given: Report) -> None:
    said = verdict(given)
    assert "pyaclnn doctor --backend mock" in f"{said.detail} {said.next_step}"


def test_counting() -> None:
    counts = tally(samples.BROKEN.results)
    assert in_order(counts) == "1 passed, 1 warned, 1 failed, 2 not run"
    assert in_order({}) == "no checks"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "CANN 8.1.RC1 on Ascend910B3"),
        ({"cann_version": None}, "CANN on Ascend910B3"),
        ({"soc_name": None}, "CANN 8.1.RC1"),
        ({"backend": "none"}, "no CANN"),
        ({"simulated": True}, "the simulated NPU (Ascend910B3)"),
    ],
)
def test_what_was_examined(changes: dict[str, object], words: str) -> None:
    assert about(report(**changes)) == words
