# SPDX-License-Identifier: Apache-2.0
"""aclnnRmsNormQuant and aclnnRmsNormQuantV3 (CANN: ops-nn norm/rms_norm_quant, ..._v2)."""

import numpy as np

from tests.operators.notation import *

BUT_950 = (*A2_A3, P310, P310B)
CHIPS = (*BUT_950, P950)
TENSORS = ("x", "gamma", "beta", "scale", "offset", "y")
BASE: dict[str, Argument] = {
    "x": t(2, 3, 16, dtype=F16),
    "gamma": t(16, dtype=F16),
    "beta": t(16, dtype=F16),
    "scale": array([0.25], F16),
    "offset": array([3], I8),
    "epsilon": 1e-6,
    "y": t(2, 3, 16, dtype=I8),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, gamma, beta, offset = (given[name] for name in ("x", "gamma", "beta", "offset"))
    rstd = ((x * x).mean(-1, keepdims=True) + given["epsilon"]) ** -0.5
    v = x * rstd * gamma.ravel() + (0 if beta is None else beta.ravel())
    v = v / given["scale"] if given.get("divMode", True) else v * given["scale"]
    v = v + (0 if offset is None else offset)
    whole = given["y.dtype"] == I32
    y = in_int32(np.clip(np.rint(v), -8, 7)) if whole else quantized(v, given["y.dtype"])
    found = {"y": y}
    return {**found, "rstd": rstd} if given.get("outputRstd") else found


def in_int32(whole: Floats) -> Floats:
    """Eight integers of 4 bits in one of 32, the first one lowest."""
    nibbles = whole.astype(np.int64).reshape(*whole.shape[:-1], -1, 8) & 15
    words = (nibbles << 4 * np.arange(8)).sum(-1).astype(np.uint32)
    return np.asarray(words.astype(np.int32), np.float64)


def row(x: str, scale: str, offset: str, y: str = I8) -> tuple[str, ...]:
    return (x, x, x, scale, offset, y)


OLD = (row(F16, F16, I8), row(BF16, BF16, I8))
ON_950 = tuple(
    row(*types, y)
    for y in (I8, *FLOAT8)
    for types in (
        (F32, F32, F32),
        *((x, F32, offset) for x in (F16, BF16) for offset in (F32, I32)),
        *((x, x, offset) for x in (F16, BF16) for offset in (x, I8)),
    )
)
INT4 = "INT4"
UNCOMPUTED = tuple((*row[:5], HIF8) for row in ON_950)
"""Rows of the 950 that the simulated NPU does not compute."""
IN_PAIRS = tuple((*row[:5], INT4) for row in (*OLD, *ON_950))
"""Rows whose results lie two in a byte."""


def packed(rows: tuple[tuple[str, ...], ...], place: int) -> tuple[tuple[str, ...], ...]:
    """The rows with eight integers in an int32: y has another shape then."""
    return tuple((*row[:place], I32, *row[place + 1 :]) for row in rows)


def four(dtype: str, offset: str) -> dict[str, Argument]:
    return {
        "x": array([[1, 2, 3, 4]], dtype),
        "gamma": array([1, 2, 0.5, 1], dtype),
        "beta": array([0, 0, 1, 0], dtype),
        "scale": array([0.02], dtype),
        "offset": array([3], offset),
        "y": t(1, 4, dtype=I8),
    }


# x has rms 2, and gamma is 1: v = x / 2, in steps of a quarter 2 x.
EIGHT: dict[str, Argument] = {
    "x": array([[2, -2, 2, -2, 2, -2, 2, -2], [1, 3, -1, -3, 1, 3, -1, 1]], F16),
    "gamma": array([1, 2, 3, 4, -1, -2, -3, -4], F16),
    "beta": array([0] * 8, F16),
    "scale": array([0.5], F16),
    "offset": array([1], I8),
    "epsilon": 0.0,
    "y": t(2, 1, dtype=I32),
}
# v / 0.5 + 1: the first row 3 -3 7 -7 -1 5 -5 7 (9 is too much).
FIRST = [3, -3, 7, -7, -1, 5, -5, 7]
SECOND = [2, 7, -2, -8, 0, -5, 4, -3]


def word(nibbles: list[int]) -> int:
    """Eight integers of 4 bits in one of 32, the first one lowest."""
    value = sum((number & 15) << 4 * place for place, number in enumerate(nibbles))
    return value - (1 << 32) if value >> 31 else value


CASES = (
    runs("sound", {}),
    runs("gamma and beta of two dimensions", dict.fromkeys(("gamma", "beta"), t(1, 16, dtype=F16))),
)
TABLE = Table(
    name="aclnnRmsNormQuant",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("y",),
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        # Two dimensions become one before anything else is looked at.
        unordered(INNER_NULL, shaped("gamma", (2, 16)), shaped("beta", (16, 1))),
        unordered(NULL, nulls(*TENSORS)),
        unordered(INVALID, typed(*TENSORS), typed("gamma", "beta", dtype=BF16)),
        unordered(
            INVALID,
            shaped("x", NINE),
            shaped("gamma", (8,), (1, 1, 16)),
            shaped("beta", (8,), (1, 8)),
            shaped("scale", ()),
            shaped("offset", (2,), (1, 1)),
            shaped("y", (2, 3, 8), ()),
            named=False,
        ),
        step(INVALID, shaped("y", (3, 2, 16), (6, 16)), chips=(P950,)),
        step(INNER_NULL, shaped("y", (3, 2, 16), (6, 16)), chips=BUT_950),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys(A2_A3, OLD), **dict.fromkeys((P310, P310B), OLD[:1]), P950: ON_950},
        unknown=(*packed((*OLD, *ON_950), 5), *UNCOMPUTED, *IN_PAIRS),
    ),
    formula=formula,
    cases=(
        *CASES,
        refused(INNER_NULL, "two scales", {"scale": t(2, dtype=F16), "offset": t(2, dtype=I8)}),
        refused(
            INNER_NULL,
            "a scale of each channel, but on the 950",
            {"scale": t(16, dtype=F16), "offset": t(16, dtype=I8)},
            BUT_950,
        ),
        runs(
            "a scale of each channel, on the 950",
            {"scale": array(np.arange(1, 17) / 8, F16), "offset": t(16, dtype=I8)},
            (P950,),
        ),
        runs(
            "one scale of two dimensions",
            {"scale": array([[0.25]], F16), "offset": array([[3]], I8)},
        ),
        refused(999001, "HIFLOAT8", {"y": Changed(dtype=HIF8)}, (P950,)),
        refused(INVALID, "HIFLOAT8, but on the 950", {"y": Changed(dtype=HIF8)}, BUT_950),
        refused(
            INVALID,
            "INT4, an odd number of them in a row",
            {
                "x": t(2, 3, 15, dtype=F16),
                **dict.fromkeys(("gamma", "beta"), t(15, dtype=F16)),
                "y": t(2, 3, 15, dtype=INT4),
            },
            (P950,),
        ),
        runs(
            "INT4, an even number of them in a row",
            {"y": Changed(dtype=INT4)},
            (P950,),
            computed=False,
        ),
        refused(INVALID, "INT4 on the 310P", {"y": Changed(dtype=INT4)}, (P310, P310B)),
        *(
            Case(f"four in {dtype}", four(dtype, I8), chips, gives={"y": [[21, 76, 80, 76]]})
            for dtype, chips in ((F16, CHIPS), (BF16, (*A2_A3, P950)))
        ),
        Case(
            "four, with a scale and an offset of float32",
            {**four(F16, F32), "scale": array([0.02])},
            (P950,),
            gives={"y": [[21, 76, 80, 76]]},
        ),
        Case(
            "packed into int32",
            EIGHT,
            A2_A3,
            gives={"y": [[word(FIRST)], [word(SECOND)]]},
            exact=True,
        ),
        refused(INVALID, "packed into too little", {"y": t(2, 3, 1, dtype=I32)}, A2_A3),
    ),
)
V3_TENSORS = ("x", "gamma", "scale", "offset", "beta", "y", "rstd")
V3_ROWS = tuple((x, g, s, o, b, y, F32) for x, g, b, s, o, y in ON_950)
V3_UNKNOWN = tuple((*row[:5], y, F32) for row in V3_ROWS for y in (HIF8, INT4))
V3 = Table(
    name="aclnnRmsNormQuantV3",
    kind=COMPOSITE,
    releases=("9",),
    base={
        **{name: BASE[name] for name in ("x", "gamma", "scale", "offset", "beta", "epsilon")},
        "divMode": True,
        "outputRstd": True,
        "y": BASE["y"],
        "rstd": t(2, 3, 1),
    },
    results=("y", "rstd"),
    chips=(P950,),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("x", "gamma", "scale", "y", "rstd")),
        step(INVALID, shaped("gamma", (), (1, 1, 16)), shaped("scale", (), (1, 1))),
        unordered(
            INNER_NULL,
            typed(*V3_TENSORS),
            shaped("gamma", (8,)),
            shaped("scale", (2,)),
            shaped("offset", (2,)),
            shaped("beta", (8,)),
            shaped("y", (2, 3, 8), (6, 16)),
            shaped("rstd", (2, 3)),
        ),
    ),
    types=Types(
        V3_TENSORS,
        {P950: V3_ROWS},
        unknown=V3_UNKNOWN,
        # A y of int32 is refused earlier: it has another shape.
        listed={P950: frozenset(dtype for row in V3_ROWS for dtype in (*row, I32))},
        code=INNER_NULL,
    ),
    formula=formula,
    optional=("offset", "beta"),
    cases=(
        *CASES,
        runs("no rstd", {"outputRstd": False, "rstd": None}),
        refused(999001, "HIFLOAT8", {"y": Changed(dtype=HIF8)}),
        runs("INT4", {"y": Changed(dtype=INT4)}, computed=False),
        runs("multiplied", {"divMode": False, "scale": array([4], F16)}),
        Case(
            "four",
            {**four(F16, I8), "rstd": t(1, 1)},
            gives={"y": [[21, 76, 80, 76]], "rstd": [[0.36514837]]},
        ),
        refused(INVALID, "packed into too little", {"y": t(2, 3, 1, dtype=I32)}),
    ),
)
