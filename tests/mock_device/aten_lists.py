# SPDX-License-Identifier: Apache-2.0
"""Operators on lists of tensors, in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .aten_elementwise import (
    ABOVE,
    ANY,
    INSIDE,
    OTHER,
    POSITIVE,
    Vector,
    each,
    sigmoid,
    vector,
)

# Lists of two: a function of one array, and what the arrays are.
FOREACH: dict[str, tuple[Any, Any]] = {
    "Abs": (np.abs, ANY),
    "Acos": (np.arccos, INSIDE),
    "Asin": (np.arcsin, INSIDE),
    "Atan": (np.arctan, ANY),
    "Copy": (np.copy, ANY),
    "Cos": (np.cos, ANY),
    "Cosh": (np.cosh, ANY),
    "Erf": (each(math.erf), ANY),
    "Erfc": (each(math.erfc), ANY),
    "Exp": (np.exp, ANY),
    "Expm1": (np.expm1, ANY),
    "Log": (np.log, POSITIVE),
    "Log10": (np.log10, POSITIVE),
    "Log1p": (np.log1p, POSITIVE),
    "Log2": (np.log2, POSITIVE),
    "Neg": (np.negative, ANY),
    "Reciprocal": (np.reciprocal, POSITIVE),
    "Sigmoid": (sigmoid, ANY),
    "Sign": (np.sign, ANY),
    "Sin": (np.sin, ANY),
    "Sinh": (np.sinh, ANY),
    "Sqrt": (np.sqrt, POSITIVE),
    "Tan": (np.tan, ANY),
    "Tanh": (np.tanh, ANY),
    "ZeroInplace": (np.zeros_like, ANY),
}
ARITHMETIC: dict[str, Any] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Pow": np.power,
}
PAIR, SECOND = [POSITIVE, ABOVE], [OTHER, ABOVE[::-1].copy()]
_TWO = np.array([2.0], np.float32)


def on_lists() -> list[Vector]:
    """All of them."""
    made = [
        vector(f"aclnnForeach{n}", [f(x), f(x / 2)], [x, (x / 2).astype("f")])
        for n, (f, x) in FOREACH.items()
        if n != "Log"
    ]
    made.append(vector("aclnnForeachLog", [np.log(x) for x in PAIR], PAIR))
    for name, function in ARITHMETIC.items():
        full = f"aclnnForeach{name}"
        by_two = [function(x, 2) for x in PAIR]
        if name not in {"Sub", "Add"}:
            made.append(
                vector(
                    f"{full}List",
                    [function(x, y) for x, y in zip(PAIR, SECOND, strict=True)],
                    PAIR,
                    SECOND,
                )
            )
        else:
            scaled = [function(x, 3 * y) for x, y in zip(PAIR, SECOND, strict=True)]
            made.append(vector(f"{full}List", scaled, PAIR, SECOND, np.array([3.0], "f")))
            made.append(vector(f"{full}ListV2", scaled, PAIR, SECOND, 3.0))
        made.append(vector(f"{full}Scalar", by_two, PAIR, _TWO))
        made.append(vector(f"{full}ScalarV2", by_two, PAIR, 2.0))
        made.append(
            vector(
                f"{full}ScalarList",
                [function(PAIR[0], 2), function(PAIR[1], 0.5)],
                PAIR,
                [2.0, 0.5],
            )
        )
    made.append(vector("aclnnForeachPowScalarAndTensor", [2**x for x in PAIR], 2.0, PAIR))
    weights = [np.full_like(x, 0.25) for x in PAIR]
    lerped = [x + 0.25 * (y - x) for x, y in zip(PAIR, SECOND, strict=True)]
    made.append(vector("aclnnForeachLerpList", lerped, PAIR, SECOND, weights))
    return made
