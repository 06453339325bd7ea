# SPDX-License-Identifier: Apache-2.0
"""aclnnLinalgVectorNorm (CANN: ops-nn norm/lp_norm_v2)."""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.operators.notation import *

INF = float("inf")
LARGEST = 2**31 - 1

BASE: dict[str, Argument] = {
    "self": t(2, 3, 4),
    "ord": Scalar(2.0),
    "dims": Ints((1,)),
    "keepDims": False,
    "dtype": Dtype(F32),
    "out": t(2, 4),
}


def formula(given: Numbers, chip: str) -> Truth:
    size, power = np.abs(given["self"]), given["ord"]
    if power == LARGEST and chip != P950:
        power = INF
    axes = (given["dims"] if size.ndim else ()) or tuple(range(size.ndim))
    kept = given["keepDims"]
    if power == INF:
        out = size.max(axes, keepdims=kept)
    elif power == -INF:
        out = size.min(axes, keepdims=kept)
    elif power == 0:
        out = (size != 0).sum(axes, keepdims=kept).astype(np.float64)
    else:
        out = (size**power).sum(axes, keepdims=kept) ** (1 / power)
    return {"out": out}


ROWS = ((F32, F32), (F16, F32), (F16, F16), (BF16, F32), (BF16, BF16))
# Elsewhere than on the 950 whatever promotes goes on; only complex numbers are known not to.
ELSEWHERE = frozenset(TYPES) - {"COMPLEX64", "COMPLEX128"}


def square(power: float, dims: tuple[int, ...], out: Any, *, kept: bool = False) -> Case:
    return Case(
        f"norm {power} over {dims} of two rows, keepDims {kept}",
        {
            "self": array([[3, -4], [0, 2]]),
            "ord": Scalar(power),
            "dims": Ints(dims),
            "keepDims": kept,
            "out": t(*np.shape(out)),
        },
        gives={"out": out},
        rtol=2e-6,
    )


def empty(*shape: int, power: float = 2.0) -> Changes:
    return {"self": t(*shape), "ord": Scalar(power), "out": t(shape[0], *shape[2:])}


TABLE = Table(
    name="aclnnLinalgVectorNorm",
    kind=COMPOSITE,
    base=BASE,
    results=("out",),
    chips=(*A2_A3, P950, P310B, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("self", "ord", "dims", "out")),
        unordered(
            INVALID,
            typed("out", dtype=F16),
            broken("dtype of another type", "out", dtype=Dtype(F16)),
            typed("self", dtype="COMPLEX64"),
        ),
        unordered(
            INVALID,
            broken("axis 9", dims=Ints((9,))),
            broken("axis -10", dims=Ints((-10,))),
            broken("an axis twice", dims=Ints((1, 1))),
            broken("an axis twice behind another", dims=Ints((0, 1, 0))),
        ),
        unordered(
            INVALID,
            shaped("self", NINE),
            shaped("out", (2, 3), (2, 1, 4), (8,), NINE),
            broken("axes kept", "out", keepDims=True),
        ),
    ),
    types=Types(
        ("self", "out"),
        {**dict.fromkeys((*A2_A3, P950), ROWS), **dict.fromkeys((P310B, P910), ROWS[:3])},
        listed=dict.fromkeys((*A2_A3, P310B, P910), ELSEWHERE),
        follows={"dtype": "out"},
    ),
    formula=formula,
    layouts=tuple(Layouts((name,), frozenset(FORMATS)) for name in ("self", "out")),
    cases=(
        runs("sound", {}),
        runs("an axis from behind", {"dims": Ints((-2,))}),
        refused(INVALID, "one axis twice, counted from both ends", {"dims": Ints((1, -2))}),
        runs("kept axes", {"keepDims": True, "out": t(2, 1, 4)}),
        runs("no axes are all", {"dims": Ints(()), "out": t()}),
        runs("any order", {"ord": Scalar(-1.5)}),
        runs(
            "the largest int32 as order is infinity, but on the 950",
            {"ord": Scalar(LARGEST, I32)},
            (*A2_A3, P310B, P910),
        ),
        *(
            Case(
                f"{dtype} is computed in float32, but on the 950",
                {**square(2, (1,), [5, 2]).changes, "self": array([[3, -4], [0, 2]], dtype)},
                (*A2_A3, P310B, P910),
                gives={"out": [5, 2]},
                computed=False,
            )
            for dtype in (I8, I32, F64)
        ),
        Case(
            "a number without axes has one to name",
            {"self": array(-3.0), "dims": Ints((-1,)), "out": t()},
            gives={"out": 3},
        ),
        refused(
            INVALID,
            "a number without axes has no second one",
            {"self": array(-3.0), "dims": Ints((1,)), "out": t()},
        ),
        runs("an integer as order", {"ord": Scalar(3, I32)}),
        Case("nothing to reduce", empty(2, 0, 4), gives={"out": np.zeros((2, 4))}),
        Case(
            "nothing to reduce, least", empty(2, 0, 4, power=-INF), gives={"out": np.zeros((2, 4))}
        ),
        refused(INVALID, "nothing to reduce into another shape", {"self": t(2, 0, 4), "out": t(4)}),
        idle("an empty result", empty(0, 3, 4)),
        square(2, (1,), [5, 2]),
        square(1, (1,), [7, 2]),
        square(0, (1,), [2, 1]),
        square(3, (1,), [4.49794, 2]),
        square(0.5, (1,), [13.9282, 2]),
        square(INF, (1,), [4, 2]),
        square(-INF, (1,), [3, 0]),
        square(2, (1,), [[5], [2]], kept=True),
        square(1, (0,), [3, 6]),
        square(1, (), 9),
        square(INF, (0, -1), 4),
        square(1, (0, 1), [[9]], kept=True),
    ),
)

# The kernel table of 8.1 has the operator for more chips than its documents.
OLD, TABLE = in_8_1(TABLE, P310, like=P910), replace(TABLE, releases=("9",))
