# SPDX-License-Identifier: Apache-2.0
"""aclnnRmsNormDynamicMxQuant and aclnnAddRmsNormDynamicMxQuant (CANN: ops-nn norm/...)."""

from dataclasses import replace
from math import ceil, floor, log2

import numpy as np

from tests.operators.notation import *

LAST, BLOCK = 80, 32
TENSORS = ("x", "gamma", "beta", "yOut", "mxscaleOut", "rstdOut")
BASE: dict[str, Argument] = {
    "x": t(2, 3, LAST, dtype=F16),
    **dict.fromkeys(("gamma", "beta"), t(LAST, dtype=F16)),
    "epsilon": 1e-6,
    "scaleAlg": 0,
    "roundMode": "rint",
    "dstType": Dtype(E4M3),
    "outputRstd": True,
    "yOut": t(2, 3, LAST, dtype=E4M3),
    "mxscaleOut": t(2, 3, 2, 2, dtype=E8M0),
    "rstdOut": t(2, 3, 1),
}
EXPONENT = {E4M3: 8, E5M2: 15}


@np.errstate(invalid="ignore")
def formula(given: Numbers, _chip: str) -> Truth:
    both = "x1" in given
    x = given["x1"] + given["x2"] if both else given["x"]
    rstd = ((x * x).mean(-1, keepdims=True) + given["epsilon"]) ** -0.5
    v = x * rstd * given["gamma"] + (0 if given["beta"] is None else given["beta"])
    dtype, scales = given["yOut.dtype"], np.zeros(given["mxscaleOut"].shape)
    y = np.zeros(v.shape)
    for row in np.ndindex(v.shape[:-1]):
        held = [2.0**-127] * scales.shape[-2] * 2
        for block in range(ceil(v.shape[-1] / BLOCK)):
            part = v[row][block * BLOCK : (block + 1) * BLOCK]
            most = np.abs(part).max()
            if not (known := np.isfinite([*x[row], most]).all()):
                held[block] = NAN
            if not known or not most:
                continue
            power = floor(log2(most)) - EXPONENT[dtype]
            if given["scaleAlg"]:
                power = ceil(log2(most / MOST[dtype]))
            held[block] = 2.0**power
            y[row][block * BLOCK : (block + 1) * BLOCK] = quantized(part / held[block], dtype)
        scales[row] = np.reshape(held, (-1, 2))
    found = {"yOut": y, "mxscaleOut": scales}
    if both:
        found["xOut"] = x
    return {**found, "rstdOut": rstd} if given["outputRstd"] else found


def row(x: str, gamma: str, y: str) -> tuple[str, ...]:
    return (x, gamma, gamma, y, E8M0, F32)


ROWS = tuple(row(x, g, y) for x in (F16, BF16) for g in (x, F32) for y in FLOAT8)
FLOAT4 = ("FLOAT4_E2M1", "FLOAT4_E1M2")
# With x of ones and no epsilon the normalized row is gamma.
ONES: Changes = {
    "x": array([[1] * 32], F16),
    "beta": None,
    "epsilon": 0.0,
    "yOut": t(1, 32, dtype=E4M3),
    "mxscaleOut": t(1, 1, 2, dtype=E8M0),
    "rstdOut": t(1, 1),
}
SMALL = 2.0**-127
FOUR = array([0.5, -1, 3, 7] + [0] * 28, F16)
NAN = float("nan")


def scaled(alg: int, dtype: str, scale: float, *y: float) -> Case:
    return Case(
        f"four in {dtype} with the scale {alg}",
        {
            **ONES,
            "gamma": FOUR,
            "scaleAlg": alg,
            "dstType": Dtype(dtype),
            "yOut": t(1, 32, dtype=dtype),
        },
        gives={"yOut": [[*y] + [0] * 28], "mxscaleOut": [[[scale, SMALL]]], "rstdOut": [[1]]},
        exact=True,
    )


def without_number(value: float, rstd: float) -> Case:
    return Case(
        f"{value} in a row",
        {**ONES, "x": array([[value] + [1] * 31], F16), "gamma": FOUR},
        gives={"yOut": [[0] * 32], "mxscaleOut": [[[NAN, SMALL]]], "rstdOut": [[rstd]]},
        computed=False,
        exact=True,
    )


TABLE = Table(
    name="aclnnRmsNormDynamicMxQuant",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("yOut", "mxscaleOut", "rstdOut"),
    chips=(P950,),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("x", "gamma", "roundMode", "yOut", "mxscaleOut", "rstdOut")),
        step(
            INNER_NULL,
            typed(*TENSORS),
            shaped("x", (), (1,) * 8),
            shaped("gamma", (40,), (1, LAST)),
            shaped("beta", (40,)),
            shaped("yOut", (6, LAST)),
            shaped("mxscaleOut", (2, 3, 4), (2, 3, 3, 1)),
            shaped("rstdOut", (2, 3)),
            broken("another scale", scaleAlg=2),
            broken("another way of rounding", roundMode="ceil"),
            broken("more than a way of rounding", roundMode="rints"),
            broken("float8 cannot be rounded down", roundMode="floor"),
            broken("another type than y", "yOut", dstType=Dtype(E5M2)),
            ordered=False,
            named=False,
        ),
    ),
    types=Types(
        TENSORS,
        {P950: ROWS},
        unknown=tuple(row(x, g, y) for x in (F16, BF16) for g in (x, F32) for y in FLOAT4),
        code=INNER_NULL,
        follows={"dstType": "yOut"},
    ),
    formula=formula,
    optional=("beta",),
    cases=(
        runs("sound", {}),
        runs("no rstd", {"outputRstd": False, "rstdOut": None}),
        idle(
            "no rows, whatever else is wrong",
            {"x": t(2, 0, LAST, dtype=F16), "gamma": t(3, dtype=F64)},
        ),
        refused(
            999001,
            "FLOAT4_E1M2 is not computed",
            {"dstType": Dtype(FLOAT4[1]), "yOut": Changed(dtype=FLOAT4[1])},
        ),
        *(
            refused(
                INNER_NULL,
                f"4 bits {name}",
                {"dstType": Dtype(FLOAT4[0]), "yOut": Changed(dtype=FLOAT4[0]), **changes},
            )
            for name, changes in (
                ("with the other scale", {"scaleAlg": 1}),
                (
                    "of a row of odd length",
                    {
                        "x": t(2, 3, 79, dtype=F16),
                        **dict.fromkeys(("gamma", "beta"), t(79, dtype=F16)),
                        "yOut": t(2, 3, 79, dtype=FLOAT4[0]),
                    },
                ),
            )
        ),
        # 7 is 1.75 times 2 ** 2: 2 ** (2 - 8) and 2 ** (2 - 15).
        scaled(0, E4M3, 2.0**-6, 32, -64, 192, 448),
        scaled(0, E5M2, 2.0**-13, 4096, -8192, 24576, 57344),
        # 7 / 448 is 2 ** -6, and 7 / 57344 is 2 ** -13.
        scaled(1, E4M3, 2.0**-6, 32, -64, 192, 448),
        scaled(1, E5M2, 2.0**-13, 4096, -8192, 24576, 57344),
        Case(
            "what is beyond the largest number saturates, or has twice the scale",
            {**ONES, "gamma": array([7.5] + [0] * 31, F16)},
            gives={"yOut": [[448] + [0] * 31], "mxscaleOut": [[[2.0**-6, SMALL]]]},
            exact=True,
        ),
        Case(
            "what is beyond the largest number, with twice the scale",
            {**ONES, "gamma": array([7.5] + [0] * 31, F16), "scaleAlg": 1},
            gives={"yOut": [[240] + [0] * 31], "mxscaleOut": [[[2.0**-5, SMALL]]]},
            exact=True,
        ),
        Case(
            "a block of zeros",
            {**ONES, "gamma": array([0] * 32, F16)},
            gives={"yOut": [[0] * 32], "mxscaleOut": [[[SMALL, SMALL]]]},
            exact=True,
        ),
        without_number(float("inf"), 0),
        without_number(NAN, NAN),
    ),
)
ADDED = ("x1", "x2", *TENSORS[1:4], "xOut", *TENSORS[4:])


def of_sum(changes: Changes) -> Changes:
    """The same, with a second summand of zeros."""
    made = {name: value for name, value in changes.items() if name != "x"}
    if "x" in changes:
        x = changes["x"]
        assert isinstance(x, Array)
        made["x1"], made["xOut"] = x, t(*x.shape, dtype=x.dtype)
        made["x2"] = replace(x, values=x.values and (0.0,) * x.size)
    return made


ADD = replace(
    TABLE,
    name="aclnnAddRmsNormDynamicMxQuant",
    base={
        "x1": BASE["x"],
        "x2": BASE["x"],
        **{name: BASE[name] for name in (*TENSORS[1:3], *list(BASE)[3:8])},
        "yOut": BASE["yOut"],
        "xOut": BASE["x"],
        **{name: BASE[name] for name in TENSORS[4:]},
    },
    results=("yOut", "xOut", "mxscaleOut", "rstdOut"),
    steps=(
        TABLE.steps[0],
        unordered(
            NULL,
            nulls("x1", "x2", "gamma", "roundMode", "yOut", "xOut", "mxscaleOut", "rstdOut"),
        ),
        step(
            INNER_NULL,
            typed(*ADDED),
            shaped("x1", ()),
            shaped("x2", (2, 3, 40), (6, LAST)),
            shaped("xOut", (6, LAST)),
            *(m for m in TABLE.steps[2].mistakes if "x" not in m.changes),
            ordered=False,
            named=False,
        ),
    ),
    types=replace(
        TABLE.types,
        names=ADDED,
        rows={P950: tuple((x, x, g, b, y, x, s, r) for x, g, b, y, s, r in ROWS)},
        unknown=tuple((x, x, g, b, y, x, s, r) for x, g, b, y, s, r in TABLE.types.unknown),
    ),
    cases=tuple(
        replace(
            case,
            changes=of_sum(case.changes),
        )
        for case in TABLE.cases
    ),
)
