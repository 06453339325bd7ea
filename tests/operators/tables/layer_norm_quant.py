# SPDX-License-Identifier: Apache-2.0
"""aclnnLayerNormQuant (CANN: ops-nn norm/layer_norm_quant)."""

import numpy as np

from tests.operators.notation import *

CHIPS = (*A2_A3, P950, P310)
TENSORS = ("x", "gammma", "beta", "scale", "zeroPointsOptional", "res")
BASE: dict[str, Argument] = {
    "x": t(2, 3, 16, dtype=F16),
    "gammma": t(1, 16, dtype=F16),
    "beta": t(1, 16, dtype=F16),
    "scale": array([0.25], F16),
    "zeroPointsOptional": array([3], I8),
    "quantMode": 0,
    "epsilon": 1e-5,
    "res": t(2, 3, 16, dtype=I8),
    "scaleOut": None,
}


def formula(given: Numbers, _chip: str) -> Truth:
    x = given["x"]
    xhat = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + given["epsilon"])
    y = xhat * given["gammma"].ravel() + given["beta"].ravel()
    whole = np.rint(y / given["scale"] + given["zeroPointsOptional"])
    return {"res": np.clip(whole, -128, 127)}


def row(x: str) -> tuple[str, ...]:
    return (x, x, x, x, I8, I8)


HALVES = (row(F16), row(BF16))
TABLE = Table(
    name="aclnnLayerNormQuant",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("res",),
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*TENSORS)),
        unordered(INVALID, typed(*TENSORS), typed(*TENSORS[1:4], dtype=BF16)),
        unordered(
            INVALID,
            shaped("x", (1,) * 9),
            shaped("gammma", (8,), (2, 16), (1, 1, 16)),
            shaped("beta", (8,)),
            shaped("scale", (2,), ()),
            shaped("zeroPointsOptional", (1, 1)),
            shaped("res", (6, 16)),
            broken("another mode", quantMode=1),
        ),
    ),
    types=Types(
        TENSORS, {**dict.fromkeys(A2_A3, HALVES), P950: (row(F32), *HALVES), P310: (row(F16),)}
    ),
    formula=formula,
    cases=(
        runs("sound", {}),
        runs("a place for what is never written", {"scaleOut": t(6)}),
        idle("no rows", {"x": t(0, 16, dtype=F16), "res": t(0, 16, dtype=I8)}),
        *(
            Case(
                f"four in {dtype}",
                {
                    "x": array([[1, 2, 3, 4]], dtype),
                    "gammma": array([[1, 2, 0.5, 1]], dtype),
                    "beta": array([[0, 0, 1, 0]], dtype),
                    "scale": array([0.02], dtype),
                    "res": t(1, 4, dtype=I8),
                },
                chips,
                gives={"res": [[-64, -42, 64, 70]]},
            )
            for dtype, chips in ((F16, CHIPS), (BF16, (*A2_A3, P950)), (F32, (P950,)))
        ),
    ),
)
