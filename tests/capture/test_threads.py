# SPDX-License-Identifier: Apache-2.0
"""Threads that wait while the recorder waits too: each content and failure is there, once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.capture import session
from pyaclnn.capture.trace import Absent, Call, Contents, read_trace
from pyaclnn.mock import cflags, ldflags
from tests.mock_libs.programs import COMPILER
from tests.mock_libs.sanitized import OPTIONS, build_recorder, flags_of, link_to, start

from .captured import pyaclnn

if TYPE_CHECKING:
    from pyaclnn.capture.trace import Record
    from tests.kept import Keep

SOURCE = Path(__file__).parent / "c" / "threads.c"
ROUNDS = 6


def build(program: Path, *options: str) -> Path:
    command = [*COMPILER, "-O1", "-pthread", str(SOURCE), "-o", str(program), *cflags(), *options]
    subprocess.run(command, check=True)
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("programs") / "threads", *ldflags())


def additions(records: list[Record]) -> set[int]:
    """Return the numbers of the additions that are in no graph."""
    found, drawing = set(), set()
    for record in records:
        if isinstance(record, Call):
            if record.name == "aclmdlRICaptureBegin":
                drawing.add(record.thread)
            elif record.name == "aclmdlRICaptureEnd":
                drawing.remove(record.thread)
            elif record.name == "aclnnAdd" and record.thread not in drawing:
                found.add(record.number)
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(4))
def test_each_operator_has_all_its_contents(seed: int, program: Path, tmp_path: Path) -> None:
    trace = tmp_path / "run.trace"
    done = pyaclnn("capture", "-o", trace, "--contents", "full", "--", program, ROUNDS, seed)
    assert (done.stdout, done.stderr, done.returncode) == ("0\n", "", 0)
    records = list(read_trace(trace))
    assert not [record for record in records if isinstance(record, Absent)]
    found: dict[int, dict[str, Contents]] = {number: {} for number in additions(records)}
    assert len(found) > ROUNDS
    for record in records:
        if isinstance(record, Contents) and record.call in found:
            found[record.call][record.name] = record
    for operands in found.values():
        x, y, out = (operands[name].data for name in ("self", "other", "out"))
        assert x is not None
        assert y == x
        assert out == (2 * np.frombuffer(x, np.float32)).tobytes()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(8))
def test_a_failure_is_reported_to_one_wait(seed: int, program: Path, tmp_path: Path) -> None:
    faults = {"PYACLNN_MOCK_FAULTS": f"aclnnAdd:{20 + 17 * seed}=async:507015"}
    options = ("--", program, ROUNDS, seed, "fault")
    done = pyaclnn("capture", "-o", tmp_path / "run.trace", *options, **faults)
    assert (done.stdout, done.stderr, done.returncode) == ("1\n", "", 0)


@pytest.fixture(scope="module", params=["address", "thread"])
def sanitized(
    request: pytest.FixtureRequest, keep: Keep, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, Path]:
    """Return the program, the libraries and the recorder, which are built with a sanitizer."""
    libraries, recorder = build_recorder(keep, request.param)
    # The libraries of the capture are found by the variable, and these behind them.
    link = [each for each in link_to(libraries) if not each.startswith("-Wl,-rpath")]
    folder = tmp_path_factory.mktemp(request.param)
    return build(folder / "threads", *flags_of(request.param), *link), libraries, recorder


@pytest.mark.exhaustive
@pytest.mark.parametrize("contents", ["hash", "full"])
@pytest.mark.parametrize("fault", ["", "aclnnAdd:99=async:507015"])
def test_sanitizers_find_nothing(
    contents: str,
    fault: str,
    sanitized: tuple[Path, Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program, libraries, recorder = sanitized
    monkeypatch.setattr(session, "libdir", lambda: libraries)
    monkeypatch.setattr(session, "recorder", lambda: recorder)
    base = {**os.environ, "PYACLNN_BACKEND": "mock", "PYACLNN_MOCK_FAULTS": fault}
    trace = tmp_path / "run.trace"
    environment = session.captured(base, trace, session.Settings(contents=contents))
    command = [*start(), str(program), str(ROUNDS), "1", *(["fault"] if fault else [])]
    done = subprocess.run(
        command, env={**environment, **OPTIONS}, check=False, capture_output=True, text=True
    )
    assert (done.stderr, done.stdout) == ("", "1\n" if fault else "0\n")
    assert [record for record in read_trace(trace) if isinstance(record, Contents)]
