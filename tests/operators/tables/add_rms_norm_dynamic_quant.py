# SPDX-License-Identifier: Apache-2.0
"""aclnnAddRmsNormDynamicQuant (CANN: ops-nn norm/add_rms_norm_dynamic_quant)."""

from dataclasses import replace

import numpy as np

from tests.operators.notation import *

CHIPS = (*A2_A3, P950)
SMOOTH = ("smoothScale1Optional", "smoothScale2Optional")
OUTS = ("y1Out", "y2Out", "xOut", "scale1Out", "scale2Out")
TENSORS = ("x1", "x2", "gamma", *SMOOTH, *OUTS)
BASE: dict[str, Argument] = {
    **dict.fromkeys(("x1", "x2"), t(2, 3, 16, dtype=F16)),
    **dict.fromkeys(("gamma", *SMOOTH), t(16, dtype=F16)),
    "epsilon": 1e-6,
    **dict.fromkeys(OUTS[:2], t(2, 3, 16, dtype=I8)),
    "xOut": t(2, 3, 16, dtype=F16),
    **dict.fromkeys(OUTS[3:], t(2, 3)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x = given["x1"] + given["x2"]
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + given["epsilon"]) * given["gamma"]
    found = {"xOut": x}
    for number, name in enumerate(SMOOTH, 1):
        smooth = given[name]
        if number == 1 or not any(given[other] is None for other in SMOOTH):
            v = y * (1 if smooth is None else smooth)
            dtype = given[f"y{number}Out.dtype"]
            scale = np.abs(v).max(-1) / MOST[dtype]
            found[f"y{number}Out"] = quantized(v / scale[..., None], dtype)
            found[f"scale{number}Out"] = scale
    return found


def row(x: str, y: str = I8) -> tuple[str, ...]:
    return (x, x, x, x, x, y, y, x, F32, F32)


ON_950 = tuple(row(x, y) for x in (F16, BF16) for y in (I8, *FLOAT8))
UNKNOWN = (row(F16, HIF8), row(BF16, HIF8))
"""Rows of the 950 that the simulated NPU does not compute."""


ALONE: Changes = {"y2Out": t(1, dtype=I8), "scale2Out": t(1)}
NONE: Changes = {**dict.fromkeys(SMOOTH), **ALONE}
UNSCALED = {"y2Out": UNTOUCHED, "scale2Out": UNTOUCHED}


def four(dtype: str, smooth: list[float] | None) -> Changes:
    return {
        "x1": array([[1, 2, 3, 4]], dtype),
        "x2": array([[1, 0, -1, 2]], dtype),
        "gamma": array([1, 2, 0.5, 1], dtype),
        "smoothScale1Optional": None if smooth is None else array(smooth, dtype),
        "smoothScale2Optional": None,
        **ALONE,
        "y1Out": t(1, 4, dtype=I8),
        "xOut": t(1, 4, dtype=dtype),
        "scale1Out": t(1),
    }


# Release 8.1: generated.
TABLE = Table(
    name="aclnnAddRmsNormDynamicQuant",
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
            shaped("gamma", (1, 16)),
            shaped("smoothScale1Optional", (15,)),
            shaped("smoothScale2Optional", (15,)),
            shaped("y1Out", (2, 3, 15)),
            shaped("xOut", (2, 3, 15)),
            shaped("scale1Out", (2,)),
        ),
        required=("x1", "x2", "gamma", *OUTS),
    ),
    types=Types(TENSORS, {**dict.fromkeys(A2_A3, (row(F16), row(BF16))), P950: ON_950}),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}),
        runs("nothing is smoothed", NONE),
        runs("one is smoothed", {"smoothScale2Optional": None, **ALONE}),
        idle(
            "empty results are not tiled",
            {
                **{name: t(0, dtype=I8) for name in OUTS[:2]},
                "xOut": t(0, dtype=F16),
                **{name: t(0) for name in OUTS[3:]},
            },
        ),
        *(
            Case(
                f"a row of four in {dtype}, smoothed by {smooth}",
                four(dtype, smooth),
                gives={
                    "y1Out": [y],
                    "xOut": [[2, 2, 2, 6]],
                    "scale1Out": [0.013638195],
                    **UNSCALED,
                },
            )
            for dtype in (F16, BF16)
            for smooth, y in ((None, [42, 85, 21, 127]), ([1, 0.5, 2, 1], [42, 42, 42, 127]))
        ),
    ),
)
HALVES, WIDE = row(F16), row(BF16)
MIXED = (BF16, *HALVES[1:])
# Newer releases: written by hand; types are held against lists, and compared by the kernel alone.
NEWEST = replace(
    TABLE,
    kind=COMPOSITE,
    releases=("9",),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("x1", "x2", "gamma", *OUTS)),
        unordered(INVALID, typed(*TENSORS)),
        unordered(
            TILING,
            shaped("x2", (2, 3, 15), (3, 16)),
            shaped("gamma", (15,), (1, 16)),
            *(m for name in SMOOTH for m in shaped(name, (15,))),
        ),
        unordered(
            INNER_NULL,
            *(m for name in OUTS[:3] for m in shaped(name, (6, 16))),
            *(m for name in OUTS[3:] for m in shaped(name, (6,))),
        ),
    ),
    types=Types(
        TENSORS,
        {
            **dict.fromkeys(A2_A3, (HALVES, WIDE, MIXED, *(row(F16, y) for y in (*FLOAT8, HIF8)))),
            P950: (*ON_950, MIXED),
        },
        unknown=UNKNOWN,
        listed=dict.fromkeys(CHIPS, frozenset({F16, BF16, I8, F32, HIF8, *FLOAT8})),
        fails=lambda chip, types: (
            len({types[name] for name in ("x1", "x2", "xOut")}) > 1
            or (chip != P950 and types["y1Out"] != I8)
        ),
    ),
    layouts=(),
    cases=(
        *(case for case in TABLE.cases if case.gives),
        runs("nothing is smoothed", NONE),
        refused(
            999001,
            "HIFLOAT8 on the 950 is not computed",
            {name: Changed(dtype=HIF8) for name in OUTS[:2]},
            (P950,),
        ),
        refused(INNER_NULL, "a second result that is none", {"smoothScale2Optional": None}),
        idle("no second result", {"y2Out": t(0, dtype=I8)}),
        idle(
            "no rows",
            {
                **dict.fromkeys(("x1", "x2", "xOut"), t(0, 16, dtype=F16)),
                **dict.fromkeys(OUTS[:2], t(0, 16, dtype=I8)),
                **dict.fromkeys(OUTS[3:], t(0)),
            },
        ),
    ),
)
