# SPDX-License-Identifier: Apache-2.0
"""aclnnGroupNormBackward (CANN: ops-nn norm/group_norm_grad)."""

import numpy as np

from tests.operators.notation import *

OUTS = ("gradInput", "gradGammaOut", "gradBetaOut")
STATISTICS = ("mean", "rstd", "gamma")
TENSORS = ("gradOut", "input", *STATISTICS, *OUTS)
BASE: dict[str, Argument] = {
    "gradOut": t(2, 4, 3, 2),
    "input": t(2, 4, 3, 2),
    "mean": t(2, 2),
    "rstd": t(2, 2),
    "gamma": t(4),
    "N": 2,
    "C": 4,
    "HxW": 6,
    "group": 2,
    "outputMask": Bools((True, True, True)),
    "gradInput": t(2, 4, 3, 2),
    "gradGammaOut": t(4),
    "gradBetaOut": t(4),
}


def formula(given: Numbers, _chip: str) -> Truth:
    shape, channels = given["input"].shape, given["C"]
    rows = (given["N"] * given["group"], -1)
    split = (given["N"], channels, given["HxW"])
    mean, rstd = given["mean"].reshape(rows), given["rstd"].reshape(rows)
    hat = (given["input"].reshape(rows) - mean) * rstd
    dy = given["gradOut"].reshape(split)
    gamma = np.ones(channels) if given["gamma"] is None else given["gamma"].ravel()
    g = (dy * gamma[:, None]).reshape(rows)
    dx = rstd * (g - g.mean(1, keepdims=True) - hat * (g * hat).mean(1, keepdims=True))
    like = (channels,) if given["gamma"] is None else given["gamma"].shape
    slopes = ((dy * hat.reshape(split)).sum((0, 2)), dy.sum((0, 2)))
    found = (dx.reshape(shape), *(slope.reshape(like) for slope in slopes))
    named = zip(OUTS, found, given["outputMask"], strict=True)
    return {name: value for name, value, wanted in named if wanted}


# On the 950 statistics and parameters may be float32 beside 16-bit tensors.
MIXED = tuple((x, x, F32, F32, F32, x, F32, F32) for x in (F16, BF16))
FULL = same_types(TENSORS, F32, F16, BF16)


def masked(*mask: bool) -> Case:
    """Results that are masked off may be NULL."""
    off = [name for name, wanted in zip(OUTS, mask, strict=True) if not wanted]
    changes = {"outputMask": Bools(mask), **dict.fromkeys(off)}
    return runs(f"without {off}", changes)


TABLE = Table(
    name="aclnnGroupNormBackward",
    kind=COMPOSITE,
    base=BASE,
    results=OUTS,
    chips=(*A2_A3, P950, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("gradOut", "input", "mean", "rstd")),
        unordered(
            INVALID,
            nulls("outputMask", *OUTS),
            broken("mask of two", outputMask=Bools((True, True))),
            broken("mask of four", outputMask=Bools((True,) * 4)),
        ),
        unordered(INVALID, typed(*TENSORS)),
        unordered(
            INVALID,
            broken("no group", group=0),
            broken("group below 0", group=-2),
            broken("groups that do not divide the channels", "group", group=3),
        ),
        unordered(
            INVALID,
            shaped("gradOut", NINE, (2, 4, 5), (47,)),
            broken("N of another tensor", "N", N=3),
            broken("C of another tensor", "C", C=8),
            broken("HxW of another tensor", "HxW", HxW=5),
            shaped("mean", (3, 2)),
            shaped("rstd", (2, 4)),
            shaped("gamma", (3,)),
            shaped("gradInput", (2, 4, 6)),
            shaped("gradGammaOut", (5,), (4, 1)),
            shaped("gradBetaOut", (3,), (1, 4)),
        ),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys(A2_A3, FULL), P950: FULL + MIXED, P910: same_types(TENSORS, F32, F16)},
    ),
    formula=formula,
    optional=("gamma",),
    cases=(
        runs("sound", {}),
        runs("statistics are counted", {"mean": t(4), "rstd": t(4, 1)}),
        runs(
            "one dimension, as elements are counted",
            {**dict.fromkeys(("gradOut", "input", "gradInput"), t(48)), "mean": t(4)},
        ),
        runs(
            "eight dimensions, two of them without the samples and the channels",
            {
                "gradOut": t(1, 1, 48, 1, 1, 1, 1, 1),
                **dict.fromkeys(("input", "gradInput"), t(6, 8)),
            },
        ),
        runs("gradients of gamma's own shape", dict.fromkeys(("gamma", *OUTS[1:]), t(1, 4))),
        *(
            refused(INVALID, f"{name} of another shape than gamma", {"gamma": t(1, 4), **found})
            for name in OUTS[1:]
            for found in ({**dict.fromkeys(OUTS[1:], t(1, 4)), name: t(4)},)
        ),
        runs("gradients of channels, without gamma", {"gamma": None}),
        refused(
            INVALID,
            "a gradient of two dimensions, without gamma",
            {"gamma": None, "gradGammaOut": t(1, 4)},
        ),
        masked(True, False, False),
        masked(False, True, True),
        *(
            runs(
                f"{name} is not wanted, whatever its type",
                {
                    "outputMask": Bools(tuple(other != name for other in OUTS)),
                    name: Changed(dtype=dtype),
                },
                computed=False,
            )
            for name in OUTS
            for dtype in (F64, I32)
        ),
        # Half of 1.5 and four and a half units of its last place: between two float16 numbers.
        *(
            Case(
                f"a half in the last place goes {where}",
                {
                    **dict.fromkeys(("gradOut", "input", "gradInput"), t(1, 1, 2, dtype=F16)),
                    "gradOut": array([[[1 + 3 * 2**-10, 0]]], F16),
                    "input": array([[[0, 0]]], F16),
                    "mean": array([[0]], F16),
                    "rstd": array([[1]], F16),
                    "gamma": array([1.5], F16),
                    **dict.fromkeys(("gradGammaOut", "gradBetaOut"), t(1, dtype=F16)),
                    "N": 1,
                    "C": 1,
                    "HxW": 2,
                    "group": 1,
                },
                chips,
                gives={"gradInput": [[[found, -found]]]},
                exact=True,
            )
            for where, chips, found in (
                ("away from 0", A2_A3, 0.75244140625),
                ("to the even neighbour, on the 950", (P950,), 0.751953125),
            )
        ),
        idle(
            "an empty input",
            {
                **dict.fromkeys(("gradOut", "input", "gradInput"), Changed((0, 4, 3, 2))),
                **dict.fromkeys(("mean", "rstd"), Changed((0, 2))),
                "N": 0,
            },
            (*A2_A3, P910),
        ),
        refused(
            INVALID,
            "too many channels a group",
            {
                **dict.fromkeys(("gradOut", "input", "gradInput"), t(1, 8001, 1)),
                **dict.fromkeys(("mean", "rstd"), t(1, 1)),
                **dict.fromkeys(("gamma", "gradGammaOut", "gradBetaOut"), t(8001)),
                "N": 1,
                "C": 8001,
                "HxW": 1,
                "group": 1,
            },
            A2_A3,
        ),
        Case(
            "two groups of two channels",
            {
                "gradOut": array([[[1, 0], [-1, 2], [0.5, 1], [1, -1]]]),
                "input": array([[[1, 2], [3, 4], [2, 0], [-2, 0]]]),
                "mean": array([[2.5, 0]]),
                "rstd": array([[0.89442366, 0.70710498]]),
                "gamma": array([1, 2, 1, 0.5]),
                "N": 1,
                "C": 4,
                "HxW": 2,
                "group": 2,
                "gradInput": t(1, 4, 2),
            },
            gives={
                "gradInput": [
                    [
                        [1.16274, -0.357772],
                        [-2.77271, 1.96774],
                        [0.0883881, 0.441941],
                        [0.0883881, -0.618717],
                    ]
                ],
                "gradGammaOut": [-1.34164, 2.23606, 0.707105, -1.41421],
                "gradBetaOut": [1, 1, 1.5, 0],
            },
            rtol=1e-5,
        ),
    ),
    gradients=(
        Gradient(
            "aclnnGroupNorm",
            upstream={"gradOut": "out"},
            saved={"mean": "meanOut", "rstd": "rstdOut"},
            shared={
                "input": "self",
                **{name: name for name in ("gamma", "N", "C", "HxW", "group")},
            },
            gives={"gradInput": ("self",), "gradGammaOut": ("gamma",), "gradBetaOut": ("beta",)},
        ),
        Gradient(
            "aclnnGroupNormSiluV2",
            upstream={"gradOut": "out"},
            saved={"mean": "meanOut", "rstd": "rstdOut"},
            shared={"input": "self", **{name: name for name in ("gamma", "group")}},
            changes={"activateSilu": False},
            gives={"gradInput": ("self",), "gradGammaOut": ("gamma",), "gradBetaOut": ("beta",)},
        ),
    ),
)
