# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of an operator with a kernel costs as much for 10^12 elements as for a million.

Costs are counted, not timed. ``python -m tests.benchmarks phase_1`` compares the times.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.kernel_call import KernelCall, _widened, zeros
from pyaclnn.reference.kernels.kernel import Kernel

from .bench import tensor
from .cost import cost_of, grown
from .test_kernels import VECTORS, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

LESS = 64 * 15_600
"""Difference of the lengths; they have equal remainders, of which a kernel's work may depend."""
MOST_LINES, MOST_BYTES = 12, 4 << 20
"""Lines against those for a few elements: a kernel is tried once a length, and four times more."""
FIRST = {vector["operator"]: vector for vector in reversed(VECTORS)}
OF_LENGTHS = ("Unpadding", "VarLen", "GroupedMatmul")
"""Words of operators that take lengths as values: their calls do not grow with the shapes."""


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", [n for n in FIRST if not any(w in n for w in OF_LENGTHS)])
def test_phase_1_of_a_trillion_elements_costs_no_more(name: str, bench: Bench) -> None:
    few = Stage(bench, FIRST[name]).arguments
    calls = (few, *({p: grown(value, less) for p, value in few.items()} for less in (LESS, 0)))
    statuses = [bench.check(name, call).status for call in calls]
    assert statuses in ([0, 0, 0], [0, 161002, 161002])
    least, million, trillion = (cost_of(partial(bench.check, name, call)) for call in calls)
    assert trillion[:2] == million[:2]
    assert trillion.lines <= MOST_LINES * least.lines
    assert trillion.peak_bytes < MOST_BYTES


def in_a_loop(self: Any) -> Any:
    for _ in range(self.shape[0] // 10**4):
        np.add(1, 1)
    return self


def in_memory(self: Any) -> Any:
    np.empty(self.shape[0], np.int8)
    return self


def of_a_view(self: Any) -> Any:
    np.shape(self)
    return self


@pytest.mark.parametrize(
    ("compute", "field"),
    [(in_a_loop, "lines"), (in_memory, "peak_bytes"), (of_a_view, "elements")],
)
def test_a_trial_that_grows_with_a_tensor_is_noticed(
    compute: Callable[[Any], Any], field: str
) -> None:
    kernel = Kernel("aclnnAbs", compute)
    signature = signature_of(kernel.name, kernel)
    assert signature is not None
    call = KernelCall(signature, kernel)
    tensors = (tensor(length) for length in (10**3, 10**9))
    few, many = (cost_of(partial(call.results, {"self": x, "out": x}, zeros)) for x in tensors)
    assert getattr(many, field) > 100 * getattr(few, field)


def test_a_repeated_tensor_is_cast_once() -> None:
    rows = np.arange(6, dtype=np.float16).reshape(2, 1, 3)
    repeated = np.broadcast_to(rows, (2, 500, 3))
    cast = _widened(repeated)
    assert cast.dtype == np.float32
    assert np.array_equal(cast, repeated)
    assert cast.strides == (3 * 4, 0, 4)
