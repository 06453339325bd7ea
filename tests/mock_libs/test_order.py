# SPDX-License-Identifier: Apache-2.0
"""Streams, memory and queries of CANN 9.1 beyond 8.1, in every execution mode."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.releases import VARIABLE
from pyaclnn.mock import cflags, ldflags
from tests.releases import NEWEST

from .programs import HERE, Programs

if TYPE_CHECKING:
    from pathlib import Path


# The deliberate mistake of each program.
BROKEN = {
    "events": [("event-made-for-something-else", "aclrtIpcGetEventHandle")],
    "notifies": [("import-not-allowed", "aclrtNotifyImportByKey")],
    "inquiry": [],
    "access": [("access-denied", "aclrtMemcpyAsync")],
    "captured_ranks": [],
    "order": [("address-not-on-device", "aclrtValueWrite")],
    "transfer": [
        ("address-not-on-device", "aclrtReduceAsync"),
        ("streams-not-ordered", "aclrtReduceAsync"),
    ],
}


@pytest.fixture(scope="module", params=BROKEN)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A C++ program, built for CANN 9.1, which is the first to have all of this."""
    name: str = request.param
    made = tmp_path_factory.mktemp("programs") / name
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, NEWEST)
        flags = [*cflags(), "-std=c++17", "-Wall", "-Wextra", "-Werror"]
        command = ["c++", *flags, str(HERE / "c" / f"{name}.cpp"), "-o", str(made)]
        subprocess.run([*command, "-pthread", *ldflags()], check=True, timeout=900)
    return made


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "mode",
    [
        "deferred",
        pytest.param("eager", marks=pytest.mark.exhaustive),
        pytest.param("shuffled:3", marks=pytest.mark.exhaustive),
    ],
)
def test_a_program_finds_what_it_expects(
    programs: Programs, program: Path, mode: str, tmp_path: Path
) -> None:
    report = tmp_path / "report.jsonl"
    report.touch()  # a program that breaks no rule writes none
    done = programs.run([program], {"PYACLNN_MOCK_MODE": mode, "PYACLNN_MOCK_REPORT": str(report)})
    assert done.stdout == "done\n", done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    records = map(json.loads, report.read_text(encoding="utf-8").splitlines())
    broken = [(record["rule"], record["function"]) for record in records]
    # Where every call waits for its work, there is nothing queued to be out of order with.
    late = {"streams-not-ordered"} if mode == "eager" else set()
    assert broken == [each for each in BROKEN[program.name] if each[0] not in late]
