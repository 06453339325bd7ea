# SPDX-License-Identifier: Apache-2.0
"""aclnnRmsNormGradQuant (CANN: ops-nn norm/rms_norm_grad_quant)."""

import numpy as np

from tests.operators.notation import *

TENSORS = ("dy", "x", "rstd", "gamma", "scalesX", "offsetXOptional", "dxOut", "dgammaOut")
BASE: dict[str, Argument] = {
    **dict.fromkeys(("dy", "x"), t(2, 3, 16)),
    "rstd": t(2, 3, 1),
    "gamma": t(16),
    "scalesX": array([0.25]),
    "offsetXOptional": array([1], dtype=I32),
    "quantMode": "static",
    "divMode": True,
    "dxOut": t(2, 3, 16, dtype=I8),
    "dgammaOut": t(16),
}


def formula(given: Numbers, _chip: str) -> Truth:
    xhat, offset = given["x"] * given["rstd"], given["offsetXOptional"]
    g = given["dy"] * given["gamma"]
    dx = (g - xhat * (g * xhat).mean(-1, keepdims=True)) * given["rstd"]
    dx = dx / given["scalesX"] if given["divMode"] else dx * given["scalesX"]
    whole = np.rint(dx + (0 if offset is None else offset))
    by_row = (given["dy"] * xhat).reshape(-1, xhat.shape[-1])
    return {"dxOut": np.clip(whole, -128, 127), "dgammaOut": by_row.sum(0)}


def row(x: str, gamma: str, scale: str) -> tuple[str, ...]:
    return (x, x, F32, gamma, scale, I32, I8, F32)


PAIRS = ((F32, F32), *((x, gamma) for x in (F16, BF16) for gamma in (F32, x)))
KNOWN = tuple(row(*pair, scale) for pair in PAIRS for scale in (F32, F16, BF16))
FOUR = {
    "dy": array([[1, -1, 0.5, 2]]),
    "x": array([[1, 2, 3, 4]]),
    "rstd": array([[0.36514835]]),
    "gamma": array([1, 2, 0.5, 1]),
    "scalesX": array([0.01]),
    "offsetXOptional": array([1], dtype=I32),
    "dxOut": t(1, 4, dtype=I8),
    "dgammaOut": t(4),
}
DGAMMA = [0.365148, -0.730297, 0.547723, 2.92118]
# The scale has any float type, whatever that of x; the offset is an integer.
TABLE = Table(
    name="aclnnRmsNormGradQuant",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("dxOut", "dgammaOut"),
    chips=(P950,),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("dy", "x", "rstd", "gamma", "scalesX", "dxOut", "dgammaOut")),
        unordered(
            INNER_NULL,
            typed(*TENSORS),
            broken("a float offset", offsetXOptional=array([1])),
            shaped("dy", (6, 16)),
            shaped("gamma", (8,)),
            shaped("scalesX", (2,)),
            shaped("offsetXOptional", (2,)),
            shaped("dxOut", (6, 16)),
            shaped("dgammaOut", (1, 16)),
            broken("another mode", quantMode="dynamic"),
        ),
    ),
    types=Types(
        TENSORS,
        {P950: KNOWN},
        unknown=tuple((*row[:6], HIF8, F32) for row in KNOWN),
        listed={P950: frozenset({F32, F16, BF16, I8, "INT32"})},
        code=INNER_NULL,
    ),
    formula=formula,
    optional=("offsetXOptional",),
    cases=(
        runs("sound", {}),
        refused(999001, "HIFLOAT8 is not computed", {"dxOut": Changed(dtype=HIF8)}),
        idle(
            "no columns",
            {
                **dict.fromkeys(("dy", "x"), t(2, 3, 0)),
                **dict.fromkeys(("gamma", "dgammaOut"), t(0)),
                "dxOut": t(2, 3, 0, dtype=I8),
            },
        ),
        Case(
            "divided", FOUR, gives={"dxOut": [[31, -86, -11, 46]], "dgammaOut": DGAMMA}, rtol=3e-6
        ),
        Case(
            "multiplied",
            {**FOUR, "scalesX": array([100]), "divMode": False},
            gives={"dxOut": [[31, -86, -11, 46]], "dgammaOut": DGAMMA},
            rtol=3e-6,
        ),
    ),
)
