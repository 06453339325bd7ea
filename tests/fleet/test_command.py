# SPDX-License-Identifier: Apache-2.0
"""The command: what it says where there is nothing to examine, and what it shows meanwhile."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from pyaclnn.cli import main
from pyaclnn.health.fleet.survey import Ended, Node
from pyaclnn.health.fleet.view import Cells
from pyaclnn.health.report.record import Status
from tests.doctor import report_samples as samples

if TYPE_CHECKING:
    from collections.abc import Sequence

NODES = [Node("a", "node-a", 2, 2), Node("b", "node-b", 1, 1)]
ENDS = [
    (NODES[0], 0, "0", Ended(NODES[0], "0", Status.PASS, report=samples.HEALTHY, seconds=2.0)),
    (NODES[0], 1, "1", Ended(NODES[0], "1", Status.PASS, report=samples.BROKEN, seconds=3.0)),
    (NODES[1], 0, None, Ended(NODES[1], None, Status.TIMEOUT, "no process began", seconds=9.0)),
]


def test_without_ray_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["fleet", "doctor", "--simulate", "2"]) == 3
    said = capfd.readouterr().err
    assert said.startswith("pyaclnn fleet doctor: ")
    assert "pip install 'pyaclnn[ray]'" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--simulate", "0"], "'0' is no number of NPUs"),
        (["--simulate", "2", "--address", "a:1"], "goes without --address"),
        (["--only", "NONSENSE-1"], "NONSENSE-1"),
        (["--json", "/nowhere/x.json"], "there is no folder"),
        (["--deadline", "soon"], "soon"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(
    arguments: Sequence[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    try:
        status: object = main(["fleet", "doctor", *arguments])
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert words in capfd.readouterr().err


def test_without_a_terminal_each_npu_is_a_line() -> None:
    paper = io.StringIO()
    with Cells(Console(file=paper, width=60)) as cells:
        cells.begin(NODES)
        for end in ENDS:
            cells.notify(*end)
    assert paper.getvalue().splitlines() == [
        "3 NPUs on 2 nodes, each in a process of its own",
        "      1/3 PASS    node-a NPU 0 (2.0 s)",
        (
            "      2/3 FAIL    node-a NPU 1: DEV-103 Device 0 can be opened: "
            "aclrtSetDevice(0) failed with 507033 (ACL_ERROR_RT_DEV_SETUP_ERROR) (3.0 s)"
        ),
        "      3/3 TIMEOUT node-b NPU ?: no process began (9.0 s)",
    ]


def test_on_a_terminal_the_cells_stay_above_the_report() -> None:
    paper = io.StringIO()
    with Cells(Console(file=paper, width=90, height=20, force_terminal=True)) as cells:
        cells.begin(NODES)
        for end in ENDS:
            cells.notify(*end)
    *_, last = paper.getvalue().split("3 of 3 NPUs are done after")
    erase = "\x1b[2K"
    assert "passed" in last
    assert erase not in last


def test_on_a_terminal_each_npu_is_a_cell() -> None:
    screen = Console(file=io.StringIO(), width=90, height=20, force_terminal=True)
    cells = Cells(screen)
    cells.begin(NODES)
    cells.notify(*ENDS[0])
    cells.notify(NODES[0], 1, "1", None)
    cells.notify(*ENDS[2])
    with screen.capture() as drawn:
        screen.print(cells)
    text = drawn.get()
    assert "2 of 3 NPUs are done after" in text
    for sign in "✓▸⧖":
        assert sign in text.partition("NPUs")[0]
