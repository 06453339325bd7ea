# SPDX-License-Identifier: Apache-2.0
"""aclnnRmsNorm (CANN: ops-nn norm/rms_norm)."""

import numpy as np

from tests.operators.notation import *

SYSTEM = 16 << 20
TENSORS = ("x", "gamma", "yOut", "rstdOut")
CHIPS = (*A2_A3, P950, P310, P910)

BASE: dict[str, Argument] = {
    "x": t(2, 3, 4, 16),
    "gamma": t(4, 16),
    "epsilon": 1e-6,
    "yOut": t(2, 3, 4, 16),
    "rstdOut": t(2, 3, 1, 1),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, gamma = given["x"], given["gamma"]
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    rstd = 1 / np.sqrt((x * x).mean(axes, keepdims=True) + given["epsilon"])
    return {"yOut": x * rstd * gamma, "rstdOut": rstd}


FULL = (
    (F16, F32, F16, F32),
    (BF16, F32, BF16, F32),
    (F16, F16, F16, F32),
    (BF16, BF16, BF16, F32),
    (F32, F32, F32, F32),
)
NARROW = ((F16, F16, F16, F32), (F32, F32, F32, F32))


def empty(x: tuple[int, ...], gamma: int, rstd: tuple[int, ...]) -> Changes:
    return {"x": t(*x), "gamma": t(gamma), "yOut": t(*x), "rstdOut": t(*rstd)}


TILING_STEPS = (
    step(TILING, shaped("x", (), NINE)),
    step(TILING, shaped("gamma", (), NINE)),
    step(TILING, shaped("gamma", (1, 2, 3, 4, 16))),
    step(TILING, shaped("yOut", (6, 4, 16))),
    step(TILING, shaped("gamma", (3, 16), (4, 4), (4, 0))),
    step(TILING, shaped("yOut", (2, 4, 4, 16), (2, 3, 4, 15))),
    step(TILING, shaped("rstdOut", (3, 3, 1, 1), (2, 0), (2, 3, 1, 1, 2))),
    step(TILING, broken("epsilon below 0", epsilon=-1.0)),
)
TABLE = Table(
    name="aclnnRmsNorm",
    kind=INDIVIDUAL,
    base=BASE,
    results=("yOut", "rstdOut"),
    chips=CHIPS,
    steps=individual(TENSORS, CHIPS, *TILING_STEPS),
    types=Types(
        TENSORS, {**dict.fromkeys((*A2_A3, P950), FULL), **dict.fromkeys((P310, P910), NARROW)}
    ),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}, workspace=SYSTEM),
        runs("epsilon 0", {"epsilon": 0.0}),
        runs("an epsilon that is 0 in float32", {"epsilon": -1e-50}),
        runs("gamma spans eight dimensions", {name: t(*NINE[:8]) for name in TENSORS}),
        runs("rstd too small", {"rstdOut": t(1, 3, 1, 1)}, computed=False),
        idle("no rows", empty((0, 8), 8, (0, 1))),
        refused(TILING, "no rows, but a place for rstd", empty((0, 8), 8, (1, 1))),
        refused(TILING, "no columns", empty((3, 0), 0, (3, 1))),
        idle("no columns, no rstd", empty((3, 0), 0, (0,))),
        idle(
            "empty results are not tiled",
            {"x": t(), "gamma": t(*NINE), "yOut": t(0), "rstdOut": t(5, 0), "epsilon": -1.0},
        ),
        Case(
            "the official example",
            {
                "x": array(np.tile(np.arange(8.0), (2, 2))),
                "gamma": array(np.tile(np.arange(8.0), 2)),
                "yOut": t(2, 16),
                "rstdOut": t(2, 1),
            },
            gives={"rstdOut": [[0.23904572]] * 2},
            rtol=2e-7,
        ),
    ),
)
