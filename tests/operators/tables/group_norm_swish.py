# SPDX-License-Identifier: Apache-2.0
"""aclnnGroupNormSwish (CANN: ops-nn norm/group_norm_swish)."""

import numpy as np

from tests.operators.notation import *

CHIPS = (*A2_A3, P950)
TENSORS = ("x", "gamma", "beta", "yOut", "meanOut", "rstdOut")
STATISTICS = ("meanOut", "rstdOut")
BASE: dict[str, Argument] = {
    "x": t(2, 4, 3, 2),
    "gamma": t(4),
    "beta": t(4),
    "numGroups": 2,
    "dataFormatOptional": "NCHW",
    "eps": 1e-5,
    "activateSwish": True,
    "swishScale": 1.5,
    "yOut": t(2, 4, 3, 2),
    **dict.fromkeys(STATISTICS, t(2, 2)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, groups = given["x"], given["numGroups"]
    n, channels = x.shape[:2]
    parts = x.reshape(n, groups, -1)
    mean, rstd = parts.mean(2), (parts.var(2) + given["eps"]) ** -0.5
    y = ((parts - mean[..., None]) * rstd[..., None]).reshape(n, channels, -1)
    y = y * given["gamma"][:, None] + given["beta"][:, None]
    if given["activateSwish"]:
        y = y * (1 + np.tanh(given["swishScale"] * y / 2)) / 2
    return {"yOut": y.reshape(x.shape), "meanOut": mean, "rstdOut": rstd}


def row(x: str, parameter: str) -> tuple[str, ...]:
    """Unlike with SiLU, the statistics have the type of gamma."""
    return (x, parameter, parameter, x, parameter, parameter)


ROWS = (row(F32, F32), row(F16, F16), row(BF16, BF16), row(F16, F32), row(BF16, F32))


def plain(rows: int, channels: int, area: int, group: int) -> Changes:
    return {
        **dict.fromkeys(("x", "yOut"), t(rows, channels, area)),
        **dict.fromkeys(("gamma", "beta"), t(channels)),
        **dict.fromkeys(STATISTICS, t(rows, group)),
        "numGroups": group,
    }


FOUR: Changes = {
    **plain(1, 4, 2, 2),
    "x": array([[[1, 2], [3, 4], [2, 0], [-2, 0]]]),
    "gamma": array([1, 2, 1, 0.5]),
    "beta": array([0, 0.5, 0, -0.5]),
}
SAVED = {"meanOut": [[2.5, 0]], "rstdOut": [[0.89442366, 0.70710498]]}
TABLE = Table(
    name="aclnnGroupNormSwish",
    kind=INDIVIDUAL,
    base=BASE,
    results=("yOut", *STATISTICS),
    chips=CHIPS,
    steps=individual(
        TENSORS,
        CHIPS,
        unordered(
            TILING,
            shaped("x", (8,), NINE),
            shaped("gamma", (3,), (4, 1)),
            shaped("beta", (5,), (1, 4)),
            broken("no groups", numGroups=0),
            broken("groups below 0", numGroups=-2),
            broken("groups that do not divide the channels", numGroups=3),
        ),
    ),
    types=Types(TENSORS, dict.fromkeys(CHIPS, ROWS)),
    formula=formula,
    layouts=as_nd(*TENSORS),
    cases=(
        runs("sound", {}, workspace=16 << 20),
        runs("any name of a format, or none", {"dataFormatOptional": None}),
        runs("eps is not looked at", {"eps": -1e-6}),
        runs("not activated", {"activateSwish": False}),
        runs("two dimensions", {**dict.fromkeys(("x", "yOut"), t(2, 4))}),
        Case(
            "shapes of results are not looked at",
            {"meanOut": t(4), "rstdOut": t(1, 4)},
            computed=False,
        ),
        idle("no samples", plain(0, 4, 6, 2)),
        refused(TILING, "no space", plain(2, 4, 0, 2)),
        *(
            Case(
                f"two groups of two channels, activated: {active}",
                {**FOUR, "swishScale": 2.0, "activateSwish": active},
                gives={"yOut": [y], **SAVED},
                rtol=1e-5,
            )
            for active, y in (
                (
                    True,
                    [
                        *([-0.0858214, -0.12978], [1.31365, 3.17781]),
                        *([1.33529, 0], [-0.0990979, -0.134471]),
                    ],
                ),
                (False, [[-1.34164, -0.447212], [1.39442, 3.18327], [1.41421, 0], [-1.2071, -0.5]]),
            )
        ),
    ),
)
