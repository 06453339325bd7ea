# SPDX-License-Identifier: Apache-2.0
"""aclnnBatchNorm (CANN: ops-nn norm/batch_norm_v3)."""

from itertools import product

import numpy as np

from tests.operators.notation import *

BUT_950 = (*A2_A3, P310, P910)
ALL = (*BUT_950, P950)
PARAMETERS = ("weight", "bias", "runningMean", "runningVar")
SAVED = ("saveMean", "saveInvstd")
TENSORS = ("input", *PARAMETERS, "output", *SAVED)

BASE: dict[str, Argument] = {
    "input": t(2, 3, 4),
    "weight": t(3),
    "bias": t(3),
    "runningMean": t(3),
    "runningVar": array([1, 2, 0.5]),
    "training": True,
    "momentum": 0.1,
    "eps": 1e-5,
    "output": t(2, 3, 4),
    "saveMean": t(3),
    "saveInvstd": t(3),
}


def formula(given: Numbers, chip: str) -> Truth:
    x, eps, momentum = given["input"], given["eps"], given["momentum"]
    last = chip == P950 and given["input.format"] in {"NHWC", "NDHWC"}
    at = x.ndim - 1 if last else 1
    axes = tuple(axis for axis in range(x.ndim) if axis != at)
    shape = tuple(-1 if axis == at else 1 for axis in range(x.ndim))
    channels = x.shape[at]
    # Without running statistics those of a standard normal distribution stand in, and stay.
    mean = np.zeros(channels) if given["runningMean"] is None else given["runningMean"]
    variance = np.ones(channels) if given["runningVar"] is None else given["runningVar"]
    weight = np.ones(channels) if given["weight"] is None else given["weight"]
    bias = np.zeros(channels) if given["bias"] is None else given["bias"]
    found = {}
    if given["training"]:
        old, mean, variance = (mean, variance), x.mean(axes), x.var(axes)
        n = x.size // mean.size
        # The saved inverse deviation is the variance, except on the 950.
        inverse = 1 / np.sqrt(variance + eps) if chip == P950 else variance
        found = {
            "saveMean": mean,
            "saveInvstd": inverse,
            "runningMean": (1 - momentum) * old[0] + momentum * mean,
            "runningVar": (1 - momentum) * old[1] + momentum * variance * n / (n - 1),
        }
    hat = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + eps)
    found["output"] = hat * weight.reshape(shape) + bias.reshape(shape)
    return {name: value for name, value in found.items() if given[name] is not None}


def rows(*listed: str) -> tuple[tuple[str, ...], ...]:
    """The output has the input's type; each of the others has any."""
    return tuple(
        (x, *parameters, x, *saved)
        for x in listed
        for parameters in product(listed, repeat=4)
        for saved in product(listed, repeat=2)
    )


FULL, NARROW = (F32, F16, BF16), (F32, F16)


def together(form: str) -> dict[str, Changed]:
    return dict.fromkeys(("input", "output"), Changed(format=form))


def both(*shape: int, **more: Argument | Changed) -> Changes:
    return {**dict.fromkeys(("input", "output"), t(*shape)), **more}


TWO: Changes = {
    "input": array([[[1, 2], [3, 4]], [[5, 6], [7, 9]]]),
    "weight": array([1, 2]),
    "bias": array([0, 1]),
    "runningMean": array([0.5, 0.5]),
    "runningVar": array([1, 2]),
    "output": t(2, 2, 2),
    **dict.fromkeys(SAVED, t(2)),
}
TRAINED = {
    "output": [
        [[-1.21268, -0.727606], [-1.30622, -0.467597]],
        [[0.727606, 1.21268], [2.04828, 3.72554]],
    ],
    "saveMean": [3.5, 5.75],
    "runningMean": [0.8, 1.025],
    "runningVar": [1.4666667, 2.5583334],
}
OFFICIAL: Changes = {
    "input": array(np.arange(8.0).reshape(1, 2, 4)),
    "weight": array([1, 1]),
    "bias": array([0, 0]),
    "runningMean": array([0, 0]),
    "runningVar": array([1, 1]),
    "output": t(1, 2, 4),
    **dict.fromkeys(SAVED, t(2)),
}
NORMAL = {
    "output": [[[-1.341635, -0.447212, 0.447212, 1.341635]] * 2],
    "saveMean": [1.5, 5.5],
    "runningMean": [0.15, 0.55],
    "runningVar": [1.0666667] * 2,
}
UNSAVED = dict.fromkeys((*SAVED, "runningMean", "runningVar"), UNTOUCHED)
CASES = (
    runs("sound", {}),
    runs("no weight, no bias", {"weight": None, "bias": None}),
    runs("no running statistics", {"runningMean": None, "runningVar": None}),
    runs(
        "evaluated without running statistics",
        {"runningMean": None, "runningVar": None, "training": False},
    ),
    runs("evaluated without saved statistics", {**dict.fromkeys(SAVED), "training": False}),
    runs(
        "evaluated, nothing is saved, whatever it would be saved in",
        {"training": False, "saveMean": t(7, dtype=F64), "saveInvstd": t(3, 1, dtype=I32)},
        gives=dict.fromkeys(SAVED, UNTOUCHED),
        computed=False,
    ),
    *(
        refused(
            INVALID,
            f"evaluated, {name} of another length",
            {"training": False, name: t(*shape)},
        )
        for name in ("runningMean", "runningVar")
        for shape in ((4,), (1,), (3, 1))
    ),
    runs("neither momentum nor eps is looked at", {"momentum": -3.0, "eps": -1e-6}),
    *(runs(f"rank {rank}", both(2, 3, *(2,) * (rank - 2))) for rank in (2, 4, 6, 8)),
    runs(
        "five dimensions are NCDHW",
        {name: Changed((2, 3, 2, 2, 2), format="NCDHW") for name in ("input", "output")},
    ),
    runs(
        "on the 950 channels may come last",
        {name: Changed((2, 4, 5, 3), format="NHWC") for name in ("input", "output")},
        (P950,),
    ),
    runs(
        "on the 950 channels may come last of five dimensions, too",
        {name: Changed((2, 4, 1, 5, 3), format="NDHWC") for name in ("input", "output")},
        (P950,),
    ),
    refused(
        INVALID,
        "elsewhere they may not",
        {name: Changed((2, 4, 5, 3), format="NHWC") for name in ("input", "output")},
        BUT_950,
    ),
    # Looked at before all but NULL.
    Case(
        "an empty input",
        both(0, 3, 4),
        gives={
            "saveMean": [0.0] * 3,
            "saveInvstd": [np.nan] * 3,
            "runningMean": UNTOUCHED,
            "runningVar": UNTOUCHED,
        },
    ),
    Case(
        "an empty input, and everything else wrong",
        both(0, 3, 4, input=t(0, 3, 5, dtype=F64, form="NC1HWC0"), weight=t(7, dtype=F64)),
        gives={"saveMean": [0.0] * 3, "saveInvstd": [np.nan] * 3},
    ),
    Case(
        "an empty input, evaluated without saved statistics",
        both(0, 3, 4, training=False, **dict.fromkeys(SAVED)),
        launch=NOTHING,
    ),
    refused(NULL, "an empty input, but NULL", both(0, 3, 4, saveMean=None)),
    Case("two channels", TWO, BUT_950, gives={**TRAINED, "saveInvstd": [4.25, 5.6875]}, rtol=1e-5),
    Case(
        "two channels on the 950",
        TWO,
        (P950,),
        gives={**TRAINED, "saveInvstd": [0.48507071, 0.41931358]},
        rtol=1e-5,
    ),
    Case(
        "two channels, evaluated",
        {**TWO, "training": False},
        gives={
            "output": [
                [[0.499997, 1.49999], [4.53553, 5.94974]],
                [[4.49998, 5.49997], [10.1924, 13.0208]],
            ],
            **UNSAVED,
        },
        rtol=1e-5,
    ),
    Case(
        "the official example",
        OFFICIAL,
        BUT_950,
        gives={**NORMAL, "saveInvstd": [1.25] * 2},
        rtol=1e-5,
    ),
    Case(
        "the official example on the 950",
        OFFICIAL,
        (P950,),
        gives={**NORMAL, "saveInvstd": [0.894424] * 2},
        rtol=1e-5,
    ),
)

TABLE = Table(
    name="aclnnBatchNorm",
    kind=COMPOSITE,
    base=BASE,
    results=("runningMean", "runningVar", "output", *SAVED),
    updated=("runningMean", "runningVar"),
    chips=ALL,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("input", "output", *SAVED)),
        unordered(INVALID, typed("input", "output", *SAVED), named=False),
        unordered(INVALID, typed(*PARAMETERS)),
        unordered(
            INVALID,
            broken("formats differ", "output", output=Changed(format="NCHW")),
            broken("private format", "input", **together("NC1HWC0")),
        ),
        unordered(
            INVALID,
            shaped("input", (3,), NINE),
            broken("input and output of two shapes", "output", input=Changed((2, 3, 5))),
            shaped("output", (3,), NINE, (2, 12)),
        ),
        unordered(
            INVALID, *(m for name in (*PARAMETERS, *SAVED) for m in shaped(name, (4,), (3, 1)))
        ),
    ),
    types=Types(
        TENSORS,
        {
            **dict.fromkeys((*A2_A3, P950), rows(*FULL)),
            **dict.fromkeys((P310, P910), rows(*NARROW)),
        },
        # An output of another type than the input: the copy into it casts nothing.
        listed={
            **dict.fromkeys((*A2_A3, P950), frozenset(FULL)),
            **dict.fromkeys((P310, P910), frozenset(NARROW)),
        },
    ),
    formula=formula,
    optional=PARAMETERS,
    layouts=(
        Layouts(("input", "output"), frozenset(FORMATS) - PRIVATE, chips=BUT_950),
        Layouts(("input", "output"), frozenset({"NCDHW"}), both(2, 3, 1, 2, 3), BUT_950),
        Layouts(("input", "output"), frozenset({"NCDHW", "NDHWC"}), both(2, 3, 1, 2, 3), (P950,)),
    ),
    cases=CASES,
)
