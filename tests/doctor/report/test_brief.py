# SPDX-License-Identifier: Apache-2.0
"""Default output of the command: a verdict of one line, and little more."""

from __future__ import annotations

import io

import pytest
from msgspec.structs import replace
from rich.console import Console

from pyaclnn.health.report.record import Evidence, Report, Status
from pyaclnn.health.report.text import Detail, show
from pyaclnn.health.report.verdict import verdict
from tests.doctor import report_samples as samples
from tests.doctor.report_samples import report, result

WORDS = "much to say " * 40
TALKATIVE = report(
    *(
        result(
            f"NUM-{number:03}@{device}",
            Status.FAIL,
            summary=f"{WORDS}\n{WORDS}",
            evidence=tuple(Evidence("log", WORDS, f"{WORDS}\n" * 30) for _ in range(9)),
            causes=(WORDS, WORDS, WORDS),
            next_step="npu-smi info -t health -i 0",
            numbers=samples.WRONG_NUMBERS.results[1].numbers,
        )
        for number in range(6)
        for device in range(2)
    ),
    exit_status=1,
)


def printed(*reports: Report, detail: Detail = Detail.BRIEF, terminal: bool = False) -> list[str]:
    paper = io.StringIO()
    show(
        reports,
        Console(file=paper, width=110, force_terminal=terminal, color_system=None),
        detail,
    )
    return paper.getvalue().splitlines()


@pytest.mark.parametrize("given", [*samples.ALL.values(), TALKATIVE])
def test_a_machine_is_told_on_25_lines(given: Report) -> None:
    lines = printed(given, terminal=True)
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 110
    headline = verdict(given).headline[:9]
    assert any(line.startswith(headline) for line in lines[:2])


def test_a_fleet_of_two_is_told_on_25_lines() -> None:
    other = replace(TALKATIVE, host={"name": "other"})
    assert len(printed(TALKATIVE, other, terminal=True)) <= 25


def test_the_reason_is_whole_in_a_pipe() -> None:
    for given in (printed(TALKATIVE), printed(TALKATIVE, detail=Detail.QUIET)):
        assert WORDS.strip() in " ".join(line.strip() for line in given)


def test_the_same_failure_on_two_devices_is_told_once() -> None:
    text = "\n".join(printed(samples.report(
        samples.SETUP_FAILED,
        replace(samples.SETUP_FAILED, id="DEV-103@1"),
        exit_status=1,
    )))  # fmt: skip
    assert text.count("✗ FAIL DEV-103") == 1
    assert "more problem" not in text


def test_without_cann_five_lines_say_so() -> None:
    lines = printed(samples.NO_CANN)
    assert len(lines) <= 5
    assert lines[0] == "There is no CANN on this machine."
    assert "pyaclnn doctor --backend mock" in "\n".join(lines)


@pytest.mark.parametrize("given", samples.ALL.values(), ids=samples.ALL)
def test_quiet_is_the_verdict_alone(given: Report) -> None:
    assert len(printed(given, detail=Detail.QUIET)) <= 8
    assert not any("-v shows everything" in line for line in printed(given, detail=Detail.QUIET))


def test_verbose_is_everything() -> None:
    text = "\n".join(printed(samples.BROKEN, detail=Detail.FULL))
    assert "every check" in text
    assert "2. another container holds the device" in text
