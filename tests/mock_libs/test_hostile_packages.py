# SPDX-License-Identifier: Apache-2.0
"""Packages of operators whose module for the simulated NPU is broken or means harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mock_libs.programs import Programs

CALL = """
import pyaclnn, numpy as np, warnings
warnings.simplefilter("ignore")
pyaclnn.Device(0)
x = pyaclnn.to_device(np.array([-2.0, 9.0], np.float32))
for run in range(2):
    try:
        pyaclnn.op('aclnnAcosh')(x)
        pyaclnn.Device(0).synchronize()
        print("computed")
    except pyaclnn.AclError as error:
        print(type(error).__name__, error.cause or error.code, error)
try:
    print(x.numpy().tolist())
except pyaclnn.DeviceLostError as error:
    print(error)
"""
UNPRINTABLE = "class Fault(Exception):\n    def __str__(self): raise SystemExit\n"
NAMELESS = f"{UNPRINTABLE}class Operator:\n    @property\n    def name(self): raise Fault\n"
FAILS = {
    "raises": ("raise ValueError('no such luck')", "no such luck"),
    "ends": ("raise SystemExit(3)", "SystemExit"),
    "does not parse": ("def (", "SyntaxError"),
    "is no text": ("\0", "null bytes"),
    "has no operators": ("", "OPERATORS"),
    "has a number of operators": ("OPERATORS = 3", "OPERATORS is a int; it must be a list"),
    "has operators that are none": ("OPERATORS = [1, 2]", "OPERATORS[0] is a int; it must be"),
    "has an operator without a name": (
        f"{NAMELESS}OPERATORS = [Operator()]",
        "OPERATORS[0] is a Operator",
    ),
    "has no last operator": ("OPERATORS = iter(int, 1)", "OPERATORS is a callable_iterator"),
    "recurses": ("def f(): f()\nf()", "recursion"),
    "has no text": (f"{UNPRINTABLE}raise Fault", "its __str__ raised SystemExit"),
}
LOSES = {
    "leaves": ("import os; os._exit(0)", "its process ended"),
    "kills": ("import os; os.kill(os.getpid(), 9)", "was killed (SIGKILL)"),
    "closes all files": ("import os; os.closerange(0, 99)", "is lost: its process"),
    "does not end": ("while True: pass", "PYACLNN_MOCK_PATIENCE"),
}


def said(programs: Programs, folder: Path, content: str) -> str:
    module = folder / "mock/operators.py"
    module.parent.mkdir()
    module.write_text(content, encoding="utf-8")
    done = programs.python(
        CALL,
        PYACLNN_BACKEND="mock",
        ASCEND_CUSTOM_OPP_PATH=str(folder),
        PYACLNN_MOCK_PATIENCE="10",
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize("what", FAILS)
def test_a_module_that_fails_is_named(what: str, programs: Programs, tmp_path: Path) -> None:
    content, words = FAILS[what]
    answer = said(programs, tmp_path, content)
    assert answer.count(words) == 2, answer
    assert answer.count(str(tmp_path / "mock/operators.py")) >= 2, answer
    assert answer.endswith("[-2.0, 9.0]\n"), "the device is lost"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("what", LOSES)
def test_a_module_that_ends_the_device_is_a_lost_device(
    what: str, programs: Programs, tmp_path: Path
) -> None:
    content, words = LOSES[what]
    assert words in said(programs, tmp_path, content)
