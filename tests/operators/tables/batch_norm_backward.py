# SPDX-License-Identifier: Apache-2.0
"""aclnnBatchNormBackward (CANN: ops-nn norm/batch_norm_grad_v3)."""

from itertools import product

import numpy as np

from tests.operators.notation import *

BUT_950 = (*A2_A3, P910)
RUNNING, SAVED = ("runningMean", "runningVar"), ("saveMean", "saveInvstd")
PARAMETERS = ("weight", *RUNNING, *SAVED)
SLOPES = ("gradInput", "gradWeight", "gradBias")
WIDE = ("gradOut", "input", "gradInput")
TENSORS = ("gradOut", "input", *PARAMETERS, *SLOPES)
BASE: dict[str, Argument] = {
    "gradOut": t(2, 3, 4),
    "input": t(2, 3, 4),
    "weight": t(3),
    "runningMean": t(3),
    "runningVar": array([1, 2, 0.5]),
    "saveMean": t(3),
    "saveInvstd": array([1, 0.5, 2]),
    "training": True,
    "eps": 1e-5,
    "outputMask": Bools((True,) * 3),
    "gradInput": t(2, 3, 4),
    "gradWeight": t(3),
    "gradBias": t(3),
}


def formula(given: Numbers, chip: str) -> Truth:
    dy, x = (np.moveaxis(given[name], 1, -1) for name in ("gradOut", "input"))
    stand_in = dict(zip(PARAMETERS, (1, 0, 1, 0, 1), strict=True))
    told = {name: stand_in[name] if given[name] is None else given[name] for name in PARAMETERS}
    mean, spread = told["saveMean"], told["saveInvstd"]
    if not given["training"]:
        mean, spread = told["runningMean"], told["runningVar"]
    as_is = given["training"] and chip == P950  # elsewhere it is the variance
    inverse = spread if as_is else (spread + given["eps"]) ** -0.5
    hat, axes = (x - mean) * inverse, tuple(range(x.ndim - 1))
    of_weight, of_bias = (dy * hat).sum(axes), dy.sum(axes)
    n = dy.size // of_bias.size
    slope = dy - (of_bias / n + hat * of_weight / n if given["training"] else 0)
    of_input = np.moveaxis(slope * inverse * told["weight"], -1, 1)
    found = dict(zip(SLOPES, (of_input, of_weight, of_bias), strict=True))
    wanted = zip(SLOPES, given["outputMask"], strict=True)
    return {name: found[name] for name, wants in wanted if wants}


def rows(*listed: str) -> tuple[tuple[str, ...], ...]:
    """Gradients and input have one type; each of the others has any."""
    return tuple(
        (x, x, *parameters, x, *slopes)
        for x in listed
        for parameters in product(listed, repeat=5)
        for slopes in product(listed, repeat=2)
    )


def others(dtype: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((dtype, F32)))


# On the 950 pairs have one type, that of the gradient or float32; the gradients of the weight and
# the shift that of the weight or float32.
ON_950 = tuple(
    (x, x, weight, running, running, saved, saved, x, slope, slope)
    for x in (F32, F16, BF16)
    for weight, running, saved in product(others(x), repeat=3)
    for slope in others(weight)
)
FULL, NARROW = (F32, F16, BF16), (F32, F16)


def wide(*shape: int, **more: Argument | Changed) -> Changes:
    return {**dict.fromkeys(WIDE, t(*shape)), **more}


def together(form: str, *shape: int) -> Changes:
    return dict.fromkeys(WIDE, Changed(shape or None, format=form))


def masked(*wanted: bool) -> Changes:
    """A mask, without tensors for what it leaves out."""
    left_out = (name for name, wants in zip(SLOPES, wanted, strict=True) if not wants)
    return {"outputMask": Bools(wanted), **dict.fromkeys(left_out)}


TWO: Changes = {
    "gradOut": array([[[1, 0], [-1, 2]], [[0.5, 1], [1, -1]]]),
    "input": array([[[1, 2], [3, 4]], [[5, 6], [7, 9]]]),
    "weight": array([1, 2]),
    "runningMean": array([0.5, 0.5]),
    "runningVar": array([1, 2]),
    "saveMean": array([3.5, 5.75]),
    "saveInvstd": array([4.25, 5.6875]),
    "gradInput": t(2, 2, 2),
    **dict.fromkeys(SLOPES[1:], t(2)),
}
TRAINED = {
    "gradInput": [
        [[0.235402, -0.271069], [-1.32706, 1.2902]],
        [[-0.092734, 0.128401], [0.755686, -0.718824]],
    ],
    "gradWeight": [0.363803, -1.15311],
    "gradBias": [2.5, 1],
}
OFFICIAL: Changes = {
    **dict.fromkeys(("gradOut", "input"), array(np.arange(8.0).reshape(1, 2, 4))),
    **dict.fromkeys(("weight", "runningVar", "saveInvstd"), array([1, 1])),
    **dict.fromkeys(("runningMean", "saveMean"), array([0, 0])),
    "gradInput": t(1, 2, 4),
    **dict.fromkeys(SLOPES[1:], t(2)),
}
CASES = (
    runs("sound", {}),
    *(
        runs(f"mask {wanted}", masked(*wanted))
        for wanted in product((True, False), repeat=3)
        if any(wanted)
    ),
    *(
        runs(
            f"{name} is not wanted, whatever its type",
            {
                "outputMask": Bools(tuple(other != name for other in SLOPES)),
                name: Changed(dtype=dtype),
            },
            BUT_950,
            computed=False,
        )
        for name in SLOPES
        for dtype in (F64, I32)
    ),
    idle("nothing is wanted", masked(False, False, False), (P950,)),
    *(
        refused(NULL, f"a mask of {count}", {"outputMask": Bools((True,) * count)}, chips)
        for count, chips in ((0, (*BUT_950, P950)), (2, (P950,)), (4, (P950,)))
    ),
    *(runs(f"rank {n}", wide(2, 3, *(2,) * (n - 2))) for n in (2, 4, 6, 8)),
    runs("not training", {"training": False}),
    runs("five dimensions are NCDHW", together("NCDHW", 2, 3, 2, 2, 2)),
    runs(
        "on the 950 channels may come last", together("NHWC", 2, 4, 5, 3), (P950,), computed=False
    ),
    # Looked at before all but NULL for gradOut and input.
    idle("nothing in it", wide(0, 3, 4), gives=dict.fromkeys(SLOPES, UNTOUCHED)),
    idle(
        "nothing in it, and everything else wrong",
        wide(0, 3, 4, input=t(2, 3, 5, dtype=F64), weight=t(7, dtype=F64), outputMask=None),
    ),
    refused(NULL, "nothing in it, but NULL", wide(0, 3, 4, input=None)),
    *(
        refused(INNER_NULL, f"{name} of another length, found late", {name: t(4)}, BUT_950)
        for name in (*SAVED, "gradWeight", "gradBias")
    ),
    *(
        refused(INVALID, f"{name} of another length on the 950", {name: t(4)}, (P950,))
        for name in (*SAVED, "gradWeight", "gradBias")
    ),
    runs(
        "nothing saved, on the 950",
        {"training": False, **dict.fromkeys(SAVED, t(0))},
        (P950,),
        computed=False,
    ),
    Case("two channels", TWO, BUT_950, gives=TRAINED, rtol=1e-5),
    Case(
        "two channels on the 950",
        {**TWO, "saveInvstd": array([0.48507071, 0.41931358])},
        (P950,),
        gives=TRAINED,
        rtol=1e-5,
    ),
    Case(
        "two channels, evaluated",
        {**TWO, "training": False},
        gives={
            "gradInput": [
                [[0.999995, 0], [-1.41421, 2.82842]],
                [[0.499997, 0.999995], [1.41421, -1.41421]],
            ],
            "gradWeight": [8.24996, 1.76776],
            "gradBias": [2.5, 1],
        },
        rtol=1e-5,
    ),
    Case(
        "the official example",
        OFFICIAL,
        BUT_950,
        gives={
            "gradInput": [
                [
                    [-1.499993, -3.999945, -6.499898, -8.99985],
                    [-127.498103, -157.997635, -188.497168, -218.9967],
                ]
            ],
            "gradWeight": [13.99993, 125.99937],
            "gradBias": [6, 22],
        },
    ),
    Case(
        "the official example on the 950",
        OFFICIAL,
        (P950,),
        gives={
            "gradInput": [[[-1.5, -4, -6.5, -9], [-127.5, -158, -188.5, -219]]],
            "gradWeight": [14, 126],
            "gradBias": [6, 22],
        },
    ),
)

TABLE = Table(
    name="aclnnBatchNormBackward",
    kind=COMPOSITE,
    base=BASE,
    results=SLOPES,
    chips=(*BUT_950, P950),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("gradOut", "input")),
        unordered(NULL, nulls("outputMask", *SLOPES)),
        unordered(
            INVALID,
            typed(*TENSORS),
            broken("another type than input", "", gradOut=Changed(dtype=F16)),
            broken("another type than gradOut", "", input=Changed(dtype=F16)),
        ),
        unordered(
            INVALID,
            broken("formats differ", "", gradOut=Changed(format="NCHW")),
            broken("a gradient of another format", "", gradInput=Changed(format="NCHW")),
            broken("private format", "", **together("NC1HWC0")),
        ),
        unordered(
            INVALID,
            shaped("input", (3,), NINE),
            broken("input of another shape", "", input=Changed((2, 3, 5))),
            shaped("gradOut", (3,), NINE, (2, 12)),
            shaped("gradInput", (2, 3, 5), (2, 12)),
        ),
        unordered(
            INVALID, *(m for name in ("weight", *RUNNING) for m in shaped(name, (4,), (3, 1)))
        ),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys(A2_A3, rows(*FULL)), P910: rows(*NARROW), P950: ON_950},
        # A gradient of the input of another type: the copy into it casts nothing.
        listed={**dict.fromkeys(A2_A3, frozenset(FULL)), P910: frozenset(NARROW)},
        unknown=tuple((*row[:7], x, *row[8:]) for row in ON_950 for x in FULL if x != row[0]),
    ),
    formula=formula,
    optional=PARAMETERS,
    layouts=(
        Layouts(WIDE, frozenset(FORMATS) - PRIVATE, chips=BUT_950),
        Layouts(WIDE, frozenset({"NCDHW", "NDHWC"}), wide(2, 3, 1, 2, 3), (P950,)),
    ),
    cases=CASES,
    gradients=(
        Gradient(
            forward="aclnnBatchNorm",
            upstream={"gradOut": "output"},
            saved={"saveMean": "saveMean", "saveInvstd": "saveInvstd"},
            shared={"input": "input", "weight": "weight", "eps": "eps"},
            gives={"gradInput": ("input",), "gradWeight": ("weight",), "gradBias": ("bias",)},
        ),
    ),
)
