# SPDX-License-Identifier: Apache-2.0
"""aclnnRmsNormDynamicQuant (CANN: ops-nn norm/rms_norm_dynamic_quant)."""

import numpy as np

from tests.operators.notation import *

OPTIONAL = ("smoothScalesOptional", "betaOptional")
TENSORS = ("x", "gamma", *OPTIONAL, "yOut", "scaleOut")
BASE: dict[str, Argument] = {
    "x": t(2, 3, 16, dtype=F16),
    **dict.fromkeys(("gamma", *OPTIONAL), t(16, dtype=F16)),
    "epsilon": 1e-6,
    "dstType": 2,
    "yOut": t(2, 3, 16, dtype=I8),
    "scaleOut": t(2, 3),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, (smooth, beta) = given["x"], (given[name] for name in OPTIONAL)
    v = x * ((x * x).mean(-1, keepdims=True) + given["epsilon"]) ** -0.5 * given["gamma"]
    v = (v + (0 if beta is None else beta)) * (1 if smooth is None else smooth)
    scale = np.abs(v).max(-1) / 127
    return {"yOut": np.rint(v / scale[..., None]), "scaleOut": scale}


def row(x: str) -> tuple[str, ...]:
    return (x, x, x, x, I8, F32)


TABLE = Table(
    name="aclnnRmsNormDynamicQuant",
    kind=INDIVIDUAL,
    releases=("9",),
    base=BASE,
    results=("yOut", "scaleOut"),
    chips=A2_A3,
    steps=individual(
        TENSORS,
        A2_A3,
        unordered(
            TILING,
            shaped("x", (16,), (1,) * 9),
            shaped("gamma", (8,), (1, 16)),
            shaped("smoothScalesOptional", (8,)),
            shaped("betaOptional", (8,)),
            shaped("yOut", (6, 16)),
            shaped("scaleOut", (2, 3, 1)),
            broken("epsilon 0", epsilon=0.0),
            broken("epsilon below 0", epsilon=-1.0),
            broken("another type", dstType=29),
        ),
        required=("x", "gamma", "yOut", "scaleOut"),
    ),
    types=Types(TENSORS, dict.fromkeys(A2_A3, (row(F16), row(BF16)))),
    formula=formula,
    optional=OPTIONAL,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        idle(
            "empty results are not tiled",
            {"x": t(0, 16, dtype=F16), "yOut": t(0, 16, dtype=I8), "scaleOut": t(0)},
        ),
        *(
            Case(
                f"four in {dtype}",
                {
                    "x": array([[1, 2, 3, 4]], dtype),
                    "gamma": array([1, 2, 0.5, 1], dtype),
                    "smoothScalesOptional": None,
                    "betaOptional": array([0, 0, 1, 0], dtype),
                    "yOut": t(1, 4, dtype=I8),
                    "scaleOut": t(1),
                },
                gives={"yOut": [[30, 120, 127, 120]], "scaleOut": [0.012186792]},
            )
            for dtype in (F16, BF16)
        ),
    ),
)
