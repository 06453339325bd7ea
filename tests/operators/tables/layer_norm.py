# SPDX-License-Identifier: Apache-2.0
"""aclnnLayerNorm and aclnnLayerNormWithImplMode (CANN: ops-nn norm/layer_norm_v4)."""

from dataclasses import replace
from itertools import product

import numpy as np

from tests.operators.notation import *

SYSTEM = 16 << 20
BUT_950 = tuple(chip for chip in EVERY_CHIP if chip != P950)
TENSORS = (
    *("input", "weightOptional", "biasOptional"),
    *("out", "meanOutOptional", "rstdOutOptional"),
)
RANKED = ("input", "out", *TENSORS[1:3], *TENSORS[4:])

BASE: dict[str, Argument] = {
    "input": t(2, 3, 8),
    "normalizedShape": Ints((3, 8)),
    "weightOptional": t(3, 8),
    "biasOptional": t(3, 8),
    "eps": 1e-5,
    "out": t(2, 3, 8),
    "meanOutOptional": t(2, 1, 1),
    "rstdOutOptional": t(2, 1, 1),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, normalized = given["input"], given["normalizedShape"]
    rows = x.reshape(-1, int(np.prod(normalized)))
    mean = rows.mean(1)
    rstd = 1 / np.sqrt(((rows - mean[:, None]) ** 2).mean(1) + given["eps"])
    out = ((rows - mean[:, None]) * rstd[:, None]).reshape(x.shape)
    if given["weightOptional"] is not None:
        out = out * given["weightOptional"]
    if given["biasOptional"] is not None:
        out = out + given["biasOptional"]
    statistics = x.shape[: x.ndim - len(normalized)] + (1,) * len(normalized)
    found = {"out": out}
    for name, value in (("meanOutOptional", mean), ("rstdOutOptional", rstd)):
        if given[name] is not None:
            found[name] = value.reshape(statistics)
    return found


def rows(*listed: str) -> tuple[tuple[str, ...], ...]:
    """Weight and bias have one type, float32 or the input's; the results have any."""
    return tuple(
        (x, parameter, parameter, *results)
        for x in listed
        for parameter in dict.fromkeys((F32, x))
        for results in product(listed, repeat=3)
    )


NARROW = dict.fromkeys((P310, P910, P310B), rows(F32, F16))
KNOWN_TYPES = Types(TENSORS, {**dict.fromkeys((*A2_A3, P950), rows(F32, F16, BF16)), **NARROW})
HALF: Changes = {name: Changed(dtype=F16) for name in ("input", "weightOptional", "biasOptional")}

BEFORE_MODE = (
    step(NULL, nulls("workspaceSize", "executor")),
    step(NULL, nulls("input", "normalizedShape", "out")),
    step(
        INVALID,
        typed("input", "weightOptional"),
        typed("weightOptional", dtype=F16),
        typed("biasOptional"),
        typed("biasOptional", dtype=F16),
        broken(
            "bias and weight of two types",
            "biasOptional",
            input=Changed(dtype=F16),
            weightOptional=Changed(dtype=F16),
            biasOptional=Changed(dtype=F32),
        ),
    ),
    step(INVALID, typed("out", "meanOutOptional", "rstdOutOptional")),
    step(
        INVALID,
        *(mistake for name in RANKED for mistake in shaped(name, NINE)),
        broken("nine axes", normalizedShape=Ints(NINE)),
        broken("no axes", normalizedShape=Ints(())),
        broken("more axes than input has", "input", normalizedShape=Ints((1, 2, 3, 8))),
        shaped("weightOptional", (8,)),
        shaped("biasOptional", (8,)),
    ),
    step(
        INVALID,
        broken("first axis", normalizedShape=Ints((4, 8))),
        broken("last axis", normalizedShape=Ints((3, 9))),
        shaped("weightOptional", (3, 7)),
        shaped("biasOptional", (2, 8)),
    ),
    step(INVALID, shaped("out", (2, 24))),
    step(
        INVALID,
        shaped("meanOutOptional", (2,), (3,)),
        shaped("rstdOutOptional", (2,), (2, 1), (0,)),
        chips=(P950,),
    ),
)
# Only the final copy compares shapes here, and it casts nothing and reshapes nothing.
COPY = step(
    INNER_NULL,
    shaped("meanOutOptional", (2,), (1, 2), (0,), (3,)),
    shaped("rstdOutOptional", (2,), (2, 1), (0,), (3, 1, 1)),
    chips=BUT_950,
)
MODE = step(
    INVALID,
    broken("implMode 3", implMode=3),
    broken("implMode -1", implMode=-1),
    broken("implMode 2 of float32", "input", implMode=2),
)


def empty(rows: int, columns: int, **more: Argument | Changed) -> Changes:
    return {
        "input": t(rows, columns),
        "normalizedShape": Ints((columns,)),
        "weightOptional": None,
        "biasOptional": None,
        "out": t(rows, columns),
        "meanOutOptional": t(rows, 1),
        "rstdOutOptional": t(rows, 1),
        **more,
    }


def statistics(
    chips: tuple[str, ...],
    x: str,
    columns: int,
    total: float,
    parameters: tuple[str | None, str | None],
    mean: float,
) -> Case:
    """The mean of a row of a type, in float32, with a weight and a bias of some types."""
    first = 2.0 ** int(np.log2(total))
    weight, bias = (None if kind is None else t(columns, dtype=kind) for kind in parameters)
    return Case(
        f"the mean of {columns} {x}, parameters {parameters}, is {mean}",
        {
            "input": array([[first, total - first, *[0.0] * (columns - 2)]], x),
            "normalizedShape": Ints((columns,)),
            "weightOptional": weight,
            "biasOptional": bias,
            "out": t(1, columns, dtype=x),
            "meanOutOptional": t(1, 1),
            "rstdOutOptional": None,
        },
        chips,
        gives={"meanOutOptional": [[mean]]},
        computed=False,
    )


NO_PARAMETERS: Changes = {"weightOptional": None, "biasOptional": None}
NO_STATISTICS: Changes = {"meanOutOptional": None, "rstdOutOptional": None}
CASES = (
    runs("sound", {}),
    runs("no weight", {"weightOptional": None}),
    runs("no bias", {"biasOptional": None}),
    runs("no statistics", NO_STATISTICS),
    runs("no mean", {"meanOutOptional": None}),
    runs("no rstd", {"rstdOutOptional": None}),
    runs("eps is not looked at", {"eps": -1e-6}),
    runs("empty statistics", {"meanOutOptional": t(0), "rstdOutOptional": t(0)}, chips=(P950,)),
    runs(
        "statistics of one element have any shape",
        empty(1, 8, meanOutOptional=t(1), rstdOutOptional=t(1, 1, 1)),
        chips=BUT_950,
    ),
    idle("no rows", empty(0, 8)),
    refused(INVALID, "no rows, and an out of another shape", empty(0, 8, out=t(0, 7))),
    idle("neither rows nor columns", empty(0, 0)),
    runs(
        "no columns",
        empty(3, 0),
        workspace=0,
        gives={"meanOutOptional": [[0.0]] * 3, "rstdOutOptional": [[np.nan]] * 3},
    ),
    idle("no columns and no statistics", empty(3, 0, **NO_STATISTICS)),
    # A slot of 512 bytes for each result, for each copy, and for ones and zeros but on the 950.
    Case("three results", {}, workspace=SYSTEM + 3 * 512),
    Case("ones and zeros", NO_PARAMETERS, chips=A2_A3, workspace=SYSTEM + 5 * 512),
    Case("a contiguous copy", {"input": Changed(strides=(24, 1, 3))}, workspace=SYSTEM + 4 * 512),
    Case("null on the 950", NO_PARAMETERS, chips=(P950,), workspace=SYSTEM + 3 * 512),
    *(
        statistics(*known)
        for known in (
            # LayerNormV3 hands its statistics over in the type of the weight ...
            (BUT_950, F16, 16, 1024.25, (F16, F16), 64),
            (BUT_950, F16, 16, 1024.25, (F32, F32), 64.015625),
            # ... which is that of the ones which stand for it: the bias's or the input's.
            (BUT_950, F16, 16, 1024.25, (None, F32), 64.015625),
            (BUT_950, F16, 16, 1024.25, (None, None), 64),
            (A2_A3, BF16, 512, 514, (BF16, BF16), 1),
            # LayerNormV4, for some lengths of rows, and on the 950, in float32.
            ((P950,), F16, 16, 1024.25, (F16, F16), 64.015625),
            (A2_A3, F16, 10, 1024.25, (F16, F16), 102.425),
            ((P310, P910, P310B), F16, 10, 1024.25, (F16, F16), 102.4375),
            ((P310,), F16, 20, 1024.25, (F16, F16), 51.2125),
            ((P910, P310B), F16, 20, 1024.25, (F16, F16), 51.21875),
            (A2_A3, BF16, 1024, 1028, (BF16, BF16), 1.00390625),
            (A2_A3, BF16, 1024, 1028, (F32, F32), 1.00390625),
            (A2_A3, BF16, 4096, 4112, (BF16, BF16), 1.00390625),
            ((P310,), F16, 40, 1024.25, (F16, F16), 25.60625),
            ((P910, P310B), F16, 40, 1024.25, (F16, F16), 25.609375),
            # On A2 and A3: rows shorter than 64 that do not fill blocks of 32 bytes.
            (A2_A3, F16, 24, 1024.25, (F16, F16), 1024.25 / 24),
            (A2_A3, F16, 63, 1024.25, (F16, F16), 1024.25 / 63),
            (A2_A3, F16, 65, 1024.25, (F16, F16), 15.7578125),
        )
    ),
    Case(
        "the official example",
        {
            "input": array(np.full((1, 2, 32), 2.0)),
            "normalizedShape": Ints((32,)),
            "weightOptional": array(np.ones(32)),
            "biasOptional": array(np.zeros(32)),
            "out": t(1, 2, 32),
            "meanOutOptional": t(1, 2, 1),
            "rstdOutOptional": t(1, 2, 1),
        },
        gives={
            "out": np.zeros((1, 2, 32)),
            "meanOutOptional": [[[2.0], [2.0]]],
            "rstdOutOptional": [[[316.2278], [316.2278]]],
        },
    ),
    Case(
        "one to four",
        {
            "input": array([[1, 2, 3, 4]]),
            "normalizedShape": Ints((4,)),
            "weightOptional": array([1, 2, 0.5, 1]),
            "biasOptional": array([0, 0, 1, 0]),
            "out": t(1, 4),
            "meanOutOptional": t(1, 1),
            "rstdOutOptional": t(1, 1),
        },
        gives={
            "out": [[-1.34164, -0.894424, 1.22361, 1.34164]],
            "meanOutOptional": [[2.5]],
            "rstdOutOptional": [[0.89442366]],
        },
        rtol=1e-5,
    ),
)

LAYER_NORM = Table(
    name="aclnnLayerNorm",
    kind=COMPOSITE,
    base=BASE,
    results=("out", "meanOutOptional", "rstdOutOptional"),
    steps=(*BEFORE_MODE, COPY),
    types=KNOWN_TYPES,
    formula=formula,
    optional=("weightOptional", "biasOptional", "meanOutOptional", "rstdOutOptional"),
    layouts=tuple(Layouts((name,), frozenset(FORMATS)) for name in TENSORS),
    cases=CASES,
)
WITH_IMPL_MODE = replace(
    LAYER_NORM,
    name="aclnnLayerNormWithImplMode",
    base={**BASE, "implMode": 0},
    steps=(*BEFORE_MODE, MODE, COPY),
    cases=(
        *CASES,
        runs("high performance", {"implMode": 1}),
        refused(INVALID, "no rows in no mode", empty(0, 8, implMode=3)),
        refused(INVALID, "no rows of float32 in float16's mode", empty(0, 8, implMode=2)),
        runs("all of float16", {**HALF, "implMode": 2}),
        *(
            refused(
                INVALID,
                f"float32 {name} among float16",
                {**HALF, **NO_PARAMETERS, "implMode": 2, name: Changed(dtype=F32)},
            )
            for name in ("input",)
        ),
        *(
            refused(
                INVALID,
                f"float32 {name} beside float16",
                {**HALF, **NO_PARAMETERS, "implMode": 2, name: t(3, 8)},
            )
            for name in ("weightOptional", "biasOptional")
        ),
    ),
)
