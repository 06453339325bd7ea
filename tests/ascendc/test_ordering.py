# SPDX-License-Identifier: Apache-2.0
"""Units of a core run at the same time: what must be ordered by events, and what is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from pyaclnn.ascendc import KernelFault

from .conftest import KERNELS

if TYPE_CHECKING:
    from .conftest import Build

SOURCE = KERNELS / "ordering.cpp"
LINES = SOURCE.read_text(encoding="utf-8").splitlines()
X = np.arange(256, dtype=np.float32)


class Case(NamedTuple):
    """A kernel, the tensor in danger, what the other unit did with it, and the missing event."""

    kernel: str
    tensor: str
    earlier: str
    event: str


CASES = [
    Case("copied_over_operand", "dst", "the vector unit reads", "V_MTE2"),
    Case("computed_over_result", "dst", "the copy to global memory reads", "MTE3_V"),
    Case("copied_over_result", "dst", "the copy to global memory reads", "MTE3_MTE2"),
    Case("copied_over_zeros", "dst", "the vector unit wrote", "V_MTE2"),
    Case("set_while_copied", "tensor", "the copy to global memory reads", "MTE3_S"),
]


def launch(build: Build, kernel: str, wrong: int) -> np.ndarray:
    y = np.zeros_like(X)
    build("ordering.cpp", kernel).launch(1, X, y, wrong, timeout=900)
    return y


def line_of(comment: str) -> int:
    return next(n for n, line in enumerate(LINES, 1) if line.endswith(f"// {comment}"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_memory_that_another_unit_still_uses_is_not_written(case: Case, build: Build) -> None:
    launch(build, case.kernel, 0)
    with pytest.raises(KernelFault) as raised:
        launch(build, case.kernel, 1)
    fault = raised.value
    assert (fault.rule, fault.line) == ("synchronisation", line_of(case.kernel))
    before = line_of(f"before {case.kernel}")
    assert f"{case.tensor}: {case.earlier} it in line {before}" in fault.message
    assert f"SetFlag and WaitFlag of {case.event}" in fault.message


def test_parts_of_a_buffer_are_ordered_apart(build: Build) -> None:
    np.testing.assert_array_equal(launch(build, "two_tiles", 0), 2 * X)


@pytest.mark.parametrize("kernel", ["one_after_another", "by_the_scalar_unit", "all_cores_wait"])
def test_a_unit_follows_what_its_predecessor_waited_for(kernel: str, build: Build) -> None:
    np.testing.assert_array_equal(launch(build, kernel, 0), X)
