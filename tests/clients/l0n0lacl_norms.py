# SPDX-License-Identifier: Apache-2.0
"""Norms by way of l0n0lacl, which reads CANN's headers and calls its libraries; prints errors.

It stands alone, in an environment that a home of the simulated NPU has been sourced into.
"""

# ruff: noqa: PLC2403  # the names are those of l0n0lacl
from __future__ import annotations

import ctypes
import json

import numpy as np
from l0n0lacl import 算子运行器, 设备

_ROWS, _WIDTH = 5, 16
_chance = np.random.default_rng(0)


def _random(*shape: int) -> np.ndarray:
    return _chance.normal(size=shape).astype(np.float32)


def _layer_norm() -> dict[str, float]:
    x, weight, bias = _random(_ROWS, _WIDTH), _random(_WIDTH), _random(_WIDTH)
    out, mean, rstd = (np.full(shape, np.nan, np.float32) for shape in (x.shape, (5, 1), (5, 1)))
    eps = ctypes.c_double(1e-5)
    *_, got, got_mean, got_rstd = 算子运行器("LayerNorm")(
        x, [_WIDTH], weight, bias, eps, out, mean, rstd
    )
    wide = x.astype(np.float64)
    centre = wide.mean(1, keepdims=True)
    scale = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    return {
        "layer norm": _error(got, (wide - centre) * scale * weight + bias),
        "mean": _error(got_mean, centre),
        "rstd": _error(got_rstd, scale),
    }


def _rms_norm() -> dict[str, float]:
    x, gamma = _random(_ROWS, _WIDTH), _random(_WIDTH)
    out, rstd = np.full_like(x, np.nan), np.full((_ROWS, 1), np.nan, np.float32)
    *_, got, got_rstd = 算子运行器("RmsNorm")(x, gamma, ctypes.c_double(1e-6), out, rstd)
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6)
    return {"rms norm": _error(got, wide * scale * gamma), "rms": _error(got_rstd, scale)}


def _error(tensor: object, right: np.ndarray) -> float:
    设备.同步当前设备流水()
    return float(np.abs(np.asarray(tensor.numpy(), np.float64) - right).max())  # type: ignore[attr-defined]


print(json.dumps({**_layer_norm(), **_rms_norm()}))  # noqa: T201  # the answer
