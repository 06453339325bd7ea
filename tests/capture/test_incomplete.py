# SPDX-License-Identifier: Apache-2.0
"""A trace that grows, is cut off or is damaged is read as far as it goes, and called what it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from pyaclnn.capture.trace import TraceError, read_trace

from .captured import PROGRAM, capture, pyaclnn

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return capture(tmp_path_factory.mktemp("whole") / "run.trace", PROGRAM)


def test_a_trace_that_grows_is_read_up_to_the_same_place(trace: Path, tmp_path: Path) -> None:
    data, cut = trace.read_bytes(), tmp_path / "cut.trace"
    for length in range(0, len(data) + 1, len(data) // 50):
        cut.write_bytes(data[:length])
        if length < 16:
            continue
        assert list(read_trace(trace, length)) == list(read_trace(cut))


def test_an_incomplete_trace_is_called_so_in_every_report(trace: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.trace"
    cut.write_bytes(trace.read_bytes()[:-5])
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "junit", "report")}
    options = [word for kind, path in files.items() for word in (f"--{kind}", path)]
    done = pyaclnn("replay", cut, *options)
    words = "cut.trace is incomplete: the process was killed or still runs, or its disk was full"
    assert (done.returncode, done.stdout.count(f"{words}\n")) == (0, 1), done.stdout
    assert json.loads(files["json"].read_text())["incomplete"] == [words]
    (value,) = ET.parse(files["junit"]).iter("property")  # noqa: S314  # our own
    assert (value.get("name"), value.get("value")) == ("incomplete", words)
    assert f"\n\n{words}.\n" in files["report"].read_text()
    for pair in ((cut, trace), (trace, cut)):
        assert pyaclnn("trace", "compare", *pair).stdout.count(words) == 1
    assert "incomplete" not in pyaclnn("replay", trace).stdout


def test_a_damaged_block_is_named(trace: Path, tmp_path: Path) -> None:
    data = bytearray(trace.read_bytes())
    data[50] ^= 1  # the first block begins at 16 and ends before 52
    damaged = tmp_path / "damaged.trace"
    damaged.write_bytes(data)
    with pytest.raises(TraceError, match=r"damaged\.trace': the block at byte 16 is damaged"):
        list(read_trace(damaged))
    done = pyaclnn("trace", "show", damaged)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'head -c 16 FILE' has the calls before it" in done.stderr
