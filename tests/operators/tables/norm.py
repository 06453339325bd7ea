# SPDX-License-Identifier: Apache-2.0
"""aclnnNorm (CANN: ops-nn norm/norm)."""

from itertools import product
from typing import Any

import numpy as np

from tests.operators.notation import *

C64 = "COMPLEX64"
INF = float("inf")
LARGEST = 2.0**31 - 1
BUT_950 = (*A2_A3, P310, P910, P310B)
BASE: dict[str, Argument] = {
    "self": t(2, 3, 4),
    "pScalar": Scalar(2.0),
    "dim": Ints((1,)),
    "keepdim": False,
    "out": t(2, 4),
}


def formula(given: Numbers, chip: str) -> Truth:
    size, power = np.atleast_1d(np.abs(given["self"])), given["pScalar"]
    axes, kept = given["dim"] or tuple(range(size.ndim)), given["keepdim"]
    if power == LARGEST and chip != P950:
        power = INF
    limits = {INF: np.max, -INF: np.min}
    if power in limits:
        return {"out": limits[power](size, axis=axes, keepdims=kept)}
    if power == 0:
        return {"out": np.asarray((size > 0).sum(axes, keepdims=kept), np.float64)}
    return {"out": np.exp(np.log((size**power).sum(axes, keepdims=kept)) / power)}


def square(power: float, dims: tuple[int, ...], out: Any, *, kept: bool = False) -> Case:
    return Case(
        f"norm {power} over {dims} of two rows, keepdim {kept}",
        {
            "self": array([[3, -4], [0, 2]]),
            "pScalar": Scalar(power),
            "dim": Ints(dims),
            "keepdim": kept,
            "out": t(*np.shape(out)),
        },
        gives={"out": out},
        rtol=2e-6,
    )


def empty(*shape: int, power: float = 2.0) -> Changes:
    return {"self": t(*shape), "pScalar": Scalar(power), "out": t(shape[0], *shape[2:])}


TABLE = Table(
    name="aclnnNorm",
    kind=COMPOSITE,
    base=BASE,
    results=("out",),
    chips=EVERY_CHIP,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("self", "pScalar", "dim", "out")),
        unordered(
            INVALID,
            *(
                broken(f"{name} {I32}", name, **{name: Changed(dtype=I32)})
                for name in ("self", "out")
            ),
            chips=(P950,),
        ),
        unordered(
            INVALID,
            broken("axis 9", dim=Ints((9,))),
            broken("axis -10", dim=Ints((-10,))),
            broken("an axis twice", dim=Ints((1, 1))),
            broken("an axis twice behind another", dim=Ints((0, 1, 0))),
        ),
        unordered(
            INVALID,
            shaped("self", NINE),
            shaped("out", (2, 3), (2, 1, 4), (8,), NINE),
            broken("axes kept", "out", keepdim=True),
        ),
    ),
    types=Types(
        ("self", "out"),
        {
            **dict.fromkeys((*A2_A3, P950), tuple(product((F32, F16, BF16), repeat=2))),
            **dict.fromkeys((P310, P910, P310B), tuple(product((F32, F16), repeat=2))),
        },
        # Elsewhere than on the 950 whatever promotes goes on.
        listed=dict.fromkeys(BUT_950, frozenset(TYPES)),
    ),
    formula=formula,
    layouts=tuple(Layouts((name,), frozenset(FORMATS)) for name in ("self", "out")),
    cases=(
        runs("sound", {}),
        runs("an axis from behind", {"dim": Ints((-2,))}),
        refused(INVALID, "one axis twice, counted from both ends", {"dim": Ints((1, -2))}),
        runs("no axes are all", {"dim": Ints(()), "out": t()}),
        Case(
            "a number, along the axis that it has not",
            {"self": array(-3), "dim": Ints((0,)), "out": t()},
            gives={"out": 3.0},
        ),
        runs("an integer as order", {"pScalar": Scalar(3, I32)}),
        Case(
            "the largest integer is infinity",
            {"self": array([[3, -4], [0, 2]]), "pScalar": Scalar(LARGEST), "out": t(2)},
            BUT_950,
            gives={"out": [4, 2]},
        ),
        Case("nothing to reduce", empty(2, 0, 4), gives={"out": np.zeros((2, 4))}),
        Case(
            "nothing to reduce, least", empty(2, 0, 4, power=-INF), gives={"out": np.zeros((2, 4))}
        ),
        idle("an empty result", empty(0, 3, 4)),
        # Off the 950 phase 1 looks at no type, and does not pass on what its kernel says.
        *(
            Case(f"complex numbers in {name}", {name: Changed(dtype=C64)}, BUT_950, computed=False)
            for name in ("self", "out")
        ),
        *(
            refused(INVALID, f"complex numbers in {name}", {name: Changed(dtype=C64)}, (P950,))
            for name in ("self", "out")
        ),
        square(2, (1,), [5, 2]),
        square(1, (1,), [7, 2]),
        square(0, (1,), [2, 1]),
        square(3, (1,), [4.49794, 2]),
        square(0.5, (1,), [13.9282, 2]),
        square(INF, (1,), [4, 2]),
        square(-INF, (1,), [3, 0]),
        square(2, (1,), [[5], [2]], kept=True),
        square(INF, (0, -1), 4),
        square(1, (), 9),
    ),
)
