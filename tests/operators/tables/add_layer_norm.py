# SPDX-License-Identifier: Apache-2.0
"""aclnnAddLayerNorm (CANN: ops-nn norm/add_layer_norm)."""

import numpy as np

from tests.operators.notation import *

CHIPS = (*A2_A3, P950, P310)
OUTS = ("yOut", "meanOut", "rstdOut", "xOut")
REQUIRED = ("x1", "x2", "gamma", "beta", *OUTS)
TENSORS = ("x1", "x2", "gamma", "beta", "biasOptional", *OUTS)
BASE: dict[str, Argument] = {
    **dict.fromkeys(("x1", "x2"), t(2, 3, 4, 16)),
    **dict.fromkeys(("gamma", "beta", "biasOptional"), t(4, 16)),
    "epsilon": 1e-5,
    "additionalOutput": True,
    "yOut": t(2, 3, 4, 16),
    **dict.fromkeys(("meanOut", "rstdOut"), t(2, 3, 1, 1)),
    "xOut": t(2, 3, 4, 16),
}


def formula(given: Numbers, _chip: str) -> Truth:
    gamma, bias = given["gamma"], given["biasOptional"]
    x = given["x1"] + given["x2"] + (0 if bias is None else bias)
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    mean = x.mean(axes, keepdims=True)
    rstd = (x.var(axes, keepdims=True) + given["epsilon"]) ** -0.5
    y = (x - mean) * rstd * gamma + given["beta"]
    found = {"yOut": y, "meanOut": mean, "rstdOut": rstd, "xOut": x}
    return {
        name: value for name, value in found.items() if given["additionalOutput"] or name != "xOut"
    }


def row(x1: str, x2: str, gamma: str, bias: str, y: str) -> tuple[str, ...]:
    return (x1, x2, gamma, gamma, bias, y, F32, F32, y)


PLAIN = tuple(row(*(kind,) * 5) for kind in (F32, F16))
ROWS = (
    *PLAIN,
    row(*(BF16,) * 5),
    *(row(kind, kind, F32, kind, kind) for kind in (F16, BF16)),
    *(row(F32, kind, F32, F32, F32) for kind in (F16, BF16)),
    *(row(kind, F32, F32, F32, F32) for kind in (F16, BF16)),
)


def plain(rows: int, columns: int) -> Changes:
    wide, one, narrow = t(rows, columns), t(rows, 1), t(columns)
    found = (wide, wide, narrow, narrow, narrow, wide, one, one, wide)
    return dict(zip(TENSORS, found, strict=True))


FOUR: Changes = {
    **plain(1, 4),
    "x1": array([[1, 2, 3, 4]]),
    "x2": array([[1, 0, -1, 2]]),
    "gamma": array([1, 2, 0.5, 1]),
    "beta": array([0, 1, 0, -1]),
    "biasOptional": array([0.5, 0.5, 0, 0]),
}
SAVED = {"meanOut": [[3.25]], "rstdOut": [[0.62469381]]}
NORMAL = {"yOut": [[-0.46852, 0.0629593, -0.390434, 0.717908]]}
FIRST: Changes = {
    "x1": array(np.repeat([[[1], [2]]], 8, 2)),
    "x2": array(np.repeat([[[4], [-3]]], 8, 2)),
    "gamma": array([2] * 8),
    "beta": array([0.1] * 8),
    **dict.fromkeys(("yOut", "xOut"), t(1, 2, 8)),
    **dict.fromkeys(("meanOut", "rstdOut"), t(1, 2, 1)),
    "epsilon": 1e-6,
}
CONSTANT = {"yOut": np.full((1, 2, 8), 0.1), "rstdOut": np.full((1, 2, 1), 1000)}
TABLE = Table(
    name="aclnnAddLayerNorm",
    kind=INDIVIDUAL,
    base=BASE,
    results=OUTS,
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        unordered(
            TILING,
            shaped("x1", ()),
            shaped("x2", (6, 4, 16), NINE),
            shaped("yOut", (6, 64)),
            shaped("xOut", (2, 3, 64)),
            shaped("meanOut", (2, 3)),
            shaped("rstdOut", (2, 3, 1)),
            named=False,
        ),
        unordered(
            TILING,
            shaped("x2", (1, 3, 4, 16)),
            shaped("yOut", (2, 3, 4, 15)),
            shaped("xOut", (2, 3, 4, 8)),
            shaped("gamma", (3, 16), (1, 2, 3, 4, 16)),
            shaped("beta", (16,), (4, 4)),
            shaped("meanOut", (3, 3, 1, 1), (2, 3, 4, 1)),
            shaped("rstdOut", (2, 1, 1, 1), (2, 3, 1, 16)),
        ),
        required=REQUIRED,
    ),
    types=Types(TENSORS, {**dict.fromkeys((*A2_A3, P950), ROWS), P310: PLAIN}),
    formula=formula,
    optional=("biasOptional",),
    unwritten={P310: ("meanOut", "rstdOut")},
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        runs("epsilon is not looked at", {"epsilon": -1e-9}, computed=False),
        runs("a bias for each element", {"biasOptional": t(2, 3, 4, 16)}),
        runs("the sum is not wanted", {"additionalOutput": False}),
        refused(TILING, "a bias of another shape on the 950", {"biasOptional": t(16)}, (P950,)),
        runs("a bias of another shape", {"biasOptional": t(64)}, (*A2_A3, P310), computed=False),
        idle("no rows", plain(0, 8)),
        refused(TILING, "no columns", plain(3, 0)),
        Case("a row of four", FOUR, A2_A3, gives={**NORMAL, **SAVED, "xOut": [[2.5, 2.5, 2, 6]]}),
        Case(
            "a row of four, the sum not wanted",
            {**FOUR, "additionalOutput": False},
            gives={**NORMAL, "xOut": UNTOUCHED},
        ),
        Case(
            "the official example",
            {**FIRST, "biasOptional": array([0.5] * 8)},
            (*A2_A3, P950),
            gives={**CONSTANT, "meanOut": [[[5.5], [-0.5]]]},
            rtol=2e-6,
        ),
        Case(
            "the official example without bias",
            {**FIRST, "biasOptional": None},
            (*A2_A3, P950),
            gives={**CONSTANT, "meanOut": [[[5], [-1]]]},
            rtol=2e-6,
        ),
    ),
)
