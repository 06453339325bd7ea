# SPDX-License-Identifier: Apache-2.0
"""Notifies, values in memory and functions of the host order streams, in every mode of order."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import cflags, ldflags
from pyaclnn.releases import VARIABLE

from .programs import HERE, Programs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C++ program, built for CANN 9.1, which is the first to have all of this."""
    made = tmp_path_factory.mktemp("order") / "order"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "9.1")
        flags = [*cflags(), "-std=c++17", "-Wall", "-Wextra", "-Werror"]
        command = ["c++", *flags, str(HERE / "c" / "order.cpp"), "-o", str(made)]
        subprocess.run([*command, "-pthread", *ldflags()], check=True, timeout=300)
    return made


@pytest.mark.parametrize(
    "mode",
    [
        "deferred",
        pytest.param("eager", marks=pytest.mark.exhaustive),
        pytest.param("shuffled:3", marks=pytest.mark.exhaustive),
    ],
)
def test_what_one_stream_does_another_one_sees(
    programs: Programs, program: Path, mode: str, tmp_path: Path
) -> None:
    report = tmp_path / "report.jsonl"
    done = programs.run([program], {"PYACLNN_MOCK_MODE": mode, "PYACLNN_MOCK_REPORT": str(report)})
    assert done.stdout == "done\n", done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, report.read_text(encoding="utf-8").splitlines())
    assert (record["rule"], record["function"]) == ("address-not-on-device", "aclrtValueWrite")
