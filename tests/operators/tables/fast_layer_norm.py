# SPDX-License-Identifier: Apache-2.0
"""aclnnFastLayerNorm (CANN: ops-nn norm/fast_layer_norm)."""

from itertools import product

import numpy as np

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables import layer_norm as forward

INPUTS, RESULTS = forward.TENSORS[:3], forward.TENSORS[3:]
LONG = 583_705_601
ROWS = tuple(
    (x, x, x, *results) for x in (F32, F16, BF16) for results in product((F32, F16, BF16), repeat=3)
)
TABLE = Table(
    name="aclnnFastLayerNorm",
    kind=COMPOSITE,
    releases=("9",),
    base=forward.BASE,
    results=RESULTS,
    chips=A2_A3,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("input", "normalizedShape", "out")),
        unordered(INVALID, typed(*INPUTS, *RESULTS), typed(*INPUTS[1:], dtype=F16)),
        unordered(
            INVALID,
            *(mistake for name in forward.RANKED for mistake in shaped(name, NINE)),
            broken("nine axes", normalizedShape=Ints(NINE)),
            broken("no axes", normalizedShape=Ints(())),
            broken("more axes than input has", "input", normalizedShape=Ints((1, 2, 3, 8))),
            broken("another length", normalizedShape=Ints((3, 4))),
            shaped("weightOptional", (8,), (3, 4)),
            shaped("biasOptional", (8,), (8, 3)),
            shaped("out", (2, 24)),
        ),
    ),
    types=Types(forward.TENSORS, dict.fromkeys(A2_A3, ROWS)),
    formula=forward.formula,
    optional=("weightOptional", "biasOptional", *RESULTS[1:]),
    cases=(
        runs("sound", {}),
        refused(
            INVALID,
            "a float32 weight with a float16 input",
            {"input": Changed(dtype=F16), "out": Changed(dtype=F16)},
        ),
        idle(
            "no rows",
            {
                **dict.fromkeys(("input", "out"), t(0, 8)),
                "normalizedShape": Ints((8,)),
                **dict.fromkeys(INPUTS[1:], t(8)),
                **dict.fromkeys(RESULTS[1:], t(0, 1)),
            },
        ),
        Case(
            "no columns",
            {
                **dict.fromkeys(("input", "out"), t(2, 0)),
                "normalizedShape": Ints((0,)),
                **dict.fromkeys(INPUTS[1:], t(0)),
                **dict.fromkeys(RESULTS[1:], t(2, 1)),
            },
            gives={"meanOutOptional": [[0], [0]], "rstdOutOptional": [[np.nan], [np.nan]]},
        ),
        refused(
            INNER_NULL,
            "more columns than are counted",
            {
                **dict.fromkeys(("input", "out"), t(1, LONG)),
                "normalizedShape": Ints((LONG,)),
                **dict.fromkeys(INPUTS[1:], t(LONG)),
                **dict.fromkeys(RESULTS[1:], t(1, 1)),
            },
        ),
        Case(
            "a row of four",
            {
                "input": array([[1, 2, 3, 4]]),
                "normalizedShape": Ints((4,)),
                "weightOptional": array([1, 2, 0.5, 1]),
                "biasOptional": array([0, 0, 1, 0]),
                "out": t(1, 4),
                **dict.fromkeys(RESULTS[1:], t(1, 1)),
            },
            gives={
                "out": [[-1.34164, -0.894424, 1.22361, 1.34164]],
                "meanOutOptional": [[2.5]],
                "rstdOutOptional": [[0.89442366]],
            },
            rtol=3e-6,
        ),
    ),
)
