# SPDX-License-Identifier: Apache-2.0
"""aclnnAdaLayerNorm and aclnnAdaLayerNormV2 (CANN: ops-nn norm/ada_layer_norm)."""

from dataclasses import replace

from tests.operators.notation import *

PARAMETERS = ("weightOptional", "biasOptional")
TENSORS = ("x", "scale", "shift", *PARAMETERS, "out")
STATISTICS = ("meanOutOptional", "rstdOutOptional")
BASE: dict[str, Argument] = {
    "x": t(2, 3, 4, 8),
    "scale": t(2, 3, 8),
    "shift": t(2, 3, 1, 8),
    "weightOptional": t(8),
    "biasOptional": t(8),
    "epsilon": 1e-5,
    "out": t(2, 3, 4, 8),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x = given["x"]
    mean, rstd = x.mean(-1, keepdims=True), (x.var(-1, keepdims=True) + given["epsilon"]) ** -0.5
    out = (x - mean) * rstd
    if given["weightOptional"] is not None:
        out = out * given["weightOptional"]
    if given["biasOptional"] is not None:
        out = out + given["biasOptional"]
    by_sample = (*x.shape[:-2], 1, x.shape[-1])
    scale, shift = (given[name].reshape(by_sample) for name in ("scale", "shift"))
    saved = dict(zip(STATISTICS, (mean, rstd), strict=True))
    wanted = {name: value for name, value in saved.items() if given.get(name) is not None}
    return {"out": out * (1 + scale) + shift, **wanted}


def plain(x: tuple[int, ...]) -> Changes:
    return {
        **dict.fromkeys(("x", "out"), t(*x)),
        **dict.fromkeys(("scale", "shift"), t(*x[:-2], x[-1])),
        **dict.fromkeys(PARAMETERS, t(x[-1])),
    }


EXAMPLE: Changes = {
    "x": array([[[1, 2, 3, 4], [2, 0, 2, 0]]]),
    "scale": array([[1, 0, 0.5, -0.5]]),
    "shift": array([[0, 1, 0, 1]]),
    "weightOptional": array([1, 2, 1, 1]),
    "biasOptional": array([0, 0, 0.5, 0]),
}
OUT = [[[-2.68327, 0.105576, 1.42082, 1.67082], [1.99999, -0.99999, 2.24999, 0.500003]]]
SHAPES = (
    *shaped("x", (8,), NINE),
    *shaped("scale", (2, 8), (2, 3, 4, 8), (2, 3, 7)),
    *shaped("shift", (6, 8), (2, 3, 2, 8)),
    *shaped("weightOptional", (4,), (1, 8)),
    *shaped("biasOptional", (7,), (8, 1)),
    *shaped("out", (2, 12, 8)),
)
EMPTY = tuple(
    refused(INVALID, f"no {what}", plain(dims))
    for what, dims in (("samples", (0, 4, 8)), ("rows", (2, 0, 8)), ("columns", (2, 4, 0)))
)
TABLE = Table(
    name="aclnnAdaLayerNorm",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("out",),
    chips=A2_A3,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("x", "scale", "shift", "out")),
        unordered(INVALID, typed(*TENSORS), typed(*TENSORS[1:], dtype=F16)),
        unordered(INVALID, SHAPES),
    ),
    types=Types(TENSORS, dict.fromkeys(A2_A3, tuple((x,) * 6 for x in (F32, F16, BF16)))),
    formula=formula,
    optional=PARAMETERS,
    layouts=(Layouts(("x", "out"), frozenset(FORMATS)),),
    cases=(
        runs("sound", {}),
        runs("one sample", plain((4, 8))),
        *EMPTY,
        Case("two rows", {**EXAMPLE, "out": t(1, 2, 4)}, gives={"out": OUT}, rtol=5e-6),
    ),
)


def row(x: str, parameter: str) -> tuple[str, ...]:
    return (x, x, x, parameter, parameter, x, x, x)


V2_TENSORS = (*TENSORS, *STATISTICS)
V2 = replace(
    TABLE,
    name="aclnnAdaLayerNormV2",
    base={**BASE, **dict.fromkeys(STATISTICS, t(2, 3, 4, 1))},
    results=("out", *STATISTICS),
    chips=(*A2_A3, P950),
    steps=(
        *TABLE.steps[:2],
        unordered(
            INVALID, typed(*V2_TENSORS), typed("scale", "shift", "out", *STATISTICS, dtype=F16)
        ),
        unordered(
            INVALID,
            *SHAPES,
            *(m for name in STATISTICS for m in shaped(name, (2, 3, 4), (2, 3, 1, 4))),
        ),
    ),
    types=Types(
        V2_TENSORS,
        dict.fromkeys(
            (*A2_A3, P950),
            tuple(row(x, p) for x in (F32, F16, BF16) for p in dict.fromkeys((x, F32))),
        ),
    ),
    optional=(*PARAMETERS, *STATISTICS),
    cases=(
        runs("sound", {}),
        *(replace(case, changes={**case.changes, **dict.fromkeys(STATISTICS)}) for case in EMPTY),
        Case(
            "two rows",
            {**EXAMPLE, "out": t(1, 2, 4), **dict.fromkeys(STATISTICS, t(1, 2, 1))},
            gives={
                "out": OUT,
                "meanOutOptional": [[[2.5], [1]]],
                "rstdOutOptional": [[[0.89442366], [0.99999499]]],
            },
            rtol=5e-6,
        ),
    ),
)
