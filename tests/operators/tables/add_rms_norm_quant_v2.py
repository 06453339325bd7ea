# SPDX-License-Identifier: Apache-2.0
"""aclnnAddRmsNormQuantV2 (CANN: ops-nn norm/add_rms_norm_quant_v2)."""

import numpy as np

from tests.operators.notation import *

CHIPS = (*A2_A3, P950, P310)
INPUTS = ("x1", "x2", "gamma")
SCALES = ("scales1", "scales2Optional")
ZEROS = ("zeroPoints1Optional", "zeroPoints2Optional")
TENSORS = (*INPUTS, *SCALES, *ZEROS, "betaOptional", "y1Out", "y2Out", "xOut")
BASE: dict[str, Argument] = {
    **dict.fromkeys(("x1", "x2"), t(2, 3, 4, 8, dtype=F16)),
    "gamma": t(4, 8, dtype=F16),
    **dict.fromkeys(SCALES, array(np.linspace(0.1, 0.5, 32).reshape(4, 8))),
    **dict.fromkeys(ZEROS, t(4, 8, dtype=I32)),
    "betaOptional": t(4, 8, dtype=F16),
    "axis": -1,
    "epsilon": 1e-6,
    "divMode": True,
    **dict.fromkeys(("y1Out", "y2Out"), t(2, 3, 4, 8, dtype=I8)),
    "xOut": t(2, 3, 4, 8, dtype=F16),
    "rmsNormOut": None,
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, gamma, beta = given["x1"] + given["x2"], given["gamma"], given["betaOptional"]
    if gamma.ndim > 1 and len(gamma) == 1:
        gamma = gamma[0]
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    norm = x * ((x * x).mean(axes, keepdims=True) + given["epsilon"]) ** -0.5 * gamma
    found = {"xOut": x, "rmsNormOut": norm}
    for name, scale, zero in zip(("y1Out", "y2Out"), SCALES, ZEROS, strict=True):
        step, shift = given[scale], given[zero]
        if step is not None:
            y = norm + (0 if beta is None else beta.reshape(gamma.shape))
            y = (y / step if given["divMode"] else y * step) + (0 if shift is None else shift)
            found[name] = quantized(y, given[f"{name}.dtype"])
    return {name: value for name, value in found.items() if given[name] is not None}


def row(x: str, scale: str, zero: str, y: str = I8) -> tuple[str, ...]:
    return (x, x, x, scale, scale, zero, zero, x, y, y, x)


OLD = (row(F16, F32, I32), row(BF16, BF16, BF16), row(BF16, F32, I32))
NEW = (*OLD, row(F32, F32, F32), row(F16, F16, F16), row(F16, F32, F32), row(BF16, F32, F32))
ON_950 = tuple((*r[:8], y, y, r[10]) for r in NEW for y in (I8, *FLOAT8))
UNKNOWN = tuple((*r[:8], HIF8, HIF8, r[10]) for r in NEW)
"""Rows of the 950 that the simulated NPU does not compute."""
LISTED = frozenset({F16, BF16, F32, I32, I8})
ONE: Changes = {
    "gamma": t(8, dtype=F16),
    "scales1": array([0.25]),
    "zeroPoints1Optional": array([3], I32),
    **dict.fromkeys((SCALES[1], ZEROS[1])),
    "betaOptional": t(8, dtype=F16),
}
"""One scale for all: what other chips than the 950 have the newer kernel for."""
NORM: Changes = {**ONE, "betaOptional": None, "xOut": None, "rmsNormOut": t(2, 3, 4, 8, dtype=F16)}


def four(dtype: str, scale: list[float], zero: list[int]) -> Changes:
    return {
        "x1": array([[1, 2, 3, 4]], dtype),
        "x2": array([[1, 0, -1, 2]], dtype),
        "gamma": array([1, 2, 0.5, 1], dtype),
        "scales1": array(scale),
        "zeroPoints1Optional": array(zero, I32),
        **dict.fromkeys((SCALES[1], ZEROS[1])),
        "betaOptional": array([0] * 4, dtype),
        **dict.fromkeys(("y1Out", "y2Out"), t(1, 4, dtype=I8)),
        "xOut": t(1, 4, dtype=dtype),
    }


TABLE = Table(
    name="aclnnAddRmsNormQuantV2",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("y1Out", "y2Out", "xOut", "rmsNormOut"),
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*INPUTS, "scales1", "y1Out", "y2Out")),
        unordered(
            NULL,
            nulls("xOut"),
            broken("the norm", rmsNormOut=t(2, 3, 4, 8, dtype=F16)),
            chips=(*A2_A3, P310),
        ),
        unordered(
            INVALID,
            typed(*TENSORS),
            *(m for name in INPUTS for m in shaped(name, NINE)),
            shaped("x2", (6, 4, 8), (2, 3, 4, 7)),
            shaped("gamma", (3, 8), (1, 2, 3, 4, 8)),
            shaped("betaOptional", (8,)),
            *(m for name in (*SCALES, *ZEROS) for m in shaped(name, (8,), (1, 4, 8))),
            *(m for name in ("y1Out", "y2Out", "xOut") for m in shaped(name, (6, 4, 8))),
            named=False,
        ),
        step(
            INVALID,
            *(m for name in (*SCALES, *ZEROS) for m in shaped(name, (1,))),
            chips=(*A2_A3, P310),
        ),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys(A2_A3, OLD), P310: OLD[:1], P950: ON_950},
        unknown=UNKNOWN,
        listed=dict.fromkeys(CHIPS, LISTED),
    ),
    formula=formula,
    optional=(SCALES[1], *ZEROS, "betaOptional"),
    cases=(
        runs("sound", {}),
        refused(
            999001, "HIFLOAT8", dict.fromkeys(("y1Out", "y2Out"), Changed(dtype=HIF8)), (P950,)
        ),
        runs("one result", dict.fromkeys((SCALES[1], ZEROS[1]))),
        runs("another axis", {"axis": 0}),
        runs("one scale, with the sum", ONE, (*A2_A3, P950)),
        runs("one scale, with the norm", NORM, (*A2_A3, P950)),
        refused(NULL, "one scale, with both", {**NORM, "xOut": t(2, 3, 4, 8, dtype=F16)}, A2_A3),
        refused(
            NULL,
            "a scale of each channel, with the norm",
            {**NORM, "scales1": t(8), "zeroPoints1Optional": t(8, dtype=I32)},
            A2_A3,
        ),
        refused(NULL, "no offset, with the norm", {**NORM, "zeroPoints1Optional": None}, A2_A3),
        runs("both on the 950", {"rmsNormOut": t(2, 3, 4, 8, dtype=F16)}, (P950,)),
        runs(
            "gamma of two dimensions",
            {**ONE, **dict.fromkeys(("gamma", "betaOptional"), t(1, 8, dtype=F16))},
            (*A2_A3, P950),
        ),
        runs(
            "everything of gamma's two dimensions",
            {
                **dict.fromkeys(("gamma", "betaOptional"), t(1, 8, dtype=F16)),
                **dict.fromkeys(SCALES, array(np.linspace(0.1, 0.5, 8).reshape(1, 8))),
                **dict.fromkeys(ZEROS, t(1, 8, dtype=I32)),
                **dict.fromkeys(("x1", "x2", "xOut"), t(2, 3, 1, 8, dtype=F16)),
                **dict.fromkeys(("y1Out", "y2Out"), t(2, 3, 1, 8, dtype=I8)),
            },
            (*A2_A3, P950),
        ),
        refused(INVALID, "rows that fill no block", {**ONE, "scales1": t(8)}, (P310,)),
        *(
            idle(f"no {what}", changes)
            for what, changes in (
                (
                    "rows",
                    {
                        **dict.fromkeys(("x1", "x2", "xOut"), t(0, 4, 8, dtype=F16)),
                        **dict.fromkeys(("y1Out", "y2Out"), t(0, 4, 8, dtype=I8)),
                    },
                ),
                ("second result", {"y2Out": t(0, dtype=I8)}),
            )
        ),
        *(
            Case(
                f"four in {dtype}",
                four(dtype, [0.1, 0.01, 0.1, 0.05], [0, 5, -3, 1]),
                chips,
                gives={"y1Out": [[6, 120, 0, 36]], "y2Out": UNTOUCHED, "xOut": [[2, 2, 2, 6]]},
            )
            for dtype, chips in ((BF16, A2_A3), (F16, (*A2_A3, P950)))
        ),
    ),
)
