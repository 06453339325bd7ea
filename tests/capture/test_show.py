# SPDX-License-Identifier: Apache-2.0
"""Calls of a trace are listed with their places, arguments and tensors, in words and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.cli import main

from .captured import capture, pyaclnn

if TYPE_CHECKING:
    from pathlib import Path


def test_the_show_command_lists_the_calls(trace: Path) -> None:
    done = pyaclnn("trace", "show", trace, "--operator", "aclnnMuls")
    assert done.returncode == 0
    assert "aclnnMulsGetWorkspaceSize(self=float32[4, 6]" in done.stdout
    assert "operators: aclnnAdd 2, aclnnMuls 2, aclnnRmsNorm 2" in done.stdout
    failed = pyaclnn("trace", "show", trace, "--failed", "--json").stdout.splitlines()
    rows = [json.loads(line) for line in failed]
    assert [row["name"] for row in rows[:-1] if row["name"].startswith("aclnnAdd")] == [
        "aclnnAddGetWorkspaceSize"
    ]
    assert rows[-1]["failed"]["aclnnAddGetWorkspaceSize"] == 1


def rows(trace: Path, *options: str) -> list[dict[str, Any]]:
    """Return the calls as JSON, without the totals."""
    lines = pyaclnn("trace", "show", trace, "--json", *options).stdout.splitlines()
    return [json.loads(line) for line in lines[:-1]]


def test_a_call_in_json_has_numbers_and_the_layouts_of_its_tensors(trace: Path) -> None:
    first, second, *_ = rows(trace, "--operator", "aclnnMuls")
    assert first["arguments"]["workspaceSize"] == 0
    assert first["arguments"]["executor"] == second["arguments"]["executor"] > 0
    layouts = [(t["name"], t["dtype"], t["shape"], t["strides"]) for t in first["tensors"]]
    assert layouts == [(name, "float32", [4, 6], [6, 1]) for name in ("self", "out")]
    assert (first["thread"], first["device"]) == (1, 0)


PLACES = """
import threading
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.cann.library import function
def work():
    assert function("aclrtSynchronizeDevice")() == 107002  # this thread has no context
    call("aclrtSetCurrentContext", other)
    call("aclrtSynchronizeDevice")
call("aclInit", raw.NULL)
call("aclrtSetDevice", 1)
first = fetch("aclrtGetCurrentContext", OUT)
other = fetch("aclrtCreateContext", OUT, 0)
call("aclrtSynchronizeDevice")
call("aclrtSetCurrentContext", first)
call("aclrtSynchronizeDevice")
thread = threading.Thread(target=work)
thread.start()
thread.join()
call("aclrtDestroyContext", other)
call("aclrtResetDevice", 1)
call("aclFinalize")
"""


def test_each_call_has_the_device_and_the_context_of_its_thread(tmp_path: Path) -> None:
    trace = capture(tmp_path / "run.trace", PLACES, "--contents", "none")
    found = {(r["thread"], r["name"]): r for r in rows(trace)}
    first = found[1, "aclrtGetCurrentContext"]["context"]
    other = found[1, "aclrtCreateContext"]["context"]
    places = [
        (r["thread"], r["device"], r["context"])
        for r in rows(trace)
        if r["name"] == "aclrtSynchronizeDevice"
    ]
    assert first != other
    assert places == [(1, 0, other), (1, 1, first), (2, None, None), (2, 0, other)]
    shown = pyaclnn("trace", "show", trace).stdout
    assert " t2 d0 aclrtSynchronizeDevice() = 0\n" in shown


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("aclnnMul", "did you mean 'aclnnMuls'?"),
        ("aclnnmuls", "did you mean 'aclnnMuls'?"),
        ("rms_norm", "did you mean 'aclnnRmsNorm'?"),
        ("quuxquuxquuxquux", "without --operator all are listed"),
    ],
)
def test_an_operator_that_a_trace_lacks_is_named(
    given: str, hint: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["trace", "show", str(trace), "--operator", given])
    message = f"pyaclnn trace show: run.trace has no call of '{given}'; {hint}\n"
    assert (status, *capsys.readouterr()) == (2, "", message)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        ("999999", "run.trace has no call 999999 of an operator"),
        ("0", "call 0 is aclInit, which calls no operator"),
    ],
)
def test_a_call_that_is_no_operators_leads_to_the_list_of_calls(
    number: str, reason: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["trace", "test", str(trace), number])
    message = f"pyaclnn trace test: {reason}; 'pyaclnn trace show {trace}' lists them\n"
    assert (status, *capsys.readouterr()) == (2, "", message)
