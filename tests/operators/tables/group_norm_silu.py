# SPDX-License-Identifier: Apache-2.0
"""aclnnGroupNormSilu and aclnnGroupNormSiluV2 (CANN: ops-nn norm/group_norm_silu)."""

from dataclasses import replace
from itertools import product

import numpy as np

from tests.operators.notation import *

BUT_950 = (*A2_A3, P310)
TENSORS = ("self", "gamma", "beta", "out", "meanOut", "rstdOut")
STATISTICS = ("meanOut", "rstdOut")

BASE: dict[str, Argument] = {
    "self": t(2, 4, 3, 2),
    "gamma": t(4),
    "beta": t(4),
    "group": 2,
    "eps": 1e-5,
    "out": t(2, 4, 3, 2),
    **dict.fromkeys(STATISTICS, t(2, 2)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, group = given["self"], given["group"]
    n, channels = x.shape[:2]
    rows = x.reshape(n * group, -1)
    mean, rstd = rows.mean(1), 1 / np.sqrt(rows.var(1) + given["eps"])
    out = ((rows - mean[:, None]) * rstd[:, None]).reshape(n, channels, -1)
    gamma, beta = given["gamma"], given["beta"]
    out = out * (1 if gamma is None else gamma[:, None]) + (0 if beta is None else beta[:, None])
    if given.get("activateSilu", True):
        out = out * (1 + np.tanh(out / 2)) / 2
    return {
        "out": out.reshape(x.shape),
        "meanOut": mean.reshape(n, group),
        "rstdOut": rstd.reshape(n, group),
    }


def row(x: str, parameter: str, statistic: str) -> tuple[str, ...]:
    return (x, parameter, parameter, x, statistic, statistic)


NARROW = (row(F32, F32, F32), row(F16, F16, F16), row(F16, F32, F16))
FULL = (*NARROW, row(BF16, BF16, BF16), row(BF16, F32, BF16))
# The mixed rows of the 950 have float32 statistics.
ON_950 = tuple(row(x, p, p if x != p else x) for x, p, *_ in FULL)
# With parameters of the input's type the 950 does not look at the statistics' types.
FREE = tuple(
    (x, x, x, x, *found) for x in (F32, F16, BF16) for found in product((F32, F16, BF16), repeat=2)
)


def plain(rows: int, channels: int, area: int, group: int) -> Changes:
    return {
        **dict.fromkeys(("self", "out"), t(rows, channels, area)),
        **dict.fromkeys(("gamma", "beta"), t(channels)),
        **dict.fromkeys(STATISTICS, t(rows, group)),
        "group": group,
    }


EMPTY = {"meanOut": np.zeros((2, 2)), "rstdOut": np.full((2, 2), np.nan)}
NO_NUMBERS = dict.fromkeys(STATISTICS, np.full((2, 2), np.nan))
FOUR: Changes = {
    **plain(1, 4, 2, 2),
    "self": array([[[1, 2], [3, 4], [2, 0], [-2, 0]]]),
    "gamma": array([1, 2, 1, 0.5]),
    "beta": array([0, 0.5, 0, -0.5]),
}
SAVED = {"meanOut": [[2.5, 0]], "rstdOut": [[0.89442366, 0.70710498]]}
OFFICIAL = [-0.277505, -0.214146, -0.013696, 0.349984, 0.855016, 1.448429]

TABLE = Table(
    name="aclnnGroupNormSilu",
    kind=COMPOSITE,
    base=BASE,
    results=("out", *STATISTICS),
    chips=(*BUT_950, P950),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("self", "out", *STATISTICS)),
        unordered(INVALID, typed(*TENSORS), typed("gamma", "beta", "out", dtype=F16)),
        unordered(
            INVALID,
            shaped("self", (8,), NINE),
            shaped("out", (2, 4, 6)),
            shaped("meanOut", (2, 4), (4,)),
            shaped("rstdOut", (4, 1), (2, 2, 1)),
            shaped("gamma", (3,), (4, 1)),
            shaped("beta", (8,), (1, 4)),
        ),
        unordered(
            INVALID,
            broken("no group", group=0, meanOut=Changed((2, 0)), rstdOut=Changed((2, 0))),
            broken("three groups", group=3, meanOut=Changed((2, 3)), rstdOut=Changed((2, 3))),
            broken("eps 0", eps=0.0),
            broken("eps below 0", eps=-1.0),
        ),
    ),
    types=Types(
        TENSORS,
        {**dict.fromkeys(A2_A3, FULL), P310: NARROW, P950: ON_950},
        unknown=tuple(set(FREE) - set(ON_950)),
    ),
    formula=formula,
    optional=("gamma", "beta"),
    layouts=(Layouts(("self", "out"), frozenset(FORMATS)),),
    cases=(
        runs("sound", {}),
        refused(INVALID, "groups below 0", {"group": -2}),
        runs("two dimensions", dict.fromkeys(("self", "out"), t(2, 4))),
        *(
            refused(INVALID, f"no {what}", plain(*dims, 2), BUT_950)
            for what, dims in (("samples", (0, 4, 6)), ("channels", (2, 0, 6)))
        ),
        idle("no samples on the 950", plain(0, 4, 6, 2), (P950,)),
        Case("no space", plain(2, 4, 0, 2), BUT_950, workspace=0, gives=EMPTY),
        # The kernel of the 950 divides 0 by 0: neither statistic is a number.
        *(
            Case(f"no {what} on the 950", plain(*dims, 2), (P950,), gives=NO_NUMBERS)
            for what, dims in (("space", (2, 4, 0)), ("channels", (2, 0, 6)))
        ),
        Case(
            "two groups of two channels",
            FOUR,
            gives={
                "out": [
                    [
                        [-0.278042, -0.174423],
                        [1.11735, 3.05658],
                        [1.13763, 0],
                        [-0.277892, -0.18877],
                    ]
                ],
                **SAVED,
            },
            rtol=5e-6,
        ),
        Case(
            "the official example",
            {
                **plain(2, 3, 4, 1),
                "self": array(np.arange(1.0, 25.0).reshape(2, 3, 4)),
                **dict.fromkeys(("gamma", "beta"), array([2, 2, 2])),
            },
            gives={
                "out": [[OFFICIAL[:4], [*OFFICIAL[4:], None, None], [None] * 3 + [5.15767]]] * 2,
                "meanOut": [[6.5], [18.5]],
                "rstdOut": [[0.289683], [0.289683]],
            },
            rtol=2e-6,
        ),
    ),
)
V2 = replace(
    TABLE,
    name="aclnnGroupNormSiluV2",
    base={
        **{name: BASE[name] for name in ("self", "gamma", "beta", "group", "eps")},
        "activateSilu": True,
        **{name: BASE[name] for name in ("out", *STATISTICS)},
    },
    cases=(
        *TABLE.cases,
        runs("not activated", {"activateSilu": False}),
        Case(
            "two groups of two channels, not activated",
            {**FOUR, "activateSilu": False},
            gives={
                "out": [[[-1.34164, -0.447212], [1.39442, 3.18327], [1.41421, 0], [-1.2071, -0.5]]],
                **SAVED,
            },
            rtol=1e-5,
        ),
    ),
)
