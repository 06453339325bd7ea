# SPDX-License-Identifier: Apache-2.0
"""aclnnAddRmsNormQuant (CANN: ops-nn norm/add_rms_norm_quant)."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from tests.operators.notation import *

REQUIRED = ("x1", "x2", "gamma", "scales1")
OPTIONAL = ("scales2Optional", "zeroPoints1Optional", "zeroPoints2Optional")
OUTS = ("y1Out", "y2Out", "xOut")
TENSORS = (*REQUIRED, *OPTIONAL, *OUTS)
CHIPS = (*A2_A3, P950, P310)
EIGHT_BITS = (HIF8, *FLOAT8)

STEPS = np.arange(16)
BASE: dict[str, Argument] = {
    "x1": t(2, 3, 16, dtype=F16),
    "x2": t(2, 3, 16, dtype=F16),
    "gamma": t(16, dtype=F16),
    "scales1": array((STEPS % 4 + 1) / 16),
    "scales2Optional": array((STEPS % 3 + 1) / 8),
    "zeroPoints1Optional": array(STEPS % 5 - 2, I32),
    "zeroPoints2Optional": array(STEPS % 7 - 3, I32),
    "axis": -1,
    "epsilon": 1e-6,
    "divMode": True,
    "y1Out": t(2, 3, 16, dtype=I8),
    "y2Out": t(2, 3, 16, dtype=I8),
    "xOut": t(2, 3, 16, dtype=F16),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, gamma = given["x1"] + given["x2"], given["gamma"]
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    y = x / np.sqrt((x * x).mean(axes, keepdims=True) + given["epsilon"]) * gamma
    found = {"xOut": x}
    for number, scales in ((1, given["scales1"]), (2, given["scales2Optional"])):
        if scales is not None:
            points = given[f"zeroPoints{number}Optional"]
            scaled = (y / scales if given["divMode"] else y * scales) + (
                0 if points is None else points
            )
            found[f"y{number}Out"] = quantized(scaled, given[f"y{number}Out.dtype"])
    return found


def row(x: str, scales: str, points: str, y: str = I8) -> tuple[str, ...]:
    return (x, x, x, scales, scales, points, points, y, y, x)


ROWS = (row(F16, F32, I32), row(BF16, BF16, BF16), row(BF16, F32, I32))
ON_950 = tuple(
    row(*types, y)
    for y in (I8, *FLOAT8, HIF8)
    for types in (
        *((F16, F32, I32), (BF16, BF16, BF16), (BF16, F32, I32)),
        *((F32, F32, F32), (F16, F16, F16), (F16, F32, F32), (BF16, F32, F32)),
    )
)
COMPUTED = tuple(row for row in ON_950 if HIF8 not in row)
"""Those that the simulated NPU computes: it does not know how HIFLOAT8 rounds."""
NO_OPTIONS: Changes = dict.fromkeys(OPTIONAL)


def row_of_four(  # the arguments of an example, in the order of the signature
    types: tuple[str, str, str],
    x1: list[float],
    x2: list[float],
    gamma: list[float],
    scales: list[float],
    points: list[int] | None,
) -> Changes:
    x, scale, point = types
    return {
        "x1": array([x1], x),
        "x2": array([x2], x),
        "gamma": array(gamma, x),
        "scales1": array(scales, scale),
        **NO_OPTIONS,
        "zeroPoints1Optional": None if points is None else array(points, point),
        "y1Out": t(1, 4, dtype=I8),
        "y2Out": t(1, 4, dtype=I8),
        "xOut": t(1, 4, dtype=x),
    }


SMALL = ([1.0, 2, 3, 4], [1.0, 0, -1, 2], [1.0, 2, 0.5, 1])
CAST = ([0.1, 0.2, 0.3, 0.7], [0.33, -0.5, 0.25, 1.1], [1.1, 0.9, 1.3, 0.7])
HALF, BRAIN = (F16, F32, I32), (BF16, BF16, BF16)
QUOTIENT = ([0.1, 0.01, 0.1, 0.05], [0, 5, -3, 1])
ONES = ([1.0] * 4, [0.0] * 4)


def first(y1: list[int]) -> dict[str, object]:
    """The first result; the second is not written without scales of its own."""
    return {"y1Out": [y1], "y2Out": UNTOUCHED}


# Release 8.1: generated.
TABLE = Table(
    name="aclnnAddRmsNormQuant",
    kind=INDIVIDUAL,
    releases=("8.1",),
    base=BASE,
    results=OUTS,
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        unordered(
            TILING,
            shaped("x1", NINE),
            shaped("x2", (2, 3, 15), (3, 16)),
            broken("gamma of too few columns", "", gamma=Changed((15,))),
            broken("gamma of too many rows", "", gamma=Changed((4, 16))),
            shaped("scales1", (15,)),
            shaped("y1Out", (2, 3, 15)),
            shaped("y2Out", (2, 4, 16)),
            shaped("xOut", (2, 3, 15)),
        ),
        required=(*REQUIRED, *OUTS),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys(A2_A3, ROWS), P950: COMPUTED, P310: ROWS[:1]},
        unknown=ON_950,
    ),
    formula=formula,
    optional=OPTIONAL,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        runs("no second scales, no zero points", NO_OPTIONS),
        refused(NULL, "no second result, though nothing is written", {**NO_OPTIONS, "y2Out": None}),
        runs("no zero points", dict.fromkeys(OPTIONAL[1:])),
        runs("any axis", {"axis": 5}),
        idle(
            "empty results are not tiled",
            {**dict.fromkeys(("y1Out", "y2Out"), t(0, dtype=I8)), "xOut": t(0, dtype=F16)},
        ),
        Case("float16", row_of_four(HALF, *SMALL, *QUOTIENT), gives=first([6, 120, 0, 36])),
        Case(
            "bfloat16",
            row_of_four(BRAIN, *SMALL, *QUOTIENT),
            (*A2_A3, P950),
            gives=first([6, 120, 0, 36]),
        ),
        # The factors of gamma in float16 are 0.484375 and 1.2900391, else 0.4841051 and
        # 1.2900994, which are on the other side of a half in these units.
        *(
            Case(
                f"float16, with gamma in {what}",
                row_of_four(HALF, *CAST, [0.484375 / 100.51, 1, 1, 1.2900391 / 100.498], None),
                chips,
                gives=first(y1),
                rtol=0.01,
            )
            for what, chips, y1 in (
                ("float16", A2_A3, [101, 0, 1, 100]),
                ("float32", (P950,), [100, 0, 1, 101]),
            )
        ),
        Case(
            "scales multiply",
            {**row_of_four(HALF, *SMALL, [10, 100, 10, 20], QUOTIENT[1]), "divMode": False},
            (*A2_A3, P950),
            gives=first([6, 120, 0, 36]),
        ),
        Case(
            "halves go to the even neighbour, after the zero point is added",
            {**row_of_four(HALF, *ONES, [1, 1, 1, -1], [2] * 4, [0, 1, 2, -1]), "epsilon": 0.0},
            gives=first([0, 2, 2, -2]),
        ),
        Case(
            "what is too large saturates",
            row_of_four(HALF, *ONES, [1, -1, 1, -1], [2**-9, 2**-9, 2**-7, 2**-7], None),
            gives=first([127, -128, 127, -128]),
        ),
        Case(
            "the official example",
            {
                **dict.fromkeys(("x1", "x2"), array(np.zeros((64, 2)), F16)),
                "gamma": array([0, 0], F16),
                "scales1": array([1, 1]),
                **NO_OPTIONS,
                "zeroPoints1Optional": array([100, 100], I32),
                **dict.fromkeys(("y1Out", "y2Out"), t(64, 2, dtype=I8)),
                "xOut": t(64, 2, dtype=F16),
            },
            A2_A3,
            gives={"y1Out": np.full((64, 2), 100), "y2Out": UNTOUCHED, "xOut": np.zeros((64, 2))},
        ),
    ),
)
FLOATS = (F32, F16, BF16)
POINTS = (I32, *FLOATS)


def fails(chip: str, types: Mapping[str, str]) -> bool | None:
    """Return whether the kernel lacks such a column, which only phase 2 detects."""
    return tuple(types[name] for name in TENSORS) not in TABLE.types.rows[chip]


LISTED = tuple(
    (x1, x2, gamma, scale, scale, point, point, y, y, x1)
    for x1, x2, gamma, scale in product(FLOATS, repeat=4)
    for point in POINTS
    for y in (I8, *EIGHT_BITS)
)
# Newer releases: written by hand. No type is compared with another but that of the results, and no
# shape at all; what the kernel does not take fails in phase 2.
NEWEST = replace(
    TABLE,
    kind=COMPOSITE,
    releases=("9",),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*REQUIRED, *OUTS)),
        unordered(INVALID, typed(*TENSORS), typed("y1Out", dtype="HIFLOAT8")),
        unordered(INVALID, *(mistake for name in TENSORS for mistake in shaped(name, (), NINE))),
        unordered(INNER_NULL, *(m for name in OUTS for m in shaped(name, (2, 48), (2, 3, 15)))),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys(CHIPS, LISTED), P950: tuple({*LISTED} - {*ON_950} | {*COMPUTED})},
        unknown=ON_950,
        listed=dict.fromkeys(CHIPS, frozenset({*POINTS, I8, *EIGHT_BITS})),
        fails=fails,
    ),
    layouts=(),
    cases=(
        *(
            case
            for case in TABLE.cases
            if case.gives or case.launch == KERNELS or case.code == NULL
        ),
        *(
            idle(f"no elements of {name}", {name: Changed((0,))})
            for name in ("x1", "gamma", "y2Out")
        ),
        *(
            refused(
                INVALID, f"no elements of {name}, of nine axes", {name: Changed((0, *NINE[1:]))}
            )
            for name in ("x1", "gamma", "y2Out")
        ),
        Case(
            "HIFLOAT8 on the 950 is not computed",
            {name: Changed(dtype=HIF8) for name in OUTS[:2]},
            (P950,),
            code=999001,
        ),
        *(
            Case(
                f"what is too large for {dtype} saturates",
                {
                    **row_of_four(HALF, *ONES, [1, -1, 0.3, -0.3], [1, 1, 2**-9, 2**-20], None),
                    **dict.fromkeys(OUTS[:2], t(1, 4, dtype=dtype)),
                },
                (P950,),
                gives=first(y1),
                exact=True,
            )
            # rstd is 1: 0.3 as float16 times 512 and 2**20, to 3 and 2 bits behind the first.
            for dtype, y1 in ((E4M3, [1, -1, 160, -448]), (E5M2, [1, -1, 160, -57344]))
        ),
        refused(INVALID, "no elements of another type", {"x1": Changed((0,), I32)}),
        Case("shapes that the kernel does not take", {"x2": Changed((2, 3, 15))}, launch=FAILS),
        *(
            Case(f"{name} of 15", {name: Changed((15,))}, launch=FAILS)
            for name in ("gamma", "scales1", *OPTIONAL)
        ),
    ),
)
