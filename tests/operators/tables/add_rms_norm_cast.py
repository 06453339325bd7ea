# SPDX-License-Identifier: Apache-2.0
"""aclnnAddRmsNormCast (CANN: ops-nn norm/add_rms_norm_cast)."""

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables import add_rms_norm as forward

CHIPS = (*A2_A3, P950)
TENSORS = ("x1", "x2", "gamma", "y1Out", "y2Out", "rstdOut", "xOut")
BASE: dict[str, Argument] = {
    **dict.fromkeys(("x1", "x2"), t(2, 3, 4, 16, dtype=F16)),
    "gamma": t(4, 16, dtype=F16),
    "epsilon": 1e-6,
    "y1Out": t(2, 3, 4, 16),
    "y2Out": t(2, 3, 4, 16, dtype=F16),
    "rstdOut": t(2, 3, 1, 1),
    "xOut": t(2, 3, 4, 16, dtype=F16),
}


def formula(given: Numbers, chip: str) -> Truth:
    found = forward.formula(given, chip)
    return {**dict.fromkeys(("y1Out", "y2Out"), found.pop("yOut")), **found}


def row(dtype: str) -> tuple[str, ...]:
    return (dtype, dtype, dtype, F32, dtype, F32, dtype)


def four(dtype: str, x1: list[float], x2: list[float], gamma: list[float]) -> dict[str, Argument]:
    half = t(1, 4, dtype=dtype)
    inputs = (array([x1], dtype), array([x2], dtype), array(gamma, dtype))
    return dict(zip(TENSORS, (*inputs, t(1, 4), half, t(1, 1), half), strict=True))


SUM = [[0.43017578, -0.30004883, 0.54980469, 1.7998047]]
ROUNDED = [[0.484375, -0.27636719, 0.73193359, 1.2900391]]
WIDE = [[0.48410514, -0.27641773, 0.73191041, 1.2900994]]
TABLE = Table(
    name="aclnnAddRmsNormCast",
    kind=INDIVIDUAL,
    releases=("9",),
    base=BASE,
    results=("y1Out", "y2Out", "rstdOut", "xOut"),
    widened=("y1Out",),
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        step(TILING, shaped("x1", (), NINE)),
        step(TILING, shaped("gamma", (), NINE)),
        unordered(
            TILING,
            *(m for name in ("y1Out", "y2Out", "x2") for m in shaped(name, (6, 4, 16))),
            named=False,
        ),
        unordered(TILING, shaped("xOut", (6, 4, 16)), shaped("gamma", (1, 2, 3, 4, 16))),
        step(TILING, shaped("rstdOut", (2, 4, 1, 1), (3, 3, 1, 1), (6, 1), (2,), ())),
        step(TILING, shaped("gamma", (3, 16), (4, 4))),
        step(TILING, shaped("x2", (2, 3, 4, 15), (1, 3, 4, 16))),
        unordered(
            TILING, *(m for name in ("y1Out", "y2Out", "xOut") for m in shaped(name, (2, 4, 4, 16)))
        ),
        step(TILING, broken("epsilon below 0", epsilon=-1.0)),
    ),
    types=Types(TENSORS, dict.fromkeys(CHIPS, (row(F16), row(BF16)))),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        runs(
            "only the leading axes of rstdOut are looked at",
            {"rstdOut": t(2, 3)},
            A2_A3,
            computed=False,
        ),
        idle(
            "empty results are not tiled",
            {
                **dict.fromkeys(("x1", "x2", "y2Out", "xOut"), t(0, 8, dtype=F16)),
                "gamma": t(8, dtype=F16),
                "y1Out": t(0, 8),
                "rstdOut": t(0, 1),
            },
        ),
        Case(
            "float16, rounded at every step and then widened",
            four(F16, *forward.CAST),
            A2_A3,
            gives={"y1Out": ROUNDED, "y2Out": ROUNDED, "xOut": SUM},
            exact=True,
        ),
        Case(
            "float16, wide and rounded once",
            four(F16, *forward.CAST),
            (P950,),
            gives={"y2Out": WIDE, "xOut": SUM},
            exact=True,
        ),
        Case("wide", four(F16, *forward.CAST), (P950,), gives={"y1Out": WIDE}, rtol=2e-7),
    ),
)
