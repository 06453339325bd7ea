# SPDX-License-Identifier: Apache-2.0
"""aclnnSyncBatchNormGatherStats (CANN: ops-nn norm/sync_batch_norm_gather_stats)."""

from itertools import product

from tests.operators.notation import *

CHIPS = (*A2_A3, P950)
GIVEN = ("totalSum", "totalSquareSum", "sampleCount")
RUNNING, BATCH = ("mean", "variance"), ("batchMean", "batchInvstd")
TENSORS = (*GIVEN, *RUNNING, *BATCH)
BASE: dict[str, Argument] = {
    "totalSum": t(2, 3),
    "totalSquareSum": array([[40, 50, 60], [44, 55, 66]]),
    "sampleCount": array([2, 3]),
    "mean": t(3),
    "variance": array([1, 2, 3]),
    "momentum": 0.25,
    "eps": 1e-5,
    "batchMean": t(3),
    "batchInvstd": t(3),
}


def formula(given: Numbers, _chip: str) -> Truth:
    n, m = given["sampleCount"].sum(), given["momentum"]
    mean = given["totalSum"].sum(0) / n
    variance = given["totalSquareSum"].sum(0) / n - mean**2
    return {
        "mean": (1 - m) * given["mean"] + m * mean,
        "variance": (1 - m) * given["variance"] + m * variance * n / (n - 1),
        "batchMean": mean,
        "batchInvstd": (variance + given["eps"]) ** -0.5,
    }


def rows(*listed: str) -> tuple[tuple[str, ...], ...]:
    return tuple((x, x, count, *(x,) * 4) for x in listed for count in (*listed, I32))


def mixed(*listed: str) -> tuple[tuple[str, ...], ...]:
    """Exclude result dtypes that differ from the sums; their checks are not known."""
    return tuple(
        (x, x, count, *(x,) * 2, y, y)
        for x, y in product(listed, repeat=2)
        for count in (*listed, I32)
        if x != y
    )


TABLE = Table(
    name="aclnnSyncBatchNormGatherStats",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=(*RUNNING, *BATCH),
    updated=RUNNING,
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*TENSORS)),
        unordered(INVALID, typed(*TENSORS), typed("totalSquareSum", *RUNNING, dtype=F16)),
        unordered(
            INVALID,
            shaped("totalSum", (3,), (2, 3, 1)),
            shaped("totalSquareSum", (3, 3), (2, 4), (6,)),
            shaped("sampleCount", (3,), (2, 1)),
            shaped("mean", (4,), (1, 3)),
            shaped("variance", (2,), (3, 1)),
            shaped("batchMean", (4,), (1, 3)),
            shaped("batchInvstd", (6,)),
        ),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys(A2_A3, rows(F32, F16)), P950: rows(F32, F16, BF16)},
        unknown=mixed(F32, F16, BF16),
    ),
    formula=formula,
    layouts=(Layouts(("totalSum",), frozenset(FORMATS) - PRIVATE),),
    cases=(
        runs("sound", {}),
        refused(
            INVALID,
            "no devices",
            {"totalSum": t(0, 3), "totalSquareSum": t(0, 3), "sampleCount": t(0)},
        ),
        idle(
            "no channels",
            {**dict.fromkeys(GIVEN[:2], t(2, 0)), **dict.fromkeys((*RUNNING, *BATCH), t(0))},
        ),
        *(
            Case(
                f"two devices, counted in {dtype}",
                {
                    "totalSum": array([[4, 8], [6, 4]]),
                    "totalSquareSum": array([[10, 40], [20, 12]]),
                    "sampleCount": array([2, 3], dtype),
                    "mean": array([0.5, 0.5]),
                    "variance": array([1, 1]),
                    "momentum": 0.1,
                    **dict.fromkeys(BATCH, t(2)),
                },
                gives={
                    "batchMean": [2, 2.4],
                    "batchInvstd": [0.70710501, 0.46423785],
                    "mean": [0.65, 0.69],
                    "variance": [1.15, 1.48],
                },
            )
            for dtype in (F32, I32)
        ),
    ),
)
