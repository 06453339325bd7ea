# SPDX-License-Identifier: Apache-2.0
"""aclnnGroupNormSwishGrad (CANN: ops-nn norm/group_norm_swish_grad)."""

import numpy as np

from tests.operators.notation import *

CHIPS = (*A2_A3, P950)
SLOPES = ("dxOut", "dgammaOut", "dbetaOut")
TENSORS = ("dy", "mean", "rstd", "x", "gamma", "beta", *SLOPES)
LIBRARY = 16 << 20
BASE: dict[str, Argument] = {
    "dy": t(2, 4, 3, 2),
    "mean": t(2, 2),
    "rstd": array([[1, 0.5], [2, 0.75]]),
    "x": t(2, 4, 3, 2),
    "gamma": t(4),
    "beta": t(4),
    "numGroups": 2,
    "dataFormatOptional": "NCHW",
    "swishScale": 1.5,
    "dgammaIsRequire": True,
    "dbetaIsRequire": True,
    "dxOut": t(2, 4, 3, 2),
    **dict.fromkeys(SLOPES[1:], t(4)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, groups, scale = given["x"], given["numGroups"], given["swishScale"]
    n, channels = x.shape[:2]
    gamma = given["gamma"][:, None]

    def grouped(values: Floats) -> Floats:
        return values.reshape(n, groups, -1)

    def spread(values: Floats) -> Floats:
        return values.reshape(n, channels, -1)

    rstd = given["rstd"][..., None]
    hat = (grouped(x) - given["mean"][..., None]) * rstd
    z = spread(hat) * gamma + given["beta"][:, None]
    # swish(z) = z * (1 + tanh(scale * z / 2)) / 2
    bend = np.tanh(scale * z / 2)
    d = spread(given["dy"]) * ((1 + bend) / 2 + scale * z * (1 - bend**2) / 4)
    g = grouped(d * gamma)
    dx = rstd * (g - g.mean(2, keepdims=True) - hat * (g * hat).mean(2, keepdims=True))
    found = {"dxOut": dx.reshape(x.shape)}
    if given["dgammaIsRequire"]:
        found["dgammaOut"] = (d * spread(hat)).sum((0, 2))
    if given["dbetaIsRequire"]:
        found["dbetaOut"] = d.sum((0, 2))
    return found


def plain(rows: int, channels: int, area: int, group: int) -> Changes:
    return {
        **dict.fromkeys(("dy", "x", "dxOut"), t(rows, channels, area)),
        **dict.fromkeys(("mean", "rstd"), t(rows, group)),
        **dict.fromkeys(("gamma", "beta", *SLOPES[1:]), t(channels)),
        "numGroups": group,
    }


def no_results(**more: Argument | Changed) -> Changes:
    return {**dict.fromkeys(SLOPES, t(0)), **more}


NEITHER: Changes = {"dgammaIsRequire": False, "dbetaIsRequire": False}
FOUR: Changes = {
    **plain(1, 4, 2, 2),
    "dy": array([[[1, 0], [-1, 2], [0.5, 1], [1, -1]]]),
    "mean": array([[2.5, 0]]),
    "rstd": array([[0.89442366, 0.70710498]]),
    "x": array([[[1, 2], [3, 4], [2, 0], [-2, 0]]]),
    "gamma": array([1, 2, 1, 0.5]),
    "beta": array([0, 0.5, 0, -0.5]),
    "swishScale": 1.0,
}
LAST = [*[None] * 3, -6579.459]
TABLE = Table(
    name="aclnnGroupNormSwishGrad",
    kind=INDIVIDUAL,
    base=BASE,
    results=SLOPES,
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        unordered(
            TILING,
            shaped("x", (8,), NINE),
            broken("dy of another shape", "", dy=Changed((2, 4, 6))),
            shaped("mean", (4,), (2, 4), (3, 2)),
            shaped("rstd", (2, 2, 1), (1, 2)),
            shaped("gamma", (3,), (4, 1)),
            shaped("beta", (5,), (1, 4)),
            broken("no groups", "", numGroups=0),
            broken(
                "groups that do not divide the channels",
                numGroups=3,
                mean=Changed((2, 3)),
                rstd=Changed((2, 3)),
            ),
        ),
    ),
    types=Types(TENSORS, dict.fromkeys(CHIPS, same_types(TENSORS, F32, F16, BF16))),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}, A2_A3, workspace=LIBRARY),
        # Two gradients of four float32 channels for every two samples.
        runs("sound on the 950", {}, (P950,), workspace=LIBRARY + 32),
        runs("sound and deterministic", {}, workspace=LIBRARY + 32, deterministic=True),
        runs("the name of no format", {"dataFormatOptional": None}),
        runs("no gradients of parameters", NEITHER),
        runs("no gradient of gamma", {"dgammaIsRequire": False}),
        Case("shapes of results are not looked at", {"dgammaOut": t(2, 2)}, computed=False),
        runs("4000 channels in a group", plain(1, 4000, 1, 1), computed=False),
        refused(TILING, "4001 channels in a group", plain(1, 4001, 1, 1)),
        refused(TILING, "no samples", plain(0, 4, 6, 2)),
        refused(TILING, "no space", plain(2, 4, 0, 2)),
        idle("empty results are not tiled", no_results(numGroups=3)),
        Case(
            "two groups of two channels",
            FOUR,
            gives={
                "dxOut": [
                    [
                        *([0.953615, -0.0162307], [-2.82842, 1.89104]),
                        *([0.0268048, 0.195941], [0.0268029, -0.249549]),
                    ]
                ],
                "dgammaOut": [0.0176816, 2.44526, 0.726138, -0.0230462],
                "dbetaOut": [-0.0131791, 1.14039, 1.01346, -0.243743],
            },
            rtol=5e-6,
        ),
        Case(
            "two groups of two channels, no gradients of parameters",
            {**FOUR, **NEITHER},
            gives=dict.fromkeys(SLOPES[1:], UNTOUCHED),
        ),
        # A quarter of 1.5 and four and a half units of its last place: between two numbers.
        *(
            Case(
                f"a half in the last place goes {where}",
                {
                    "dy": array([[[1 + 3 * 2**-10, 0]]], F16),
                    "x": array([[[0, 0]]], F16),
                    "mean": array([[0]], F16),
                    "rstd": array([[1]], F16),
                    "gamma": array([1.5], F16),
                    "beta": array([0], F16),
                    "numGroups": 1,
                    "swishScale": 0.0,
                    "dxOut": t(1, 1, 2, dtype=F16),
                    **dict.fromkeys(SLOPES[1:], t(1, dtype=F16)),
                },
                chips,
                gives={"dxOut": [[[found, -found]]]},
                exact=True,
            )
            for where, chips, found in (
                ("away from 0", A2_A3, 0.376220703125),
                ("to the even neighbour, on the 950", (P950,), 0.3759765625),
            )
        ),
        Case(
            "the official example",
            {
                **plain(2, 3, 4, 1),
                **dict.fromkeys(("dy", "x"), array(np.arange(1.0, 25.0).reshape(2, 3, 4))),
                **dict.fromkeys(("mean", "rstd"), array([[2], [2]])),
                **dict.fromkeys(("gamma", "beta"), array([2, 2, 2])),
                "swishScale": 1.0,
            },
            gives={
                "dxOut": [
                    [[634.102, -16.98354, -673.7368, -1330.053], [None] * 4, LAST],
                    [[None] * 4] * 3,
                ],
                "dgammaOut": [1482.262, 2696.0003, 4424],
                "dbetaOut": [67.129398, 100.000056, 132],
            },
            rtol=2e-4,
        ),
    ),
    gradients=(
        Gradient(
            forward="aclnnGroupNormSwish",
            upstream={"dy": "yOut"},
            saved={"mean": "meanOut", "rstd": "rstdOut"},
            shared={name: name for name in ("x", "gamma", "beta", "numGroups", "swishScale")},
            gives={"dxOut": ("x",), "dgammaOut": ("gamma",), "dbetaOut": ("beta",)},
        ),
        Gradient(
            forward="aclnnGroupNormSilu",
            upstream={"dy": "out"},
            saved={"mean": "meanOut", "rstd": "rstdOut"},
            shared={"x": "self", "gamma": "gamma", "beta": "beta", "numGroups": "group"},
            gives={"dxOut": ("self",), "dgammaOut": ("gamma",), "dbetaOut": ("beta",)},
            own={"swishScale": 1.0},
        ),
    ),
)
