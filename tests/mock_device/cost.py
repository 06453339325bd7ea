# SPDX-License-Identifier: Apache-2.0
"""Cost of phase 1 in numbers that do not depend on the machine, and calls with long dimensions."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.mock.protocol.values import Tensor, TensorList, Value

from .bench import row_major

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["Cost", "cost_of", "grown"]

LONG = {2: 999_983, 3: 1_000_003, 4: 1_000_033, 5: 1_000_037, 6: 999_979}
"""Lengths for those of the vectors; a tensor of two dimensions has 10^12 elements."""


def grown(value: Value, less: int = 0) -> Value:
    """Return the same argument with long dimensions, all of them less by a number."""
    if isinstance(value, TensorList):
        return TensorList(tuple(item and _grown(item, less) for item in value.items))
    return _grown(value, less) if isinstance(value, Tensor) else value


def _grown(given: Tensor, less: int) -> Tensor:
    dims = tuple(LONG[n] - less if n in LONG else n for n in given.dims)
    return replace(given, dims=dims, strides=row_major(dims))


class Cost(NamedTuple):
    """Cost of a call.

    Attributes:
        lines: Lines of Python that were run, each as often as it was.
        elements: Those of the largest array that a function received; a view of one element with
            strides of 0 needs no memory, but time.
        peak_bytes: The most memory at one time, arrays included.
    """

    lines: int
    elements: int
    peak_bytes: int


def cost_of(work: Callable[[], object]) -> Cost:
    """Count what a call does that has been made before, so that caches are filled."""
    lines, elements = 0, 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines, elements
        lines += 1
        if event == "call":
            arrays = (value for value in frame.f_locals.values() if isinstance(value, np.ndarray))
            elements = max(elements, *(array.size for array in arrays), 0)
        return count

    gc.disable()  # finalizers of other objects would count
    tracer = sys.gettrace()  # that of a measurement of coverage
    try:
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        sys.settrace(count)
        work()
    finally:
        sys.settrace(tracer)
        tracemalloc.stop()
        gc.enable()
    return Cost(lines, elements, peak)
