# SPDX-License-Identifier: Apache-2.0
"""aclnnInstanceNorm (CANN: ops-nn norm/instance_norm)."""

import numpy as np

from tests.operators.notation import *

TENSORS = ("x", "gamma", "beta", "y", "mean", "variance")
STATISTICS = ("mean", "variance")
BASE: dict[str, Argument] = {
    "x": t(2, 16, 4, 5),
    "gamma": t(16),
    "beta": t(16),
    "dataFormat": "NCHW",
    "eps": 1e-5,
    "y": t(2, 16, 4, 5),
    **dict.fromkeys(STATISTICS, t(2, 16, 1, 1)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    x, last = given["x"], given["dataFormat"].startswith("NHWC")
    axes, channels = ((1, 2), (1, 1, 1, -1)) if last else ((2, 3), (1, -1, 1, 1))
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    scale, shift = (given[name].reshape(channels) for name in ("gamma", "beta"))
    y = (x - mean) * (variance + given["eps"]) ** -0.5 * scale + shift
    return {"y": y, "mean": mean, "variance": variance}


def wide(*shape: int) -> Changes:
    return dict.fromkeys(("x", "y"), Changed(shape))


def halves(positions: int) -> Changes:
    held = t(2, 16, 1, positions, dtype=F16)
    return {**dict.fromkeys(TENSORS, Changed(dtype=F16)), "x": held, "y": held}


LAST: Changes = {
    **wide(2, 4, 5, 16),
    **dict.fromkeys(STATISTICS, Changed((2, 1, 1, 16))),
    "dataFormat": "NHWC",
}
# Channels of 0 to 7: the deviation is that of 5.25.
RAMP = np.tile(np.arange(8.0), 16).reshape(1, 8, 4, 4)
TABLE = Table(
    name="aclnnInstanceNorm",
    kind=COMPOSITE,
    base=BASE,
    results=("y", *STATISTICS),
    chips=(P310,),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*TENSORS, "dataFormat")),
        unordered(
            INVALID,
            broken("channels first and last", dataFormat="NCWH"),
            broken("nothing", dataFormat=""),
        ),
        unordered(INVALID, typed(*TENSORS), typed(*TENSORS[1:], dtype=F16)),
        unordered(
            INVALID,
            shaped("x", (2, 16, 20), NINE),
            shaped("gamma", (15,), (16, 1)),
            shaped("beta", (1, 16)),
        ),
        Step(INVALID, unconfigured=tuple(chip for chip in EVERY_CHIP if chip != P310)),
    ),
    types=Types(TENSORS, {P310: same_types(TENSORS, F32, F16)}),
    formula=formula,
    layouts=tuple(Layouts((name,), frozenset(FORMATS), chips=(P310,)) for name in ("x", "y")),
    cases=(
        runs("sound", {}),
        runs("channels last", LAST),
        runs("only the beginning counts", {"dataFormat": "NCHW0"}, computed=False),
        idle("nothing in it", wide(2, 16, 0, 5)),
        *(
            idle(f"nothing in {name}", {name: Changed((2, 16, 0, 5))})
            for name in ("x", "y", *STATISTICS)
        ),
        idle("no beta", {"beta": t(0)}),
        Case("the length of beta is not compared", {"beta": t(15)}, computed=False),
        Case("eps is not looked at", {"eps": -1.0}, computed=False),
        refused(INVALID, "channels last, and a gamma for fewer", {**LAST, "gamma": t(15)}),
        *(
            refused(INNER_NULL, f"{name} of another shape, found late", {name: t(*shape)})
            for name, shape in (("y", (2, 16, 20)), ("mean", (2, 16)), ("variance", (2, 1, 1, 16)))
        ),
        Case("positions of 28 bytes", wide(2, 16, 1, 7), launch=FAILS),
        *(
            Case(f"{count} positions of 2 bytes", halves(count), launch=launch)
            for count, launch in ((15, FAILS), (16, KERNELS))
        ),
        Case(
            "channels of 28 bytes",
            {
                **wide(2, 7, 4, 5),
                **dict.fromkeys(("gamma", "beta"), t(7)),
                **dict.fromkeys(STATISTICS, t(2, 7, 1, 1)),
            },
            launch=FAILS,
        ),
        Case(
            "channels of 0 to 7",
            {
                "x": array(RAMP),
                "gamma": array([2] * 8),
                "beta": array([1] * 8),
                "eps": 0.25 * 4.0,
                "y": t(1, 8, 4, 4),
                **dict.fromkeys(STATISTICS, t(1, 8, 1, 1)),
            },
            # 2 * (x - 3.5) / sqrt(5.25 + 1) + 1
            gives={
                "y": 0.8 * RAMP - 1.8,
                "mean": np.full((1, 8, 1, 1), 3.5),
                "variance": np.full((1, 8, 1, 1), 5.25),
            },
        ),
    ),
)
