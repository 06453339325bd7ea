# SPDX-License-Identifier: Apache-2.0
"""A simulated NPU that is set up wrongly names the variable and the choice, and no driver."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

MISTAKES = {
    "PYACLNN_MOCK_SOC": ("Ascend999", "`pyaclnn mock chips` lists them"),
    "PYACLNN_MOCK_MODE": ("quick", "deferred, shuffled:SEED or eager"),
    "PYACLNN_MOCK_DEVICES": ("many", "a number from 0 to 16"),
    "PYACLNN_MOCK_FAULTS": ("aclrtMalloc=odd", "`pyaclnn mock faults` explains them"),
    "PYACLNN_MOCK_PYTHON": ("/no/python", "names the Python to start"),
}
OPEN = """
import pyaclnn
try:
    pyaclnn.Device(0)
except pyaclnn.AclError as error:
    print(error)
"""


WITHOUT_KERNEL = """
import numpy, pyaclnn
x = numpy.ones(2, numpy.float32)
try:
    pyaclnn.aclnn.precision_compare(x, x, pyaclnn.Empty(2, numpy.uint32))
except pyaclnn.UnsupportedError as error:
    print(error)
"""


def test_an_operator_without_a_kernel_is_no_mistake_of_a_variable(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = run_python(WITHOUT_KERNEL)
    assert done.returncode == 0, done.stderr
    said, hint = done.stdout.split("Hint: ")
    assert "PYACLNN_MOCK_OPERATORS" in said
    assert hint.startswith("give the simulated NPU a kernel of your own, in one of the ways that")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("variable", MISTAKES)
def test_a_mistake_names_the_variable_and_the_choice(
    variable: str, run_python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    value, choice = MISTAKES[variable]
    done = run_python(OPEN, **{variable: value})
    assert done.returncode == 0, done.stderr
    said, hint = done.stdout.split("Hint: ")
    assert value in said
    assert choice in said
    assert hint == f"set {variable} as CANN says above, or unset it, and start again.\n"
    assert not re.search(r"npu-smi|driver", done.stdout)
