# SPDX-License-Identifier: Apache-2.0
"""aclnnAddRmsNorm (CANN: ops-nn norm/add_rms_norm)."""

from dataclasses import replace

import numpy as np

from tests.operators.notation import *

TENSORS = ("x1", "x2", "gamma", "yOut", "rstdOut", "xOut")
CHIPS = (*A2_A3, P950, P310)

BASE: dict[str, Argument] = {
    "x1": t(2, 3, 4, 16),
    "x2": t(2, 3, 4, 16),
    "gamma": t(4, 16),
    "epsilon": 1e-6,
    "yOut": t(2, 3, 4, 16),
    "rstdOut": t(2, 3, 1, 1),
    "xOut": t(2, 3, 4, 16),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, gamma = given["x1"] + given["x2"], given["gamma"]
    # Without rstdOut the gamma of one axis has two.
    one = "rstdOut" in given and given["rstdOut"] is None
    axes = (-1,) if one else tuple(range(x.ndim - gamma.ndim, x.ndim))
    rstd = 1 / np.sqrt((x * x).mean(axes, keepdims=True) + given["epsilon"])
    found = {"yOut": x * rstd * gamma, "rstdOut": rstd, "xOut": x}
    return {name: value for name, value in found.items() if given.get(name, x) is not None}


def one_type(dtype: str) -> tuple[str, ...]:
    """All of one type but rstd, which is float32 always."""
    return (dtype, dtype, dtype, dtype, F32, dtype)


def plain(x: tuple[int, ...], gamma: int, rstd: tuple[int, ...]) -> Changes:
    wide = t(*x)
    return dict(zip(TENSORS, (wide, wide, t(gamma), wide, t(*rstd), wide), strict=True))


def row_of_four(dtype: str, x1: list[float], x2: list[float], gamma: list[float]) -> Changes:
    wide, rstd = t(1, 4, dtype=dtype), t(1, 1)
    placed = (array([x1], dtype), array([x2], dtype), array(gamma, dtype), wide, rstd, wide)
    return dict(zip(TENSORS, placed, strict=True))


SMALL = ([1.0, 2, 3, 4], [1.0, 0, -1, 2], [1.0, 2, 0.5, 1])
CAST = ([0.1, 0.2, 0.3, 0.7], [0.33, -0.5, 0.25, 1.1], [1.1, 0.9, 1.3, 0.7])
IN_FLOAT16 = [[0.57714844, 1.1542969, 0.28857422, 1.7324219]]
OFFICIAL = [0, 0.239046, 0.956183, 2.151411, 3.824732, 5.976143, 8.605646, 11.71324]

# Release 8.1: generated.
TABLE = Table(
    name="aclnnAddRmsNorm",
    kind=INDIVIDUAL,
    releases=("8.1",),
    base=BASE,
    results=("yOut", "rstdOut", "xOut"),
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        step(TILING, shaped("x1", (), NINE)),
        step(TILING, shaped("gamma", (), NINE)),
        step(TILING, shaped("gamma", (1, 2, 3, 4, 16))),
        unordered(TILING, shaped("yOut", (6, 4, 16)), shaped("x2", (6, 4, 16))),
        unordered(TILING, shaped("xOut", (6, 4, 16)), shaped("rstdOut", (2, 3))),
        unordered(
            TILING,
            shaped("x2", (2, 3, 4, 15), (1, 3, 4, 16)),
            shaped("yOut", (2, 3, 4, 15)),
            shaped("xOut", (2, 4, 4, 16)),
        ),
        step(TILING, shaped("rstdOut", (3, 3, 1, 1), (2, 1, 1, 1))),
        unordered(TILING, shaped("gamma", (3, 16), (4, 4)), shaped("rstdOut", (2, 3, 4, 1))),
        step(TILING, broken("epsilon below 0", epsilon=-1.0)),
    ),
    types=Types(
        TENSORS,
        {
            **dict.fromkeys((*A2_A3, P950), tuple(map(one_type, (F16, F32, BF16)))),
            P310: tuple(map(one_type, (F16, F32))),
        },
    ),
    formula=formula,
    unwritten={P310: ("rstdOut",)},
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        runs("epsilon 0", {"epsilon": 0.0}),
        runs("an epsilon that is 0 in float32", {"epsilon": -1e-50}),
        Case("256 bytes", {}, (*A2_A3, P950), workspace=(16 << 20) + 256),
        idle("no rows", plain((0, 8), 8, (0, 1))),
        refused(TILING, "no columns, but a place for rstd", plain((3, 0), 0, (3, 1))),
        idle(
            "empty results are not tiled",
            {"x1": t(), "gamma": t(*NINE), "yOut": t(0), "rstdOut": t(5, 0), "xOut": t(0)},
        ),
        Case(
            "in float32",
            row_of_four(F32, *SMALL),
            gives={
                "yOut": [[0.57735026, 1.1547005, 0.28867513, 1.7320508]],
                "rstdOut": [[0.28867513]],
                "xOut": [[2, 2, 2, 6]],
            },
        ),
        Case(
            "in float16",
            row_of_four(F16, *SMALL),
            (*A2_A3, P310),
            gives={"yOut": IN_FLOAT16, "xOut": [[2, 2, 2, 6]]},
            exact=True,
        ),
        Case(
            "in bfloat16",
            row_of_four(BF16, *SMALL),
            A2_A3,
            gives={"yOut": [[0.578125, 1.15625, 0.2890625, 1.734375]], "xOut": [[2, 2, 2, 6]]},
            exact=True,
        ),
        # A2 rounds the sum, the normalized sum and the product to float16 ...
        Case(
            "float16, rounded at every step",
            row_of_four(F16, *CAST),
            (*A2_A3, P310),
            gives={
                "yOut": [[0.484375, -0.27636719, 0.73193359, 1.2900391]],
                "xOut": [[0.43017578, -0.30004883, 0.54980469, 1.7998047]],
            },
            exact=True,
        ),
        Case(
            "rstd of a rounded sum",
            row_of_four(F16, *CAST),
            A2_A3,
            gives={"rstdOut": [[1.0237358]]},
            rtol=2e-7,
        ),
        # ... the 950 computes in float32 and rounds once.
        Case(
            "float16, rounded once",
            row_of_four(F16, *CAST),
            (P950,),
            gives={
                "yOut": [[0.48410514, -0.27641773, 0.73191041, 1.2900994]],
                "xOut": [[0.43017578, -0.30004883, 0.54980469, 1.7998047]],
            },
            exact=True,
        ),
        # 2 / sqrt(12) is 0.57735, in float16 0.57714844.
        *(
            Case(
                f"three times what is {what}",
                row_of_four(F16, *SMALL[:2], [3.0] * 4),
                chips,
                gives={"yOut": [[y] * 3 + [5.1953125]]},
                exact=True,
            )
            for what, chips, y in (
                ("rounded", (*A2_A3, P310), 1.7314453125),
                ("not rounded", (P950,), 1.732421875),
            )
        ),
        Case(
            "the official example",
            {
                **dict.fromkeys(("x1", "x2"), array(np.tile(np.arange(8.0), (2, 2)))),
                "gamma": array(np.tile(np.arange(8.0), 2)),
                "yOut": t(2, 16),
                "rstdOut": t(2, 1),
                "xOut": t(2, 16),
            },
            gives={
                "yOut": [OFFICIAL * 2] * 2,
                "rstdOut": [[0.11952286]] * 2,
                "xOut": np.tile(2 * np.arange(8.0), (2, 2)),
            },
        ),
    ),
)
PRE: Changes = {**row_of_four(F16, *SMALL), "gamma": array([SMALL[2]], F16), "rstdOut": None}
ROWS: Changes = {
    **dict.fromkeys(("x1", "x2", "yOut", "xOut"), t(2, 3, 16, dtype=F16)),
    "gamma": t(1, 16, dtype=F16),
    "rstdOut": None,
}
TWO = t(2, 16, dtype=F16)
# Newer releases: written by hand. Without rstdOut, or without both, other kernels run, on float16
# and bfloat16 alone.
NEWEST = replace(
    TABLE,
    kind=COMPOSITE,
    releases=("9",),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("x1", "x2", "gamma", "yOut", "xOut")),
        unordered(
            INVALID,
            typed(*TENSORS),
            typed(*TENSORS[1:], dtype=F16),
            broken("x1 of another type", "", x1=Changed(dtype=F16)),
        ),
        unordered(
            INVALID,
            *(m for name in ("x1", "x2", "gamma") for m in shaped(name, (), NINE)),
            shaped("x2", (2, 3, 4, 15)),
            shaped("yOut", NINE, (2, 12, 16)),
            shaped("rstdOut", NINE),
            shaped("xOut", (6, 4, 16)),
        ),
        unordered(
            INNER_NULL,
            shaped("gamma", (3, 16), (4, 4)),
            shaped("rstdOut", (2, 3), (3, 3, 1, 1)),
            broken("epsilon below 0", epsilon=-1.0),
        ),
    ),
    layouts=(),
    cases=(
        *(case for case in TABLE.cases if case.gives),
        idle("no rows", plain((0, 8), 8, (0, 1))),
        idle("no columns", plain((3, 0), 0, (3, 1))),
        idle(
            "an empty gamma, and statistics of another shape",
            {"gamma": t(0), "rstdOut": t(3, 3, 1, 1)},
        ),
        refused(INVALID, "shapes come before emptiness", {"x1": t(0, 4, 16)}),
        runs(
            "no rstd",
            PRE,
            (*A2_A3, P310),
            gives={"yOut": IN_FLOAT16, "xOut": [[2, 2, 2, 6]]},
            exact=True,
        ),
        runs("no rstd, several rows", ROWS),
        runs("neither rstd nor x", {**ROWS, "xOut": None}),
        runs(
            "no rstd in bfloat16",
            {name: Changed(dtype=BF16) for name in TENSORS if name != "rstdOut"}
            | {"gamma": t(1, 16, dtype=BF16), "rstdOut": None},
            (*A2_A3, P950),
        ),
        refused(
            INVALID, "no rstd and a gamma of three axes", {**ROWS, "gamma": t(1, 1, 16, dtype=F16)}
        ),
        *(refused(NULL, f"neither rstd nor {n}", {**ROWS, n: None}) for n in ("x1", "gamma")),
        refused(INNER_NULL, "no rstd and a gamma of two rows", {**ROWS, "gamma": TWO}),
        refused(INNER_NULL, "rstd and a gamma of one row", {**ROWS, "rstdOut": t(2, 3, 1)}),
        refused(NULL, "rstd, but no x", {"xOut": None}),
        refused(INVALID, "no rstd in float32", {"rstdOut": None}),
        refused(INNER_NULL, "no rstd and a gamma of one axis", {**PRE, "gamma": t(4, dtype=F16)}),
    ),
)
