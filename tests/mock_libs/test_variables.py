# SPDX-License-Identifier: Apache-2.0
"""Variables and files that a user names to the simulated NPU: bad ones get an answer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pyaclnn
from pyaclnn.facts.variables import VARIABLES

if TYPE_CHECKING:
    from tests.mock_libs.programs import Programs

SOURCES = Path(__file__).parents[2] / "mock_libs"
READ = sorted(
    {
        name
        for path in SOURCES.rglob("*.c")
        for name in re.findall(r'(?:getenv|variable_number)\("(\w+)"', path.read_text("utf-8"))
    }
)
"""Variables that the C side reads."""

ANY_VALUE = {
    "DISABLE_L2_CACHE": "its presence counts, as in CANN",
    "PYACLNN_MOCK_STRICT": "everything but 0 is yes",
}
SET_DEVICE = """
import pyaclnn
try:
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0) as device:
        pyaclnn.Stream(device).close()
except pyaclnn.AclError as error:
    print(error)
"""
BREAK_A_RULE = """
import pyaclnn
from pyaclnn import raw
pyaclnn.select_backend("mock")
raw.aclInit(raw.ffi.NULL)
raw.aclrtSetDevice(0)
raw.aclrtDestroyStream(raw.ffi.cast("void *", 12345))
print("done")
"""


PRODUCT = Path(pyaclnn.__file__).parent
CHOICES = sorted(
    {
        name
        for path in PRODUCT.rglob("*.py")
        for name in re.findall(r'choice\((?:"(PYACLNN_\w+)")', path.read_text("utf-8"))
    }
    | {"PYACLNN_LOG"}
)
"""Variables with a few values that the Python side reads."""
FREE = {
    "PYACLNN_BACKEND": "a folder may have any name",
    "PYACLNN_CAPTURE": "so may a trace",
    "PYACLNN_CAPTURE_FRONTS": "written by the command, as folders that it made",
    "PYACLNN_CAPTURE_OPTIONS": "written by the command, which checks them",
    "PYACLNN_MOCK_OPERATORS": "so may files",
    "PYACLNN_MOCK_PYTHON": "so may a program",
    "PYACLNN_MOCK_FAULTS": "checked by its own grammar",
}


def test_every_variable_of_the_python_side_is_checked_somewhere() -> None:
    checked = {*CHOICES, *FREE, *READ, *_reported()}
    assert {name for name in VARIABLES if name.startswith("PYACLNN_")} <= checked


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CHOICES)
def test_a_value_that_is_no_choice_is_refused(name: str, programs: Programs) -> None:
    done = programs.run([sys.executable, "-c", SET_DEVICE], {name: "many"})
    assert f"{name} is 'many'; it must be '" in done.stdout + done.stderr


def test_every_variable_of_the_c_side_is_documented() -> None:
    assert "PYACLNN_MOCK_DEVICES" in READ
    assert "ACLNN_CACHE_LIMIT" in READ or "ACLNN_CACHE_LIMIT" in _reported()
    assert set(READ) <= set(VARIABLES)


def _reported() -> set[str]:
    source = (SOURCES / "model/core/variable.c").read_text("utf-8")
    return set(re.findall(r'\{"(\w+)", \d+', source))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "name", sorted(({*READ} | _reported()) - ANY_VALUE.keys() - {"PYACLNN_MOCK_REPORT"})
)
@pytest.mark.parametrize("value", ["-5", "many"])
def test_a_value_that_cannot_be_used_is_named(value: str, name: str, programs: Programs) -> None:
    done = programs.run([sys.executable, "-c", SET_DEVICE], {name: value})
    said = done.stdout + done.stderr
    assert name in said, said
    assert f"'{value}'" in said or f"={value}" in said, said
    assert "Traceback" not in said


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("pipe", "cannot read '%s'; it must be an ordinary file"),
        ("/dev/zero", "'%s' has more than 16 MiB"),
        (".", "cannot read '%s'; it must be an ordinary file"),
        ("x" * 5000, "cannot open '%s': File name too long"),
    ],
)
def test_a_configuration_that_is_no_file_is_refused(
    path: str, words: str, programs: Programs, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    place = str(tmp_path / path) if path in {"pipe", "."} else path
    code = (
        "from pyaclnn import raw, select_backend; select_backend('mock'); "
        f"print(raw.aclInit({place.encode()!r}), raw.ffi.string(raw.aclGetRecentErrMsg()))"
    )
    said = programs.python(code).stdout
    assert said.startswith("100003 "), said
    assert words.partition("%s")[2][:20] in said


def test_a_program_that_has_closed_its_input_has_its_configuration_read(
    programs: Programs, tmp_path: Path
) -> None:
    path = tmp_path / "acl.json"
    path.write_text("{}", encoding="utf-8")
    code = (
        "import os; from pyaclnn import raw, select_backend; select_backend('mock'); "
        f"raw.aclGetRecentErrMsg(); os.close(0); print(raw.aclInit({str(path).encode()!r}))"
    )
    assert programs.python(code).stdout == "0\n"


def test_a_report_into_a_pipe_without_a_reader_is_lost_and_said_once(
    programs: Programs, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = programs.python(BREAK_A_RULE, PYACLNN_MOCK_REPORT=str(tmp_path / "pipe"))
    assert done.stdout == "done\n"
    assert done.stderr.count("PYACLNN_MOCK_REPORT: cannot write") == 1


def test_a_name_that_is_no_variable_is_reported_with_those_that_are() -> None:
    environment = {**os.environ, "PYACLNN_MOCK_DEVICE": "1", "PYACLNN_MOCK_": "1"}
    code = "import pyaclnn; pyaclnn.select_backend('mock')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    ours = sorted(name for name in VARIABLES if name.startswith("PYACLNN_MOCK_"))
    lines = sorted(line for line in done.stderr.splitlines() if line.startswith("simulated"))
    assert lines == [
        f"simulated NPU: {name} is no variable that it reads; there are {' '.join(ours)}"
        for name in ("PYACLNN_MOCK_", "PYACLNN_MOCK_DEVICE")
    ]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("PYACLNN_MOCK_DEVICE", "PYACLNN_MOCK_DEVICES"),
        ("PYACLNN_SOC", "PYACLNN_MOCK_SOC"),
        ("PYACLNN_BACKND", "PYACLNN_BACKEND"),
        ("PYACLNN_MOCK_", None),
        ("PYACLNN_MOCK_ZZZ", None),
        ("PYACLNN_MOCK_DEVICES", None),
    ],
)
def test_the_nearest_variable_is_suggested(name: str, near: str | None) -> None:
    code = "import pyaclnn; pyaclnn.select_backend('mock')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, name: "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    said = [line for line in done.stderr.splitlines() if "did you mean" in line]
    expected = f"{name} is no variable that pyaclnn reads; did you mean {near}?"
    assert [line.split("RuntimeWarning: ")[-1] for line in said] == [expected] * bool(near)
