# SPDX-License-Identifier: Apache-2.0
"""Small numbers of every dtype, and comparison of device arrays with NumPy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from pyaclnn import DeviceArray

__all__ = ["DTYPES", "TOLERANCE", "check", "numbers"]

DTYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f64": np.float64,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "bool": np.bool_,
    "c64": np.complex64,
    "c128": np.complex128,
}
TOLERANCE = {"f32": 3e-6, "f16": 2e-3, "bf16": 2e-2, "f64": 1e-12, "c64": 1e-5, "c128": 1e-12}


def numbers(word: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Small numbers of a dtype, none of them 0; those of floats at most 1."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 4, shape)
    if word in TOLERANCE:
        values = rng.integers(1, 17, shape) / 16 * rng.choice([-1, 1], shape)
    if word.startswith("c"):
        values = values + 1j * rng.integers(1, 9, shape) / 8
    return np.asarray(values).astype(DTYPES[word])


def check(found: DeviceArray, expected: Any, word: str) -> None:
    found.device.synchronize()
    assert found.shape == np.shape(expected)
    host = found.numpy()
    assert host.dtype.kind in ("V" if host.dtype == ml_dtypes.bfloat16 else expected.dtype.kind)
    tolerance = TOLERANCE.get(word, 3e-6)
    wide = np.complex128 if host.dtype.kind == "c" else np.float64
    # NumPy 1.26 compares no bfloat16 with float16.
    truth = np.asarray(expected).astype(wide)
    np.testing.assert_allclose(host.astype(wide), truth, tolerance, tolerance)
