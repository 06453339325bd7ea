# SPDX-License-Identifier: Apache-2.0
"""Records, and what is alive, name the line of Python that a call was made for."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.mock_libs.programs import Programs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kept import Keep

SCRIPT = """
import ctypes, json, re, threading
import numpy as np
import pyaclnn
from pyaclnn import mock, raw
pyaclnn.select_backend("mock")
said = {}
def alive(name, kind):
    said[name] = [thing.line for thing in mock.alive() if thing.kind == kind]

device = pyaclnn.Device(0)                      # the device
slot = raw.ffi.new("void **")
raw.aclrtCreateEvent(slot)                      # the event's creation
raw.aclrtDestroyEvent(slot[0])                  # the event's end
raw.aclrtDestroyEvent(slot[0])                  # the event's second end
x = pyaclnn.to_device(np.ones((2, 8), np.float32))
gamma = pyaclnn.to_device(np.ones(8, np.float32))
alive("device", "device")
mine = pyaclnn.Stream(device)                   # a stream
def make():
    global theirs
    theirs = pyaclnn.Stream(device)             # another thread's stream
thread = threading.Thread(target=make); thread.start(); thread.join()
alive("streams", "stream")
raw.aclrtFree(raw.ffi.cast("void *", x.address))
def normalise():
    return pyaclnn.rms_norm(x, gamma)           # an operator
result = normalise()
mine.close(); theirs.close()
library, handle = ctypes.CDLL(str(pyaclnn.backend().files["runtime"][0])), ctypes.c_void_p()
library.aclrtCreateStream(ctypes.byref(handle))
alive("a stream of others", "stream")
library.aclrtDestroyStream(handle)
for record in mock.violations():
    said[record.rule] = [record.at, record.created, record.destroyed]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("user") / "a script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def said(script: Path, keep: Keep) -> dict[str, Any]:
    result = Programs(script.parent, keep).run([sys.executable, str(script)], {})
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def line_of(script: Path, words: str) -> str:
    before, there, _ = SCRIPT.partition(f"# {words}\n")
    assert there
    return f"{script}:{before.count(chr(10)) + 1}"


def test_a_record_names_the_lines_of_call_creation_and_end(
    said: dict[str, Any], script: Path
) -> None:
    places = ["the event's second end", "the event's creation", "the event's end"]
    for told, words in zip(said["destroyed-twice"], places, strict=True):
        native, _, line = told.partition(", for ")
        assert ", called from _binding." in native
        assert line == line_of(script, words)


def test_it_is_the_users_line_and_not_the_librarys(said: dict[str, Any], script: Path) -> None:
    operators = [told[0] for told in said.values() if str(told[0]).startswith("aclnnRmsNorm")]
    assert [told.partition(", for ")[2] for told in operators] == [line_of(script, "an operator")]


def test_what_is_alive_tells_its_line_in_each_thread(said: dict[str, Any], script: Path) -> None:
    assert said["device"] == [line_of(script, "the device")]
    assert said["streams"] == [
        line_of(script, words) for words in ("a stream", "another thread's stream")
    ]


def test_what_others_make_is_of_no_line(said: dict[str, Any]) -> None:
    assert said["a stream of others"] == ["-"]


def test_an_error_of_the_data_names_the_line_of_its_launch(tmp_path: Path, keep: Keep) -> None:
    script = tmp_path / "selecting.py"
    script.write_text(
        """
import numpy as np, pyaclnn
pyaclnn.select_backend("mock")
device = pyaclnn.Device(0)
stream = pyaclnn.Stream(device)
x, index, out = map(pyaclnn.to_device, (np.zeros((3, 2)), np.array([0, 5]), np.zeros((2, 2))))
pyaclnn.aclnn.index_select(x, 0, index, out, stream=stream)
pyaclnn.aclnn.add(x, x, 1.0, pyaclnn.to_device(np.zeros((3, 2))), stream=stream)
try:
    stream.synchronize()
except pyaclnn.KernelError as error:
    print(error)
(record,) = pyaclnn.mock.violations()
print(record.rule, record.created)
""",
        encoding="utf-8",
    )
    result = Programs(tmp_path, keep).run([sys.executable, str(script)], {})
    assert result.returncode == 0, result.stderr
    assert "aclnnIndexSelect: index has an element 5; it must be in [0, 2]" in result.stdout
    assert result.stdout.count(f"{script}:7") == 2
    assert "kernel-failed aclnnIndexSelect, called from " in result.stdout
