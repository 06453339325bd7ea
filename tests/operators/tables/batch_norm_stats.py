# SPDX-License-Identifier: Apache-2.0
"""aclnnBatchNormStats (CANN: ops-math math/reduce_std_with_mean)."""

import numpy as np

from tests.operators.notation import *

TENSORS = ("input", "mean", "invstd")
BASE: dict[str, Argument] = {"input": t(2, 3, 4), "eps": 1e-5, "mean": t(3), "invstd": t(3)}


def formula(given: Numbers, _chip: str) -> Truth:
    x = given["input"]
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    return {"mean": x.mean(axes), "invstd": (x.var(axes) + given["eps"]) ** -0.5}


WIDE, HALF, BRAIN = ((x, F32, F32) for x in (F32, F16, BF16))
TABLE = Table(
    name="aclnnBatchNormStats",
    kind=COMPOSITE,
    base=BASE,
    results=("mean", "invstd"),
    chips=(*A2_A3, P910, P950),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*TENSORS)),
        unordered(INVALID, typed(*TENSORS), typed("mean", "invstd", dtype=F16)),
        unordered(
            INVALID,
            shaped("input", (3,), NINE),
            shaped("mean", (4,), (3, 1)),
            shaped("invstd", (2,), (1, 3)),
        ),
    ),
    types=Types(
        TENSORS, {**dict.fromkeys((*A2_A3, P910), (WIDE, HALF)), P950: (WIDE, HALF, BRAIN)}
    ),
    formula=formula,
    layouts=(Layouts(("input",), frozenset(FORMATS) - PRIVATE),),
    cases=(
        runs("sound", {}),
        *(runs(f"rank {rank}", {"input": t(2, 3, *(2,) * (rank - 2))}) for rank in (2, 4, 5, 6, 8)),
        refused(INVALID, "no channels", {"input": t(2, 0, 4), "mean": t(0), "invstd": t(0)}),
        *(
            Case(
                f"no {what}", {"input": t(*dims)}, gives={"mean": [0.0] * 3, "invstd": [np.nan] * 3}
            )
            for what, dims in (("samples", (0, 3, 4)), ("space", (2, 3, 0)))
        ),
        Case(
            "three channels",
            {"input": array(np.arange(1.0, 7.0).reshape(1, 3, 2))},
            gives={"mean": [1.5, 3.5, 5.5], "invstd": [1.99996] * 3},
            rtol=2e-6,
        ),
    ),
)
