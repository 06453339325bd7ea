# SPDX-License-Identifier: Apache-2.0
"""The report to read, and how a run shows itself while it goes on."""

from __future__ import annotations

import io
import re

import pytest
from msgspec.structs import replace
from rich.console import Console

from pyaclnn.health.checks.catalogue import Check
from pyaclnn.health.child.run_state import Finished, Planned, Progress, Started
from pyaclnn.health.command.live import LiveView, PlainView, view
from pyaclnn.health.report.fleet import fleet_verdict, merge
from pyaclnn.health.report.record import Evidence, Status
from pyaclnn.health.report.text import as_text, show
from pyaclnn.health.report.verdict import verdict
from tests.doctor import report_samples as samples
from tests.doctor.report_samples import report, result

FLEET = [replace(samples.BROKEN, host={"name": n}) for n in ("node-3", "node-5")]


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", ["healthy", "broken", "wrong_numbers", "no_cann", "unclear"])
def test_the_verdict_stands_first_and_last(name: str) -> None:
    text = as_text([samples.ALL[name]])
    headline = one_line(verdict(samples.ALL[name]).headline)
    assert one_line(text).startswith(headline)
    assert headline in one_line("\n".join(text.splitlines()[-5:]))


def test_figures_are_told_for_each_device_and_severities_in_words() -> None:
    text = as_text([samples.MEASURED])
    assert re.search(r"host_to_device_pinned +GB/s +24.1 +24.1\n", text)
    assert re.search(r"temperature +°C +41\n", text)
    assert "severity MONITOR: look at it again" in text
    simulated = replace(samples.MEASURED, backend="mock", simulated=True)
    assert "figures of the simulation" in as_text([simulated])


def test_a_simulated_npu_is_named_before_and_after_everything() -> None:
    lines = as_text([samples.SIMULATED]).splitlines()
    assert "SIMULATED NPU - not a chip" in lines[1]
    assert any("SIMULATED NPU" in line for line in lines[-5:])
    assert "SIMULATED" not in as_text([samples.HEALTHY])


def test_a_failure_tells_what_evidence_causes_in_order_and_one_next_step() -> None:
    text = as_text([samples.BROKEN])
    story = text[text.index("✗ FAIL DEV-103@0") :]
    order = [
        "aclrtSetDevice(0) failed with 507033",
        "code 507033 ACL_ERROR_RT_DEV_SETUP_ERROR",
        "function aclrtSetDevice",
        "EE9999: device retain failed",
        "1. driver and CANN do not fit together",
        "2. another container holds the device",
        "next: npu-smi info -t board -i 0",
    ]
    places = [story.index(words) for words in order]
    assert places == sorted(places)


def test_failures_come_before_warnings() -> None:
    text = as_text([samples.BROKEN])
    assert text.index("✗ FAIL DEV-103@0") < text.index("! WARN ENV-003")


def test_outputs_that_failed_are_named() -> None:
    text = as_text([samples.WRONG_NUMBERS])
    assert "rms_norm y float16 3x5x257: 97.00 % within tolerance, 99 % required" in text
    row = next(
        line for line in text.splitlines() if line.startswith("rms_norm_grad        bfloat16")
    )
    assert "no result" in row
    assert "FAIL" in row


def test_every_check_is_in_the_tree_under_its_category() -> None:
    tree = as_text([samples.BROKEN]).split("every check")[1]
    for check in samples.BROKEN.results:
        assert check.id in tree
    assert tree.index("environment\n") < tree.index("ENV-001") < tree.index("device\n")


def test_a_category_of_which_nothing_ran_is_one_line() -> None:
    idle = [result(f"HW-00{n}", Status.SKIP, category="devices") for n in range(3)]
    idle.append(result("HW-009", Status.NOT_RUN, category="devices"))
    text = as_text([report(result("ENV-001", category="environment"), *idle)])
    assert "devices  3 skipped, 1 not run\n" in text
    assert "HW-001" not in text


def test_long_evidence_is_cut_and_says_so() -> None:
    log = "\n".join(f"line {n}" for n in range(100))
    given = report(
        result("A-001", Status.FAIL, evidence=(Evidence("log", "plog", log),)), exit_status=1
    )
    text = as_text([given])
    assert "line 11\n" in text
    assert "line 12\n" not in text
    assert "88 more lines" in text


def test_plain_text_has_no_escape_sequences_and_no_trailing_spaces() -> None:
    text = as_text([samples.NASTY_REPORT])
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_a_terminal_gets_colours_but_never_the_escape_sequences_of_a_log() -> None:
    screen = io.StringIO()
    show([samples.NASTY_REPORT], Console(file=screen, force_terminal=True, width=90))
    assert "\x1b[1;31m" in screen.getvalue()
    assert "\x1b[31m $body" not in screen.getvalue()
    assert "\x00" not in screen.getvalue()


def test_a_fleet_shows_the_machines_and_each_failure_once() -> None:
    given = [*FLEET, samples.HEALTHY]
    text = as_text(given)
    assert text.startswith("3 machines: 2 broken, 1 working.")
    assert text.count("✗ FAIL DEV-103@0") == 1
    assert "2 of 3 machines: node-3, node-5" in text
    assert fleet_verdict(merge(given)).headline in text.splitlines()[-5:]


# ---- while it runs ------------------------------------------------------------------------------

CHECKS = (
    Check("ENV-001", "set_env.sh was sourced", "why", category="environment"),
    Check("DEV-104", "device opens", "why", category="device", group="device"),
)
PASSED = Finished(result("ENV-001", category="environment", title="set_env.sh was sourced"))
HUNG = Finished(
    result("DEV-104@0", Status.TIMEOUT, category="device", title="device opens", seconds=30.0)
)


def test_without_a_terminal_each_check_is_a_line() -> None:
    paper = io.StringIO()
    with view(Console(file=paper, width=40)) as tell:
        assert isinstance(tell, PlainView)
        for event in (Planned(CHECKS), Started(CHECKS[0]), PASSED, Started(CHECKS[1], 0), HUNG):
            tell(event)
    assert paper.getvalue() == (
        "    1/2 PASS    ENV-001 set_env.sh was sourced (0.2 s)\n"
        "    2/2 TIMEOUT DEV-104@0 device opens (30.0 s)\n"
    )


def test_checks_of_a_device_count_once_for_each_device() -> None:
    paper = io.StringIO()
    tell = PlainView(Console(file=paper, width=40))
    for event in (Planned(CHECKS), Started(CHECKS[1], 0), Started(CHECKS[1], 1), HUNG, PASSED):
        tell(event)
    assert [line.split()[0] for line in paper.getvalue().splitlines()] == ["1/3", "2/3"]


def test_without_a_terminal_a_slow_check_says_every_ten_seconds_that_it_is_still_at_it() -> None:
    paper = io.StringIO()
    tell = PlainView(Console(file=paper, width=120))
    for seconds in (0.5, 9.9, 10.1, 10.6, 19.0, 20.2):
        tell(Progress(CHECKS[1], 0, seconds, 30.0))
    assert paper.getvalue().splitlines() == [
        "        still at DEV-104@0 device opens: 10 s, given up after 30 s",
        "        still at DEV-104@0 device opens: 20 s, given up after 30 s",
    ]


def test_a_terminal_shows_what_is_done_what_runs_and_how_far_it_is() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, height=30)
    live = view(console)
    assert isinstance(live, LiveView)
    for event in (Planned(CHECKS), Started(CHECKS[0]), PASSED, Started(CHECKS[1], 0)):
        live(event)
    live(Progress(CHECKS[1], 0, 2.0, 30.0))
    drawing = io.StringIO()
    Console(file=drawing, width=100, height=30).print(live)
    text = drawing.getvalue()
    assert "environment ✓" in text
    assert "DEV-104@0 device opens" in text
    assert "1/2 checks" in text
    live(HUNG)
    drawing = io.StringIO()
    Console(file=drawing, width=100, height=30).print(live)
    assert "TIMEOUT DEV-104@0 device opens: DEV-104@0 found this" in drawing.getvalue()
    assert "2/2 checks" in drawing.getvalue()


def interrupted(console: Console) -> None:
    with LiveView(console) as live:
        live(Planned(CHECKS))
        raise KeyboardInterrupt


def test_the_live_view_gives_the_cursor_back_also_after_an_interruption() -> None:
    screen = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        interrupted(Console(file=screen, force_terminal=True, width=80, height=20))
    hidden, shown = "\x1b[?25l", "\x1b[?25h"
    assert screen.getvalue().rindex(shown) > screen.getvalue().rindex(hidden)


def test_a_long_run_fits_the_screen() -> None:
    live = LiveView(Console(file=io.StringIO(), force_terminal=True, width=80, height=12))
    live(Planned(CHECKS))
    for number in range(50):
        live(Finished(result(f"A-{number:03}", Status.WARN, category=f"family {number}")))
    drawing = io.StringIO()
    Console(file=drawing, width=80, height=12).print(live)
    assert len(drawing.getvalue().splitlines()) <= 12
    assert "A-049" in drawing.getvalue()
