# SPDX-License-Identifier: Apache-2.0
"""A call becomes a short test, which passes here and fails with a wrong kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.capture.trace import Call, read_trace

from .captured import capture, pyaclnn, pytest_alone

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import ml_dtypes, numpy as np, pyaclnn
from pyaclnn import aclnn
def whole(*changes, dtype=np.float32):
    made = np.zeros((4, 32), dtype)
    for place, value in changes:
        made[place] = value
    return made
aclnn.arange(1.0, 9.0, 2.0, out=pyaclnn.Empty((4,), np.float32))
aclnn.inplace_uniform(np.zeros(3, np.float32), 2.0, 3.0, 7, 0)
aclnn.muls(whole(((2, 3), np.nan)), np.float32(2))
aclnn.reduce_sum(whole(((1, 7), 5), ((1, 9), 6)), [0, 1], False, np.float32,
                 out=pyaclnn.Empty((), np.float32))
aclnn.abs(whole((..., -1.5), dtype=ml_dtypes.bfloat16))
aclnn.neg(whole(((3, 31), np.inf)))
numbers = np.random.default_rng(1).standard_normal((40, 48)).astype(np.float32)
aclnn.exp(numbers)
aclnn.cos(numbers)
aclnn.sin(numbers)
aclnn.log(numbers + 9)
aclnn.expand(np.full((4, 1), 2.5, np.float32), [4, 32], out=pyaclnn.Empty((4, 32), np.float32))
"""
WRONG = """
import numpy as np
from pyaclnn import mock

@mock.operator("aclnnArange")
def arange(start, end, step):
    return np.arange(start, end, step, np.float32) + 1

@mock.operator("aclnnInplaceUniform")
def uniform(selfRef, from_, to, seed, offset):
    return np.arange(len(selfRef), dtype=selfRef.dtype)

@mock.operator("aclnnMuls")
def muls(self, other):
    return np.nan_to_num(self * other)

@mock.operator("aclnnReduceSum")
def total(self, dims, keepDims, dtype):
    return np.sum(self) + 1

@mock.operator("aclnnAbs")
def absolute(self):
    return self

@mock.operator("aclnnNeg")
def negative(self):
    return self

@mock.operator("aclnnExp")
def exponential(self):
    raise ValueError("no \\x1b[31m \\x01 kernel")

@mock.operator("aclnnCos")
def cosine(self):
    return np.cos(self).astype(np.float16)

@mock.operator("aclnnSin")
def sine(self):
    return np.sin(self)[:1]

@mock.operator("aclnnLog")
def logarithm(self):
    result = np.log(self)
    result[5:6] = 0
    return result

@mock.operator("aclnnExpand")
def expand(self, size):
    return np.zeros(size, self.dtype)
"""
"""Kernels that are wrong, one for each operator of the program."""
EXPECTED = {
    "aclnnArange": ("out = np.zeros((4,), np.float32)", "([1.0, 3.0, 5.0, 7.0], np.float32)"),
    "aclnnInplaceUniform": (
        "Random numbers depend on shapes: its contents are whole.",
        "selfRef = np.zeros((3,), np.float32)",
        "from_ = 2.0",
        "(selfRef=selfRef, from_=from_, to=to, ",
    ),
    "aclnnMuls": ("self = np.array([[np.nan]], np.float32)",),
    "aclnnReduceSum": (
        "(bytes(156) + bytes.fromhex(",
        '"0000a040000000000000c040"',
        ") + bytes(344), np",
    ),
    "aclnnAbs": ("self = np.array([[-1.5]], ml_dtypes.bfloat16)",),
    "aclnnNeg": ("self = np.array([[np.inf]], np.float32)",),
    "aclnnExp": ("self = np.array([[0.34558418]], np.float32)",),
    "aclnnCos": ("input = np.array([[0.34558418]], np.float32)",),
    "aclnnSin": ("out = Empty((2, 1), np.float32)",),
    "aclnnLog": ("out = Empty((6, 1), np.float32)",),
    "aclnnExpand": ("self = np.array([[2.5]], np.float32)", "size = [1, 1]"),
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return capture(tmp_path_factory.mktemp("t") / "run.trace", PROGRAM, "--contents", "full")


@pytest.fixture(scope="module")
def tests(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the test of each operator, made where its kernel is wrong."""
    folder = tmp_path_factory.mktemp("tests")
    kernels = folder / "kernels.py"
    kernels.write_text(WRONG)
    made = {}
    for call in read_trace(trace):
        if isinstance(call, Call) and call.name in EXPECTED:
            done = pyaclnn("trace", "test", trace, call.number, PYACLNN_MOCK_OPERATORS=str(kernels))
            assert done.returncode == 0, done.stderr
            made[call.name] = folder / f"test_{call.name}.py"
            made[call.name].write_text(done.stdout)
    return made


@pytest.mark.parametrize("name", EXPECTED)
def test_a_test_of_a_call_is_short_and_has_what_differs(name: str, tests: dict[str, Path]) -> None:
    text = tests[name].read_text()
    assert [part for part in EXPECTED[name] if part not in text] == [], text
    assert len(text.splitlines()) <= 25, text
    assert max(map(len, text.splitlines())) <= 120, text


def test_a_call_that_agrees_here_keeps_its_contents(trace: Path) -> None:
    number = next(
        c.number for c in read_trace(trace) if isinstance(c, Call) and c.name == "aclnnNeg"
    )
    done = pyaclnn("trace", "test", trace, number)
    assert "It agreed where this was made: its contents are whole." in done.stdout
    assert "(bytes(508) + bytes.fromhex(" in done.stdout


def test_tests_of_calls_pass_here_and_fail_with_wrong_kernels(tests: dict[str, Path]) -> None:
    folder = next(iter(tests.values())).parent
    for kernels, outcome in ("", "passed"), (str(folder / "kernels.py"), "failed"):
        done = pytest_alone(folder, PYACLNN_MOCK_OPERATORS=kernels)
        assert done.stdout.splitlines()[-1].startswith(f"{len(EXPECTED)} {outcome} in "), done
