# SPDX-License-Identifier: Apache-2.0
"""Expressions on arrays of numpy-ascend beside NumPy's own; prints the largest error of each."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import numpy as np

# The wheel imports a module of its own that it does not contain.
missing = ModuleType("cupyx.scipy.fftpack")
missing.get_fft_plan = None  # type: ignore[attr-defined]
sys.modules[missing.__name__] = missing

import cupy  # type: ignore[import-not-found]  # noqa: E402  # it needs that module

CASES = {
    "copies": lambda x: x,
    "add": lambda x: x + x,
    "mul": lambda x: x * x,
    "scalar": lambda x: x * 2,
    "sum": lambda x: x.sum(),
    "sum of an axis": lambda x: x.sum(axis=0),
    "mean": lambda x: x.mean(),
    "matmul": lambda x: x @ x.T,
    "broadcast": lambda x: x + x[0] * 2 - x[:, :1],
}
NUMBERS = np.linspace(-2, 3, 12, dtype=np.float32).reshape(3, 4)


def error(case: Any) -> float:
    """Return the distance of the simulated NPU's result from NumPy's."""
    got, expected = cupy.asnumpy(case(cupy.asarray(NUMBERS))), case(NUMBERS)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    return float(np.abs(got - expected).max())


json.dump({name: error(case) for name, case in CASES.items()}, sys.stdout)
