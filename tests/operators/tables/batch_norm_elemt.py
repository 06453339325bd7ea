# SPDX-License-Identifier: Apache-2.0
"""aclnnBatchNormElemt (CANN: ops-nn norm/batch_norm_elemt)."""

from itertools import product

import numpy as np

from tests.operators.notation import *

PARAMETERS = ("weight", "bias", "mean", "invstd")
TENSORS = ("input", *PARAMETERS, "output")
BASE: dict[str, Argument] = {
    "input": t(2, 3, 4),
    "weight": t(3),
    "bias": t(3),
    "mean": t(3),
    "invstd": array([1, 0.5, 2]),
    "eps": 1e-5,
    "output": t(2, 3, 4),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x = np.moveaxis(given["input"], 1, -1)
    hat = (x - given["mean"]) * given["invstd"]
    weight, bias = given["weight"], given["bias"]
    out = hat * (1 if weight is None else weight) + (0 if bias is None else bias)
    return {"output": np.moveaxis(out, -1, 1)}


def rows(*listed: str) -> tuple[tuple[str, ...], ...]:
    """The output has the input's type; each of the others has any."""
    return tuple((*found, found[0]) for found in product(listed, repeat=5))


FULL, NARROW = (F32, F16, BF16), (F32, F16)


def both(*shape: int, **more: Argument | Changed) -> Changes:
    return {**dict.fromkeys(("input", "output"), t(*shape)), **more}


def together(form: str, *shape: int) -> Changes:
    return dict.fromkeys(("input", "output"), Changed(shape or None, format=form))


TABLE = Table(
    name="aclnnBatchNormElemt",
    kind=COMPOSITE,
    base=BASE,
    results=("output",),
    chips=(*A2_A3, P950, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(INVALID, nulls("input", "mean", "invstd", "output")),
        unordered(INVALID, typed(*TENSORS)),
        unordered(
            INVALID,
            broken("formats differ", "output", output=Changed(format="NCHW")),
            broken("private format", "input", **together("NC1HWC0")),
        ),
        unordered(
            INVALID,
            shaped("input", (3,), NINE),
            shaped("output", (3,), NINE, (2, 12)),
            *(m for name in PARAMETERS for m in shaped(name, (4,), (3, 1))),
        ),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys((*A2_A3, P950), rows(*FULL)), P910: rows(*NARROW)},
        # An output of another type than the input: the copy into it casts nothing.
        listed={**dict.fromkeys((*A2_A3, P950), frozenset(FULL)), P910: frozenset(NARROW)},
    ),
    formula=formula,
    optional=("weight", "bias"),
    layouts=(Layouts(("input", "output"), frozenset(FORMATS) - PRIVATE),),
    cases=(
        runs("sound", {}),
        *(runs(f"rank {n}", both(2, 3, *(2,) * (n - 2))) for n in (2, 4, 6, 8)),
        runs("five dimensions are NCDHW", together("NCDHW", 2, 3, 2, 2, 2)),
        refused(INNER_NULL, "five other dimensions", together("ND", 2, 3, 2, 2, 2)),
        refused(INVALID, "no channels", both(2, 0, 4, **dict.fromkeys(PARAMETERS, t(0)))),
        *(Case(f"nothing in {dims}", both(*dims), launch=NOTHING) for dims in ((0, 3), (2, 3, 0))),
        Case(
            "two channels",
            {
                "input": array([[[1, 2], [3, 4]], [[5, 6], [7, 9]]]),
                "weight": array([1, 2]),
                "bias": array([0, 1]),
                "mean": array([3.5, 5.75]),
                "invstd": array([0.48507071, 0.41931358]),
                "output": t(2, 2, 2),
            },
            gives={
                "output": [
                    [[-1.21268, -0.727606], [-1.30622, -0.467597]],
                    [[0.727606, 1.21268], [2.04828, 3.72554]],
                ]
            },
            rtol=1e-5,
        ),
        Case(
            "the official example",
            {
                "input": array(np.arange(16.0).reshape(2, 4, 2)),
                **dict.fromkeys(("weight", "bias")),
                "mean": array([1, 2, 3, 4]),
                "invstd": array([5, 6, 7, 8]),
                "eps": 1e-2,
                "output": t(2, 4, 2),
            },
            gives={
                "output": [
                    [[-5, 0], [0, 6], [7, 14], [16, 24]],
                    [[35, 40], [48, 54], [63, 70], [80, 88]],
                ]
            },
            rtol=2e-6,
        ),
        # By way of the variance: 1 / 0.005 ** 2 is 39936 in float16, whose root is 0.0050040.
        Case(
            "a small deviation in float16",
            {
                "input": array([[100]], F16),
                **dict.fromkeys(("weight", "bias")),
                "mean": array([0], F16),
                "invstd": array([0.005], F16),
                "eps": 1e-2,
                "output": t(1, 1, dtype=F16),
            },
            gives={"output": [[0.50048828125]]},
            computed=False,
            exact=True,
        ),
    ),
)
