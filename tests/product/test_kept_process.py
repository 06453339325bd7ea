# SPDX-License-Identifier: Apache-2.0
"""The device process that the fixture ``npu`` keeps from test to test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .test_pytest_plugin import HEAD, suite

if TYPE_CHECKING:
    from pathlib import Path

TESTS = """\
import os
import signal

os.environ["PYACLNN_MOCK_FORK_SERVER"] = ""  # the device process is a child of this one
import time
from pathlib import Path

def processes():
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        if text.rpartition(")")[2].split()[:2][1] == str(os.getpid()):
            found.append(int(stat.parent.name))
    return found

def norm(npu):
    x = pyaclnn.to_device(np.ones((2, 8), np.float32), npu)
    y = pyaclnn.rms_norm(x, x[0]).y
    npu.synchronize()
    return y.numpy()

def twice(npu):
    x = pyaclnn.to_device(np.ones(3, np.float32), npu)
    y = x + x
    npu.synchronize()
    return y.numpy().tolist()

seen = []
THREES, FOURS = np.full(16, 3, np.float32), np.full(16, 4, np.float32)

def test_first(npu):
    assert norm(npu).shape == (2, 8)
    seen.extend(processes())
    assert len(seen) == 1

def test_second_has_its_process_and_other_memory(npu):
    assert processes() == seen
    fresh = pyaclnn.DeviceArray.empty((1 << 16,), np.uint16, npu).numpy()
    assert (fresh == 0x7FFF).all()
    assert norm(npu).shape == (2, 8)

def product(npu):
    return pyaclnn.aclnn.mul(THREES, FOURS, out=np.zeros(16, np.float32))[0]

def test_third_multiplies(npu):
    assert product(npu) == 12

def test_fourth_divides_before_it_multiplies(npu):  # calls of as many bytes, in another order
    assert pyaclnn.aclnn.div(THREES, FOURS, out=np.zeros(16, np.float32))[0] == 0.75
    assert product(npu) == 12

@pytest.mark.pyaclnn(soc="Ascend310P3", mode="eager")
def test_another_chip(npu):
    assert processes() == seen
    assert npu.soc_name == "Ascend310P3"

@pytest.mark.pyaclnn(fresh=True)
def test_fresh(npu):
    assert not set(processes()) & set(seen)

def test_that_loses_its_device(npu):
    seen[:] = processes()
    os.kill(seen[0], signal.SIGKILL)
    with pytest.raises(pyaclnn.AclError):
        norm(npu)

def test_after_that(npu):
    assert not set(processes()) & set(seen)
    seen[:] = processes()
    assert norm(npu).shape == (2, 8)

@pytest.fixture
def killed():
    os.kill(seen[0], signal.SIGKILL)

def test_whose_process_was_killed_between(killed, npu):
    assert norm(npu).shape == (2, 8)
    seen[:] = processes()

@pytest.fixture
def kernels(tmp_path, monkeypatch):
    file = tmp_path / "kernels.py"
    file.write_text("import pyaclnn\\n@pyaclnn.mock.operator('aclnnAdd')\\n"
                    "def add(self, other, alpha): return self * 0 + 7\\n")
    monkeypatch.setenv("PYACLNN_MOCK_OPERATORS", str(file))

def test_with_kernels_of_its_own(kernels, npu):
    assert processes() != seen
    assert twice(npu) == [7, 7, 7]

def test_without_them(npu):
    assert twice(npu) == [2, 2, 2]
"""


def test_tests_share_a_process_and_nothing_in_it(tmp_path: Path) -> None:
    status, output = suite(tmp_path, HEAD + TESTS)

    assert status == 0, output


def test_a_device_that_leaks_is_blamed_before_its_process_is_kept(tmp_path: Path) -> None:
    leak = (
        "kept = []\n"
        "def test_leaks(npu):\n    kept.append(pyaclnn.DeviceArray.empty((4,), np.uint8, npu))\n"
        "def test_the_next(npu):\n    kept.clear()\n"
    )
    status, output = suite(tmp_path, HEAD + leak)

    assert (status, "the test left this on the NPU" in output) == (1, True), output
