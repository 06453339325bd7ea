# SPDX-License-Identifier: Apache-2.0
"""aclnnDeepNorm and aclnnDeepNormGrad (CANN: ops-nn norm/deep_norm, norm/deep_norm_grad)."""

import numpy as np

from tests.operators.notation import *

CHIPS = (*A2_A3, P950, P310)
WIDE, ROWS = t(2, 3, 4, 16), t(2, 3, 1, 1)
TENSORS = ("x", "gx", "beta", "gamma", "meanOut", "rstdOut", "yOut")
BASE: dict[str, Argument] = {
    "x": WIDE,
    "gx": WIDE,
    "beta": t(4, 16),
    "gamma": t(4, 16),
    "alpha": 0.5,
    "epsilon": 1e-6,
    "meanOut": ROWS,
    "rstdOut": ROWS,
    "yOut": WIDE,
}
GRAD_TENSORS = (
    *("dy", "x", "gx", "gamma", "mean", "rstd"),
    *("dxOut", "dgxOut", "dbetaOut", "dgammaOut"),
)
GRAD_BASE: dict[str, Argument] = {
    **dict.fromkeys(("dy", "x", "gx"), WIDE),
    "gamma": t(4, 16),
    "mean": ROWS,
    "rstd": ROWS,
    "alpha": 0.5,
    **dict.fromkeys(("dxOut", "dgxOut"), WIDE),
    **dict.fromkeys(("dbetaOut", "dgammaOut"), t(4, 16)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    gamma = given["gamma"]
    h = given["alpha"] * given["x"] + given["gx"]
    axes = tuple(range(h.ndim - gamma.ndim, h.ndim))
    mean = h.mean(axes, keepdims=True)
    rstd = 1 / np.sqrt(((h - mean) ** 2).mean(axes, keepdims=True) + given["epsilon"])
    return {"meanOut": mean, "rstdOut": rstd, "yOut": (h - mean) * rstd * gamma + given["beta"]}


def gradients(given: Numbers, _chip: str) -> Truth:
    """As the kernel has it: by way of the gradients of variance and mean."""
    shape, n = given["x"].shape, given["gamma"].size
    dy = given["dy"].reshape(-1, n)
    mean, rstd = given["mean"].reshape(-1, 1), given["rstd"].reshape(-1, 1)
    centred = (given["alpha"] * given["x"] + given["gx"]).reshape(-1, n) - mean
    scaled = dy * given["gamma"].reshape(n)
    of_variance = -(scaled * centred * rstd**3).sum(1, keepdims=True) / n
    of_mean = -(scaled * rstd).sum(1, keepdims=True) / n
    dgx = (scaled * rstd + of_variance * centred + of_mean).reshape(shape)
    narrow = given["gamma"].shape
    return {
        "dxOut": given["alpha"] * dgx,
        "dgxOut": dgx,
        "dbetaOut": dy.sum(0).reshape(narrow),
        "dgammaOut": (dy * rstd * centred).sum(0).reshape(narrow),
    }


def types(names: tuple[str, ...], *wide: str) -> Types:
    """One type but for what is float32 always."""

    def row(dtype: str) -> tuple[str, ...]:
        return tuple(F32 if name in wide else dtype for name in names)

    full = tuple(map(row, (F16, F32, BF16)))
    return Types(names, {**dict.fromkeys((*A2_A3, P950), full), P310: full[:2]})


def plain(rows: int, columns: int, statistics: int) -> Changes:
    wide, narrow, one = t(rows, columns), t(columns), t(statistics, 1)
    return dict(zip(TENSORS, (wide, wide, narrow, narrow, one, one, wide), strict=True))


def grad_plain(rows: int, columns: int) -> Changes:
    wide, narrow, one = t(rows, columns), t(columns), t(rows, 1)
    found = (wide, wide, wide, narrow, one, one, wide, wide, narrow, narrow)
    return dict(zip(GRAD_TENSORS, found, strict=True))


TWO: Changes = {
    "x": array([[1, 2, 3, 4], [0, 1, 0, 1]]),
    "gx": array([[0.1, 0.2, 0.3, 0.4], [1, 1, -1, -1]]),
    "gamma": array([1, 2, 0.5, 1]),
}
OFFICIAL_GX = np.repeat([[2.0, 4, 6, 8]], 3, 1).reshape(3, 1, 4)
OFFICIAL: Changes = {
    "x": array(np.arange(1.0, 13.0).reshape(3, 1, 4)),
    "gx": array(OFFICIAL_GX),
    "gamma": array([0, 1, 2, 3]),
    "alpha": 0.3,
}
TABLE = Table(
    name="aclnnDeepNorm",
    kind=INDIVIDUAL,
    base=BASE,
    results=("meanOut", "rstdOut", "yOut"),
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        unordered(
            TILING,
            shaped("x", (), (16,), NINE),
            shaped("gamma", (), NINE, (1, 2, 3, 4, 16), (2, 3, 4, 16)),
            shaped("gx", (6, 4, 16)),
            shaped("yOut", (6, 4, 16)),
            shaped("meanOut", (2, 3)),
            shaped("rstdOut", (2, 3, 1)),
            shaped("beta", (64,)),
        ),
        unordered(
            TILING,
            shaped("gx", (2, 3, 4, 15), (1, 3, 4, 16)),
            shaped("yOut", (2, 3, 4, 15)),
            shaped("rstdOut", (3, 3, 1, 1), (2, 1, 1, 1)),
            shaped("meanOut", (3, 3, 1, 1), (2, 1, 1, 1)),
            shaped("gamma", (3, 16), (4, 4)),
            shaped("beta", (3, 16), (4, 4)),
            named=False,
        ),
        unordered(
            TILING,
            shaped("meanOut", (2, 3, 4, 1), (2, 3, 1, 16)),
            shaped("rstdOut", (2, 3, 4, 1), (2, 3, 1, 16)),
            chips=(P950,),
        ),
    ),
    types=types(TENSORS, "meanOut", "rstdOut"),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        runs("epsilon is not looked at", {"epsilon": -1e-9}, computed=False),
        idle("no rows", plain(0, 8, 0)),
        refused(TILING, "no columns, but a place for the mean", plain(3, 0, 3)),
        runs(
            "nobody looks at what should be ones",
            {"meanOut": t(2, 3, 4, 1), "rstdOut": t(2, 3, 1, 16)},
            (*A2_A3, P310),
            computed=False,
        ),
        Case(
            "two rows",
            {
                **TWO,
                "beta": array([0, 0.1, 0, -0.1]),
                **dict.fromkeys(("meanOut", "rstdOut"), t(2, 1)),
                "yOut": t(2, 4),
            },
            gives={
                "meanOut": [[1.5], [0.25]],
                "rstdOut": [[1.49071], [0.9701421]],
                "yOut": [
                    [-1.34164, -0.794426, 0.223606, 1.24164],
                    [0.727607, 2.52536, -0.606339, -0.827607],
                ],
            },
            rtol=1e-5,
        ),
        Case(
            "the official example",
            {
                **OFFICIAL,
                "beta": array([0, 1, 2, 3]),
                **dict.fromkeys(("meanOut", "rstdOut"), t(3, 1, 1)),
                "yOut": t(3, 1, 4),
            },
            gives={
                "meanOut": [[[3.25]], [[6.95]], [[10.65]]],
                "rstdOut": [[[0.872871]], [[0.76416]], [[0.872871]]],
                "yOut": [
                    [[0, 0.432634, 1.38899, 8.106297]],
                    [[0, 0.121215, 3.757569, 6.324098]],
                    [[0, 1.305505, 3.134733, 5.487683]],
                ],
            },
            rtol=1e-5,
        ),
    ),
)
GRAD = Table(
    name="aclnnDeepNormGrad",
    kind=INDIVIDUAL,
    base=GRAD_BASE,
    results=("dxOut", "dgxOut", "dbetaOut", "dgammaOut"),
    chips=CHIPS,
    steps=individual(
        GRAD_TENSORS,
        CHIPS,
        unordered(
            TILING,
            shaped("x", (), (16,), NINE),
            shaped("dy", (), (6, 4, 16)),
            shaped("gamma", (), NINE, (1, 2, 3, 4, 16), (2, 3, 4, 16)),
            shaped("gx", (6, 4, 16)),
            shaped("dxOut", (6, 4, 16)),
            shaped("dgxOut", (6, 4, 16)),
            shaped("mean", (2, 3)),
            shaped("rstd", (2, 3, 1)),
            shaped("dgammaOut", (64,)),
            shaped("dbetaOut", (64,)),
        ),
        unordered(
            TILING,
            shaped("dy", (2, 3, 4, 15), (5, 3, 4, 16)),
            shaped("gx", (2, 3, 4, 15), (1, 3, 4, 16)),
            shaped("dxOut", (2, 3, 4, 15)),
            shaped("dgxOut", (2, 4, 4, 16)),
            shaped("rstd", (3, 3, 1, 1), (2, 1, 1, 1)),
            shaped("mean", (3, 3, 1, 1), (2, 1, 1, 1)),
            shaped("gamma", (3, 16), (4, 4)),
            shaped("dgammaOut", (3, 16)),
            shaped("dbetaOut", (4, 4)),
        ),
    ),
    types=types(GRAD_TENSORS, "mean", "rstd", "dbetaOut", "dgammaOut"),
    formula=gradients,
    layouts=as_nd(*GRAD_TENSORS),
    cases=(
        runs("sound", {}),
        refused(TILING, "no rows", grad_plain(0, 8)),
        idle("no columns", grad_plain(3, 0)),
        Case(
            "two rows",
            {
                **TWO,
                "dy": array([[1, -1, 2, 0.5], [0.5, 0.5, -0.5, 1]]),
                "mean": array([[1.5], [0.25]]),
                "rstd": array([[1.4907104], [0.9701421]]),
                **dict.fromkeys(("dxOut", "dgxOut"), t(2, 4)),
                **dict.fromkeys(("dbetaOut", "dgammaOut"), t(4)),
            },
            gives={
                "dgxOut": [
                    [1.63978, -3.05596, 1.19257, 0.223607],
                    [-0.263936, 0.0856011, -0.449404, 0.627739],
                ],
                "dbetaOut": [1.5, -0.5, 1.5, 1.5],
                "dgammaOut": [-0.977836, 1.05355, 1.50076, -0.0567868],
            },
            rtol=1e-5,
        ),
        Case(
            "the official example",
            {
                **OFFICIAL,
                "dy": array(np.arange(1.0, 13.0).reshape(3, 1, 4)),
                **dict.fromkeys(("mean", "rstd"), array(np.arange(3.0).reshape(3, 1, 1))),
                **dict.fromkeys(("dxOut", "dgxOut"), t(3, 1, 4)),
                **dict.fromkeys(("dbetaOut", "dgammaOut"), t(4)),
            },
            gives={
                "dgxOut": [
                    [[0, 0, 0, 0]],
                    [[-355.025, -371.96, -539.795, -552.73]],
                    [[-8612.68, -11537.6, -11897.72, -12253.84]],
                ],
                "dbetaOut": [15, 18, 21, 24],
                "dgammaOut": [143.1, 208.8, 254.3, 289.6],
            },
            rtol=1e-5,
        ),
    ),
    gradients=(
        Gradient(
            "aclnnDeepNorm",
            upstream={"dy": "yOut"},
            saved={"mean": "meanOut", "rstd": "rstdOut"},
            shared={name: name for name in ("x", "gx", "gamma", "alpha")},
            gives={
                "dxOut": ("x",),
                "dgxOut": ("gx",),
                "dbetaOut": ("beta",),
                "dgammaOut": ("gamma",),
            },
        ),
    ),
)
