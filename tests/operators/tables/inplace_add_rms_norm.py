# SPDX-License-Identifier: Apache-2.0
"""aclnnInplaceAddRmsNorm (CANN: ops-nn norm/inplace_add_rms_norm)."""

import numpy as np

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables import add_rms_norm as forward

CHIPS = (*A2_A3, P950, P310)
TENSORS = ("x1Ref", "x2Ref", "gamma", "rstdOut")
BASE: dict[str, Argument] = {
    "x1Ref": t(2, 3, 4, 16),
    "x2Ref": t(2, 3, 4, 16),
    "gamma": t(4, 16),
    "epsilon": 1e-6,
    "rstdOut": t(2, 3, 1, 1),
}


def formula(given: Numbers, chip: str) -> Truth:
    """The first becomes the normalized sum, the second the sum."""
    found = forward.formula({**given, "x1": given["x1Ref"], "x2": given["x2Ref"]}, chip)
    return {"x1Ref": found["yOut"], "x2Ref": found["xOut"], "rstdOut": found["rstdOut"]}


def row(dtype: str) -> tuple[str, ...]:
    return (dtype, dtype, dtype, F32)


def four(dtype: str, x1: list[float], x2: list[float], gamma: list[float]) -> dict[str, Argument]:
    placed = (array([x1], dtype), array([x2], dtype), array(gamma, dtype), t(1, 1))
    return dict(zip(TENSORS, placed, strict=True))


TABLE = Table(
    name="aclnnInplaceAddRmsNorm",
    kind=INDIVIDUAL,
    releases=("9",),
    base=BASE,
    results=("x1Ref", "x2Ref", "rstdOut"),
    updated=("x1Ref", "x2Ref"),
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        step(TILING, shaped("x1Ref", (), NINE)),
        step(TILING, shaped("gamma", (), NINE)),
        step(TILING, shaped("gamma", (1, 2, 3, 4, 16))),
        unordered(TILING, shaped("x2Ref", (6, 4, 16)), shaped("rstdOut", (2, 3))),
        step(TILING, shaped("x2Ref", (2, 3, 4, 15), (1, 3, 4, 16))),
        step(TILING, shaped("rstdOut", (3, 3, 1, 1), (2, 1, 1, 1))),
        unordered(TILING, shaped("gamma", (3, 16), (4, 4)), shaped("rstdOut", (2, 3, 4, 1))),
        step(TILING, broken("epsilon below 0", epsilon=-1.0)),
    ),
    types=Types(
        TENSORS,
        {
            **dict.fromkeys((*A2_A3, P950), tuple(map(row, (F16, F32, BF16)))),
            P310: tuple(map(row, (F16, F32))),
        },
    ),
    formula=formula,
    unwritten={P310: ("rstdOut",)},
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        idle(
            "empty results are not tiled",
            {**dict.fromkeys(("x1Ref", "x2Ref"), t(0, 8)), "gamma": t(8), "rstdOut": t(0, 1)},
        ),
        Case(
            "in float32",
            four(F32, *forward.SMALL),
            gives={
                "x1Ref": [[0.57735026, 1.1547005, 0.28867513, 1.7320508]],
                "x2Ref": [[2, 2, 2, 6]],
                "rstdOut": [[0.28867513]],
            },
        ),
        Case(
            "float16, rounded at every step",
            four(F16, *forward.CAST),
            (*A2_A3, P310),
            gives={
                "x1Ref": [[0.484375, -0.27636719, 0.73193359, 1.2900391]],
                "x2Ref": [[0.43017578, -0.30004883, 0.54980469, 1.7998047]],
            },
            exact=True,
        ),
        Case(
            "the official example",
            {
                **dict.fromkeys(("x1Ref", "x2Ref"), array(np.tile(np.arange(8.0), (2, 2)))),
                "gamma": array(np.tile(np.arange(8.0), 2)),
                "rstdOut": t(2, 1),
            },
            gives={
                "x1Ref": [forward.OFFICIAL * 2] * 2,
                "x2Ref": np.tile(2 * np.arange(8.0), (2, 2)),
                "rstdOut": [[0.11952286]] * 2,
            },
        ),
    ),
)
