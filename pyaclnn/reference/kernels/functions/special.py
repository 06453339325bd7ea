# SPDX-License-Identifier: Apache-2.0
"""Special functions that NumPy lacks: error functions, and those of the gamma function."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from pyaclnn.reference.arithmetic._narrow_floats import lib
from pyaclnn.reference.arithmetic.narrow_floats import address

Array = Any
_HALF: Final = 0.5
_LARGE: Final = 10
"""Numbers from which on the series of the digamma function has float64's accuracy."""
_SERIES: Final = (1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12, 0)
"""Its coefficients, for powers of 1 / x ** 2, the highest first."""


def erf(x: Array) -> Array:
    """The error function, in float64."""
    return _mapped(lib.ERF, x)


def erfc(x: Array) -> Array:
    """``1 - erf(x)``, exact where that is small."""
    return _mapped(lib.ERFC, x)


def lgamma(x: Array) -> Array:
    """The logarithm of the magnitude of the gamma function; infinite at its poles."""
    return _mapped(lib.LGAMMA, x)


def _mapped(function: int, x: Array) -> Array:
    """Call a function of C with each number, without the interpreter lock."""
    numbers = np.asarray(x).astype(np.float64, order="C", casting="same_kind", copy=False)
    found = np.empty(numbers.shape)
    lib.map_special(function, address("double *", numbers), address("double *", found), found.size)
    return found


def erfinv(y: Array) -> Array:
    """The inverse of `erf`: an approximation by logarithms, made exact by Newton's method."""
    near = np.abs(y.astype(np.float64))
    logs = np.log1p(-near * near)
    middle = 2 / (math.pi * 0.147) + logs / 2
    x = np.sqrt(np.maximum(np.sqrt(middle * middle - logs / 0.147) - middle, 0))
    for _ in range(4):
        apart = np.where(near < _HALF, near - erf(x), erfc(x) - (1 - near))
        x = x + apart * np.exp(x * x) * (math.sqrt(math.pi) / 2)
    return np.copysign(np.where(near == 1, math.inf, x), y)


def digamma(x: Array) -> Array:
    """The slope of `lgamma`: its series for large numbers, and its recurrence to get there."""
    wide = x.astype(np.float64)
    reflected = wide < _HALF
    y, found = np.where(reflected, 1 - wide, wide), np.zeros(x.shape)
    for _ in range(_LARGE):
        small = y < _LARGE
        found -= np.where(small, 1 / y, 0)
        y = y + small
    found += np.log(y) - 0.5 / y - np.polyval(_SERIES, 1 / (y * y))
    turned = math.pi / np.tan(math.pi * (wide - np.rint(wide)))
    found = np.where(reflected, found - turned, found)
    poles = np.where(wide == 0, np.copysign(math.inf, -wide), math.nan)
    return np.where((wide <= 0) & (wide == np.floor(wide)), poles, found)
