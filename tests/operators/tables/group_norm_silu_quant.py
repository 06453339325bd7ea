# SPDX-License-Identifier: Apache-2.0
"""aclnnGroupNormSiluQuant (CANN: ops-nn norm/group_norm_silu_quant)."""

import numpy as np

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables import group_norm_silu as forward

CHIPS = (*A2_A3, P950)
STATISTICS = forward.STATISTICS
TENSORS = ("self", "gamma", "beta", "quantScale", "out", *STATISTICS)
BASE: dict[str, Argument] = {
    "self": t(2, 4, 3, 2, dtype=F16),
    **dict.fromkeys(("gamma", "beta"), t(4, dtype=F16)),
    "quantScale": array([0.1, 0.2, 0.05, 0.5]),
    "group": 2,
    "eps": 1e-5,
    "activateSilu": True,
    "out": t(2, 4, 3, 2, dtype=I8),
    **dict.fromkeys(STATISTICS, t(2, 2, dtype=F16)),
}


def formula(given: Numbers, chip: str) -> Truth:
    found = forward.formula(given, chip)
    by_channel = (1, -1, *(1,) * (found["out"].ndim - 2))
    scaled = found["out"] / given["quantScale"].reshape(by_channel)
    return {**found, "out": np.clip(np.rint(scaled), -128, 127)}


def row(x: str) -> tuple[str, ...]:
    return (x, x, x, F32, I8, x, x)


def four(dtype: str, scale: list[float]) -> Changes:
    return {
        "self": array([[[1, 2], [3, 4], [2, 0], [-2, 0]]], dtype),
        "gamma": array([1, 2, 1, 0.5], dtype),
        "beta": array([0, 0.5, 0, -0.5], dtype),
        "quantScale": array(scale),
        "out": t(1, 4, 2, dtype=I8),
        **dict.fromkeys(STATISTICS, t(1, 2, dtype=dtype)),
    }


EMPTY = {"meanOut": np.zeros((2, 2)), "rstdOut": np.full((2, 2), np.nan)}
TABLE = Table(
    name="aclnnGroupNormSiluQuant",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("out", *STATISTICS),
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("self", "quantScale", "out", *STATISTICS)),
        unordered(INVALID, typed(*TENSORS), typed("out", *STATISTICS, dtype=F32)),
        unordered(
            INVALID,
            shaped("self", (8,), (1,) * 9),
            shaped("out", (2, 4, 6)),
            shaped("meanOut", (2, 4), (4,)),
            shaped("rstdOut", (4, 1), (2, 2, 1)),
            shaped("gamma", (3,), (4, 1)),
            shaped("beta", (8,), (1, 4)),
            shaped("quantScale", (2,), (4, 1)),
            broken("not activated", activateSilu=False),
        ),
        unordered(
            INVALID,
            broken("no group", group=0, meanOut=Changed((2, 0)), rstdOut=Changed((2, 0))),
            broken("three groups", group=3, meanOut=Changed((2, 3)), rstdOut=Changed((2, 3))),
            broken("eps 0", eps=0.0),
            broken("eps below 0", eps=-1.0),
        ),
    ),
    types=Types(TENSORS, dict.fromkeys(CHIPS, (row(F16), row(BF16)))),
    formula=formula,
    optional=("gamma", "beta"),
    cases=(
        runs("sound", {}),
        Case(
            "no space",
            {"self": t(2, 4, 0, dtype=F16), "out": t(2, 4, 0, dtype=I8)},
            workspace=0,
            gives=EMPTY,
        ),
        refused(
            INVALID,
            "no samples",
            {
                "self": t(0, 4, 6, dtype=F16),
                "out": t(0, 4, 6, dtype=I8),
                **dict.fromkeys(STATISTICS, t(0, 2, dtype=F16)),
            },
        ),
        *(
            Case(
                f"two groups of two channels in {dtype}, {what}",
                four(dtype, scale),
                gives={"out": [[[-3, -2], [11, 31], [11, 0], [-3, -2]]]},
            )
            for dtype in (F16, BF16)
            for what, scale in (("one scale", [0.1]), ("a scale for each channel", [0.1] * 4))
        ),
    ),
)
