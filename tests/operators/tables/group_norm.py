# SPDX-License-Identifier: Apache-2.0
"""aclnnGroupNorm (CANN: ops-nn norm/group_norm)."""

import numpy as np

from tests.operators.notation import *

TENSORS = ("self", "gamma", "beta", "out", "meanOut", "rstdOut")

BASE: dict[str, Argument] = {
    "self": t(2, 4, 3, 2),
    "gamma": t(4),
    "beta": t(4),
    "N": 2,
    "C": 4,
    "HxW": 6,
    "group": 2,
    "eps": 1e-5,
    "out": t(2, 4, 3, 2),
    "meanOut": t(2, 2),
    "rstdOut": t(2, 2),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x = given["self"]
    n, channels, group = given["N"], given["C"], given["group"]
    rows = x.reshape(n * group, -1)
    mean = rows.mean(1)
    rstd = 1 / np.sqrt(((rows - mean[:, None]) ** 2).mean(1) + given["eps"])
    out = ((rows - mean[:, None]) * rstd[:, None]).reshape(n, channels, -1)
    if given["gamma"] is not None:
        out = out * given["gamma"][:, None]
    if given["beta"] is not None:
        out = out + given["beta"][:, None]
    return {
        "out": out.reshape(x.shape),
        "meanOut": mean.reshape(n, group),
        "rstdOut": rstd.reshape(n, group),
    }


def plain(rows: int, channels: int, area: int, group: int) -> Changes:
    wide, statistics = t(rows, channels, area), t(rows, group)
    return {
        **dict(zip(TENSORS, (wide, t(channels), t(channels), wide), strict=False)),
        **dict.fromkeys(("meanOut", "rstdOut"), statistics),
        "N": rows,
        "C": channels,
        "HxW": area,
        "group": group,
    }


def together(form: str) -> dict[str, Changed]:
    return dict.fromkeys(("self", "out"), Changed(format=form))


ROW = [-1.186509, -0.607143, -0.027778, 0.551587]
TABLE = Table(
    name="aclnnGroupNorm",
    kind=COMPOSITE,
    base=BASE,
    results=("out", "meanOut", "rstdOut"),
    chips=(*A2_A3, P950, P310, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls("self", "out", "meanOut", "rstdOut")),
        unordered(
            INVALID, typed(*TENSORS), typed("gamma", "beta", "out", "meanOut", "rstdOut", dtype=F16)
        ),
        unordered(
            INVALID,
            broken("no group", group=0),
            broken("group below 0", group=-2),
            broken("groups that do not divide the channels", "group", group=3),
            broken("channels that the groups do not divide", "group", C=5),
            broken("eps 0", eps=0.0),
            broken("eps below 0", eps=-1.0),
        ),
        unordered(
            INVALID,
            shaped("self", (8,), NINE),
            shaped("out", (2, 4, 6)),
            shaped("meanOut", (2, 4), (4,)),
            shaped("rstdOut", (4, 1), (2, 2, 1)),
            broken("N of another tensor", "N", N=3),
            broken("C of another tensor", "C", C=8),
            broken("HxW of another tensor", "HxW", HxW=5),
            shaped("gamma", (3,), (4, 1)),
            shaped("beta", (8,), (1, 4)),
        ),
        unordered(
            INVALID,
            broken("formats differ", "out", out=Changed(format="NCHW")),
            broken("private format", "self", **together("NC1HWC0")),
            broken("channels last", "self", **together("NHWC")),
        ),
    ),
    types=Types(
        TENSORS,
        {
            **dict.fromkeys((*A2_A3, P950), same_types(TENSORS, F32, F16, BF16)),
            **dict.fromkeys((P310, P910), same_types(TENSORS, F32, F16)),
        },
    ),
    formula=formula,
    optional=("gamma", "beta"),
    layouts=(Layouts(("self", "out"), frozenset(FORMATS) - PRIVATE - {"NHWC", "HWCN", "NDHWC"}),),
    cases=(
        runs("sound", {}),
        runs("no gamma", {"gamma": None}),
        runs("no beta", {"beta": None}),
        runs("two dimensions", {"self": t(2, 4), "out": t(2, 4), "HxW": 1}),
        Case(
            "no space",
            plain(2, 4, 0, 2),
            workspace=0,
            gives={"meanOut": np.zeros((2, 2)), "rstdOut": np.full((2, 2), np.nan)},
        ),
        Case("no rows", plain(0, 4, 6, 2), workspace=0),
        *(
            refused(INVALID, f"no rows, but {name}", {**plain(0, 4, 6, 2), **changes})
            for name, changes in (
                ("no group", {"group": 0}),
                ("a mean too many", {"meanOut": t(1, 2)}),
                ("a private format", dict.fromkeys(("self", "out"), t(0, 4, 6, form="NC1HWC0"))),
            )
        ),
        Case(
            "two groups of two channels",
            {
                "self": array([[[1, 2], [3, 4], [2, 0], [-2, 0]]]),
                "gamma": array([1, 2, 1, 0.5]),
                "beta": array([0, 0.5, 0, -0.5]),
                "N": 1,
                "C": 4,
                "HxW": 2,
                "group": 2,
                "out": t(1, 4, 2),
                "meanOut": t(1, 2),
                "rstdOut": t(1, 2),
            },
            gives={
                "out": [[[-1.34164, -0.447212], [1.39442, 3.18327], [1.41421, 0], [-1.2071, -0.5]]],
                "meanOut": [[2.5, 0]],
                "rstdOut": [[0.89442366, 0.70710498]],
            },
            rtol=1e-5,
        ),
        *(
            Case(
                f"rstd of a variance that is {what}",
                {
                    **plain(1, 1, 2, 1),
                    **dict.fromkeys(("gamma", "beta"), None),
                    "self": array([[[49, -49]]], F16),
                    "out": t(1, 1, 2, dtype=F16),
                    **dict.fromkeys(("meanOut", "rstdOut"), t(1, 1, dtype=F16)),
                },
                chips,
                gives={"meanOut": [[0]], "rstdOut": [[rstd]]},
                computed=False,
                exact=True,
            )
            for what, chips, rstd in (
                # 2401 is 2400 in float16.
                ("rounded first", (P910,), 2400**-0.5),
                ("not rounded", (*A2_A3, P950, P310), 2401**-0.5),
            )
        ),
        Case(
            "without gamma and beta",
            {**plain(1, 2, 2, 1), "self": array([[[1, 2], [3, 4]]]), "gamma": None, "beta": None},
            gives={"out": [[[-1.34164, -0.447212], [0.447212, 1.34164]]], "meanOut": [[2.5]]},
            rtol=1e-5,
        ),
        Case(
            "the official example",
            {
                **plain(2, 3, 4, 1),
                "self": array(np.arange(1.0, 25.0).reshape(2, 3, 4)),
                **dict.fromkeys(("gamma", "beta"), array([2, 2, 2])),
            },
            gives={
                "out": [[ROW, [None] * 4, [None] * 3 + [5.186509]]] * 2,
                "meanOut": [[6.5], [18.5]],
                "rstdOut": [[0.289683], [0.289683]],
            },
            rtol=2e-6,
        ),
    ),
)
