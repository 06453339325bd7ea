# SPDX-License-Identifier: Apache-2.0
"""aclnnBatchNormGatherStatsWithCounts.

CANN: ops-nn norm/sync_batch_norm_gather_stats_with_counts.
"""

from dataclasses import replace
from itertools import product

import numpy as np

from tests.operators.notation import *

RUNNING = ("runningMean", "runningVar")
GIVEN = ("input", "mean", "invstd", "counts")
WHOLE = ("meanAll", "invstdAll")
TENSORS = ("input", "mean", "invstd", *RUNNING, "counts", *WHOLE)
BASE: dict[str, Argument] = {
    "input": t(2, 3, 4),
    "mean": t(2, 3),
    "invstd": array([[1, 0.5, 2], [0.75, 1.5, 1]]),
    "runningMean": t(3),
    "runningVar": array([1, 2, 0.5]),
    "momentum": 0.1,
    "eps": 1e-5,
    "counts": array([6, 10]),
    "meanAll": t(3),
    "invstdAll": t(3),
}


def formula(given: Numbers, _chip: str) -> Truth:
    counts, mean, eps = given["counts"][:, None], given["mean"], given["eps"]
    n, momentum = counts.sum(), given["momentum"]
    whole = (counts * mean).sum(0) / n
    squares = (counts * (given["invstd"] ** -2 - eps + (mean - whole) ** 2)).sum(0)
    found = {"meanAll": whole, "invstdAll": (squares / n + eps) ** -0.5}
    if given["runningMean"] is not None:
        moved = {"runningMean": whole, "runningVar": squares / (n - 1)}
        found |= {k: (1 - momentum) * given[k] + momentum * new for k, new in moved.items()}
    return found


def rows(*listed: str) -> tuple[tuple[str, ...], ...]:
    return tuple(product(listed, repeat=len(TENSORS)))


FULL, NARROW = (F32, F16, BF16), (F32, F16)
NOT_RUNNING: Changes = dict.fromkeys(RUNNING)
STAY = dict.fromkeys(RUNNING, UNTOUCHED)
TWO: Changes = {
    "input": t(1, 2, 3),
    "mean": array([[1, 2], [3, 4]]),
    "invstd": array([[0.999995, 0.49999938], [1.99996, 0.999995]]),
    "runningMean": array([0.5, 0.5]),
    "runningVar": array([1, 2]),
    "counts": array([2, 6]),
    **dict.fromkeys(WHOLE, t(2)),
}
GIVES = {"meanAll": [2.5, 3.5], "invstdAll": [0.91765907, 0.63245427]}
TABLE = Table(
    name="aclnnBatchNormGatherStatsWithCounts",
    kind=COMPOSITE,
    base=BASE,
    results=(*RUNNING, *WHOLE),
    updated=RUNNING,
    chips=(*A2_A3, P950, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*GIVEN, *WHOLE)),
        unordered(INVALID, typed(*TENSORS), typed("counts", dtype=I32)),
        unordered(
            INVALID,
            shaped("input", (3,), NINE),
            broken("input of other channels", "", input=Changed((2, 4, 4))),
            shaped("mean", (6,), (2, 3, 1), (2, 4)),
            shaped("invstd", (3,), (1, 2, 3), (3, 3), (2, 2)),
            shaped("counts", (3,), (2, 1), ()),
            *(mistake for name in RUNNING for mistake in shaped(name, (4,), (1, 3))),
            *(mistake for name in WHOLE for mistake in shaped(name, (2,), (3, 1))),
        ),
    ),
    types=Types(TENSORS, {**dict.fromkeys((*A2_A3, P950), rows(*FULL)), P910: rows(*NARROW)}),
    formula=formula,
    layouts=tuple(Layouts((name,), frozenset(FORMATS) - PRIVATE) for name in GIVEN),
    cases=(
        runs("sound", {}),
        runs("nothing runs", NOT_RUNNING),
        runs("only a variance runs, and is not given back", {"runningMean": None}),
        Case("neither momentum nor eps is looked at", {"momentum": -3.0, "eps": -1e-6}),
        runs("no elements of input", {"input": t(0, 3, 4)}),
        Case(
            "no devices",
            {"mean": t(0, 3), "invstd": t(0, 3), "counts": t(0)},
            gives={"meanAll": [0.0] * 3, "invstdAll": [np.nan] * 3, **STAY},
        ),
        Case(
            "two channels on two devices",
            TWO,
            gives={**GIVES, "runningMean": [0.7, 0.8], "runningVar": [1.0357143, 2.0857142]},
            rtol=3e-6,
        ),
        Case("two channels, nothing runs", {**TWO, **NOT_RUNNING}, gives=GIVES, rtol=3e-6),
    ),
)

# The kernel table of 8.1 has the operator for more chips than its documents.
OLD, TABLE = in_8_1(TABLE, P310, like=P910), replace(TABLE, releases=("9",))
