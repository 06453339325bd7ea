# SPDX-License-Identifier: Apache-2.0
"""aclnnBatchNormElemtBackward (CANN: ops-nn norm/sync_batch_norm_backward_elemt)."""

from dataclasses import replace
from itertools import product

import numpy as np

from tests.operators.notation import *

PARAMETERS = ("mean", "invstd", "weight", "sumDy", "sumDyXmu")
WIDE = ("gradOut", "input", "gradInput")
TENSORS = ("gradOut", "input", *PARAMETERS, "counter", "gradInput")
BASE: dict[str, Argument] = {
    "gradOut": t(2, 3, 4),
    "input": t(2, 3, 4),
    "mean": t(3),
    "invstd": array([1, 0.5, 2]),
    "weight": t(3),
    "sumDy": t(3),
    "sumDyXmu": t(3),
    "counter": array([3, 5]),
    "gradInput": t(2, 3, 4),
}


def formula(given: Numbers, _chip: str) -> Truth:
    dy, x = (np.moveaxis(given[name], 1, -1) for name in ("gradOut", "input"))
    n, inverse = given["counter"].sum(), given["invstd"]
    slope = dy - given["sumDy"] / n - (x - given["mean"]) * inverse**2 * given["sumDyXmu"] / n
    weight = 1 if given["weight"] is None else given["weight"]
    return {"gradInput": np.moveaxis(slope * inverse * weight, -1, 1)}


def rows(*listed: str) -> tuple[tuple[str, ...], ...]:
    """Each has any type; the counter has no bfloat16, but may be whole numbers."""
    choices = [listed] * len(TENSORS)
    choices[TENSORS.index("counter")] = (F32, F16, I32)
    return tuple(product(*choices))


def wide(*shape: int) -> Changes:
    return dict.fromkeys(WIDE, t(*shape))


TWO: Changes = {
    "gradOut": array([[[1, 0], [-1, 2]], [[0.5, 1], [1, -1]]]),
    "input": array([[[1, 2], [3, 4]], [[5, 6], [7, 9]]]),
    "mean": array([3.5, 5.75]),
    "invstd": array([0.48507071, 0.41931358]),
    "weight": array([1, 2]),
    "sumDy": array([2.5, 1]),
    "sumDyXmu": array([0.75, -2.75]),
    "gradInput": t(2, 2, 2),
}
SLOPE = [
    [[0.235402, -0.271069], [-1.32706, 1.2902]],
    [[-0.092734, 0.128401], [0.755686, -0.718824]],
]
TABLE = Table(
    name="aclnnBatchNormElemtBackward",
    kind=COMPOSITE,
    base=BASE,
    results=("gradInput",),
    chips=(*A2_A3, P950, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*(name for name in TENSORS if name != "weight"))),
        unordered(INVALID, typed(*TENSORS), typed("counter", dtype=BF16)),
        unordered(
            INVALID,
            *(m for name in WIDE for m in shaped(name, (3,), NINE)),
            *(broken(f"{name} differs", "", **{name: Changed((2, 3, 5))}) for name in WIDE),
            *(m for name in PARAMETERS for m in shaped(name, (4,), (3, 1))),
            shaped("counter", NINE),
        ),
    ),
    types=Types(
        TENSORS, {**dict.fromkeys((*A2_A3, P950), rows(F32, F16, BF16)), P910: rows(F32, F16)}
    ),
    formula=formula,
    optional=("weight",),
    layouts=tuple(
        Layouts((name,), frozenset(FORMATS) - PRIVATE) for name in ("gradOut", "input", "counter")
    ),
    cases=(
        runs("sound", {}),
        *(
            runs(f"counter of shape {dims}", {"counter": t(*dims)}, computed=False)
            for dims in ((), (1,), (2, 1, 3))
        ),
        refused(INVALID, "no channels", {**wide(2, 0, 4), **dict.fromkeys(PARAMETERS, t(0))}),
        *(Case(f"nothing in {dims}", wide(*dims), launch=NOTHING) for dims in ((0, 3), (2, 3, 0))),
        *(
            Case(
                f"two channels, {counts} elements",
                {**TWO, "counter": array(counts, dtype)},
                gives={"gradInput": SLOPE},
                rtol=1e-5,
            )
            for counts, dtype in (([4], F32), ([2, 2], I32))
        ),
    ),
)

# The kernel table of 8.1 has the operator for more chips than its documents.
OLD, TABLE = in_8_1(TABLE, P310, like=P910), replace(TABLE, releases=("9",))
