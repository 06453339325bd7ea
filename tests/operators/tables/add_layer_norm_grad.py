# SPDX-License-Identifier: Apache-2.0
"""aclnnAddLayerNormGrad (CANN: ops-nn norm/add_layer_norm_grad)."""

from tests.operators.notation import *

CHIPS = (*A2_A3, P950, P310)
REQUIRED = ("dy", "x1", "x2", "rstd", "mean", "gamma", "dxOut", "dgammaOut", "dbetaOut")
TENSORS = (*REQUIRED[:6], "dsumOptional", *REQUIRED[6:])
BASE: dict[str, Argument] = {
    **dict.fromkeys(("dy", "x1", "x2"), t(2, 3, 4, 16)),
    **dict.fromkeys(("rstd", "mean"), t(2, 3, 1, 1)),
    "gamma": t(4, 16),
    **dict.fromkeys(("dsumOptional", "dxOut"), t(2, 3, 4, 16)),
    **dict.fromkeys(("dgammaOut", "dbetaOut"), t(4, 16)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    shape, n = given["x1"].shape, given["gamma"].size
    dy, x = given["dy"].reshape(-1, n), (given["x1"] + given["x2"]).reshape(-1, n)
    rstd = given["rstd"].reshape(-1, 1)
    hat, g = (x - given["mean"].reshape(-1, 1)) * rstd, dy * given["gamma"].reshape(n)
    dx = rstd * (g - g.mean(1, keepdims=True) - hat * (g * hat).mean(1, keepdims=True))
    dsum, narrow = given["dsumOptional"], given["gamma"].shape
    return {
        "dxOut": dx.reshape(shape) + (0 if dsum is None else dsum),
        "dgammaOut": (dy * hat).sum(0).reshape(narrow),
        "dbetaOut": dy.sum(0).reshape(narrow),
    }


def row(dtype: str) -> tuple[str, ...]:
    """All of one type but what is float32 always."""
    wide = ("rstd", "mean", "dgammaOut", "dbetaOut")
    return tuple(F32 if name in wide else dtype for name in TENSORS)


def plain(rows: int, columns: int) -> Changes:
    wide, one, narrow = t(rows, columns), t(rows, 1), t(columns)
    found = (wide, wide, wide, one, one, narrow, wide, wide, narrow, narrow)
    return dict(zip(TENSORS, found, strict=True))


FOUR: Changes = {
    "dy": array([[1, -1, 2, 0.5]]),
    "x1": array([[1, 2, 3, 4]]),
    "x2": array([[1, 0, -1, 2]]),
    "rstd": array([[0.57734931]]),
    "mean": array([[3]]),
    "gamma": array([1, 2, 0.5, 1]),
    "dsumOptional": array([[0.1, 0.2, 0.3, 0.4]]),
    "dxOut": t(1, 4),
    **dict.fromkeys(("dgammaOut", "dbetaOut"), t(4)),
}
SMALL: Changes = {
    **dict.fromkeys(("x1", "x2", "yOut", "xOut"), Changed((2, 2, 4))),
    **dict.fromkeys(("meanOut", "rstdOut"), Changed((2, 2, 1))),
    **dict.fromkeys(("gamma", "beta"), Changed((4,))),
}
TABLE = Table(
    name="aclnnAddLayerNormGrad",
    kind=INDIVIDUAL,
    base=BASE,
    results=("dxOut", "dgammaOut", "dbetaOut"),
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        unordered(
            TILING,
            shaped("x1", (), NINE),
            shaped("gamma", (), NINE, (1, 2, 3, 4, 16)),
            shaped("rstd", (2, 3)),
            shaped("mean", (2, 3, 1)),
            shaped("dgammaOut", (64,)),
            shaped("dbetaOut", (1, 4, 16)),
        ),
        unordered(
            TILING,
            broken(
                "rows of no columns",
                "dy",
                **{name: Changed((2, 3, 4, 0)) for name in ("dy", "x1", "x2", "dxOut")},
            ),
            shaped("dy", (6, 4, 16), (2, 3, 4, 15)),
            shaped("x2", (6, 4, 16), (1, 3, 4, 16)),
            shaped("dxOut", (6, 4, 16), (2, 3, 4, 15)),
        ),
        unordered(
            TILING,
            shaped("rstd", (3, 3, 1, 1), (2, 3, 4, 1)),
            shaped("mean", (2, 1, 1, 1), (2, 3, 1, 16)),
            shaped("gamma", (3, 16), (4, 4)),
            shaped("dgammaOut", (3, 16)),
            shaped("dbetaOut", (4, 4)),
        ),
        required=REQUIRED,
    ),
    types=Types(
        TENSORS,
        {
            **dict.fromkeys((*A2_A3, P950), tuple(map(row, (F32, F16, BF16)))),
            P310: (row(F32), row(F16)),
        },
    ),
    formula=formula,
    optional=("dsumOptional",),
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        runs("no gradient of the sum", {"dsumOptional": None}),
        refused(TILING, "no rows", plain(0, 8)),
        idle("no columns", plain(3, 0)),
        Case(
            "a row of four",
            FOUR,
            gives={
                "dxOut": [[0.677349, -0.954699, 0.877349, 0.400001]],
                "dgammaOut": [-0.577349, 0.577349, -1.1547, 0.866024],
                "dbetaOut": [1, -1, 2, 0.5],
            },
            rtol=1e-5,
        ),
    ),
    gradients=(
        Gradient(
            forward="aclnnAddLayerNorm",
            upstream={"dy": "yOut"},
            saved={"mean": "meanOut", "rstd": "rstdOut"},
            shared={"x1": "x1", "x2": "x2", "gamma": "gamma"},
            gives={"dxOut": ("x1", "x2"), "dgammaOut": ("gamma",), "dbetaOut": ("beta",)},
            changes={"biasOptional": None, **SMALL},
            own={"dsumOptional": None},
        ),
    ),
)
