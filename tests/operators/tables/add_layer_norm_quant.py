# SPDX-License-Identifier: Apache-2.0
"""aclnnAddLayerNormQuant and aclnnAddLayerNormQuantV2 (CANN: ops-nn norm/add_layer_norm_quant)."""

from dataclasses import replace

import numpy as np

from tests.operators.notation import *

BUT_950 = tuple(chip for chip in EVERY_CHIP if chip != P950)
SUMMANDS, PARAMETERS = ("x1", "x2"), ("gamma", "beta", "biasOptional")
SCALES, ZEROS = (
    ("scales1Optional", "scales2Optional"),
    ("zeroPoints1Optional", "zeroPoints2Optional"),
)
INTEGERS, STEPS_OUT = ("y1Out", "y2Out"), ("outScales1Out", "outScales2Out")
TENSORS = (*SUMMANDS, *PARAMETERS, *SCALES, *ZEROS, *INTEGERS, "xOut", *STEPS_OUT)
BASE: dict[str, Argument] = {
    **dict.fromkeys(SUMMANDS, t(2, 3, 4, 8)),
    **dict.fromkeys(PARAMETERS, t(4, 8)),
    **dict.fromkeys(SCALES, array(np.linspace(0.1, 0.5, 32).reshape(4, 8))),
    **dict.fromkeys(ZEROS, t(4, 8)),
    "quantMode": "static",
    "epsilon": 1e-5,
    "additionalOutput": True,
    "divMode": True,
    **dict.fromkeys(INTEGERS, t(2, 3, 4, 8, dtype=I8)),
    "xOut": t(2, 3, 4, 8),
    **dict.fromkeys(STEPS_OUT, t(1)),
}


def formula(given: Numbers, chip: str) -> Truth:
    gamma, bias, newer = given["gamma"], given["biasOptional"], "layernormRes" in given
    x = given["x1"] + given["x2"] + (0 if bias is None else bias)
    if newer:  # of the last axis alone
        gamma = gamma.ravel()
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    y = (x - mean) / np.sqrt(variance + given["epsilon"]) * gamma
    y = y + given["beta"].reshape(gamma.shape)
    found: Truth = {"layernormRes": y} if newer and chip != P950 else {}
    if given["additionalOutput"]:
        found["xOut"] = x
    divides = given["divMode"] or (newer and chip != P950)
    for number in (0, 1):
        scale, zero = given[SCALES[number]], given[ZEROS[number]]
        if number and scale is None:
            continue
        if given["quantMode"].startswith("dynamic"):
            v = y * (1 if scale is None else scale)
            step = np.abs(v).max(-1) / 127
            found[STEPS_OUT[number]] = step
            found[INTEGERS[number]] = np.rint(v / step[..., None])
        else:
            v = y / scale if divides else y * scale
            whole = np.rint(v + (0 if zero is None else zero))
            found[INTEGERS[number]] = np.clip(whole, -128, 127)
    return found


def row(x: str, scale: str) -> tuple[str, ...]:
    return (x,) * 5 + (scale,) * 4 + (I8, I8, x, F32, F32)


ROWS = tuple(row(x, s) for x in (F32, F16, BF16) for s in (F32, F16, BF16))


def dynamic(*changes: Changes, dtype: str = F16) -> Changes:
    """The dynamic call: rows of the last axis, without zero points."""
    half = Changed(dtype=dtype)
    made: dict[str, Argument | Changed] = {
        "quantMode": "dynamic",
        **dict.fromkeys((*SUMMANDS, "xOut"), half),
        **dict.fromkeys((*PARAMETERS, *SCALES), t(8, dtype=dtype)),
        **dict.fromkeys(ZEROS),
        **dict.fromkeys(STEPS_OUT, t(2, 3, 4)),
    }
    for change in changes:
        made.update(change)
    return made


FOUR: Changes = {
    "x1": array([[1, 2, 3, 4]], F16),
    "x2": array([[1, 0, -1, 2]], F16),
    "gamma": array([1, 2, 0.5, 1], F16),
    "beta": array([0, 1, 0, -1], F16),
    "biasOptional": array([0.5, 0.5, 0, 0], F16),
    **dict.fromkeys(INTEGERS, t(1, 4, dtype=I8)),
    "xOut": t(1, 4, dtype=F16),
}
STATIC = [-47, 6, -39, 72]  # [-.46852, .0629593, -.390434, .717908] / .01
TABLE = Table(
    name="aclnnAddLayerNormQuant",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=(*INTEGERS, "xOut", *STEPS_OUT),
    chips=(P950,),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        Step(INVALID, unconfigured=BUT_950),
        unordered(
            NULL, nulls(*SUMMANDS, "gamma", "beta", *INTEGERS, "xOut", *STEPS_OUT, "quantMode")
        ),
        step(INVALID, broken("another mode", quantMode="statistic")),
        unordered(
            INVALID,
            typed(*TENSORS),
            typed("x2", *PARAMETERS, "xOut", dtype=F16),
            *(
                broken(f"{name} of another type", "", **{name: Changed(dtype=F16)})
                for name in (SCALES[1], *ZEROS)
            ),
        ),
        unordered(
            INVALID,
            *(m for name in SUMMANDS for m in shaped(name, NINE)),
            shaped("x2", (6, 4, 8), (2, 3, 4, 7)),
            shaped("gamma", (3, 8), (1, 2, 3, 4, 8)),
            shaped("beta", (8,)),
            shaped("biasOptional", (8,), (3, 4, 8)),
            *(m for name in (*SCALES, *ZEROS) for m in shaped(name, (8,), (1,))),
            *(m for name in (*INTEGERS, "xOut") for m in shaped(name, (6, 4, 8))),
            broken("no scale", scales1Optional=None),
            broken("one zero point", "", zeroPoints1Optional=None),
            broken("a zero point of nothing", "", scales2Optional=None),
        ),
    ),
    types=Types(TENSORS, {P950: ROWS}),
    formula=formula,
    optional=("biasOptional",),
    cases=(
        runs("sound", {}),
        runs("a bias as large as x1", {"biasOptional": t(2, 3, 4, 8)}),
        runs("no zero points", dict.fromkeys(ZEROS)),
        runs("one result", {"scales2Optional": None, **dict.fromkeys(ZEROS)}),
        runs("multiplied", {"divMode": False}),
        runs("the sum is not wanted", {"additionalOutput": False}),
        refused(
            INVALID,
            "a place for a sum that is not wanted",
            {"additionalOutput": False, "xOut": t(6, 4, 8)},
        ),
        runs("words after the mode", {"quantMode": "static, please"}),
        runs("dynamic", dynamic()),
        runs("dynamic in bfloat16", dynamic(dtype=BF16)),
        runs("dynamic, one result", dynamic({"scales2Optional": None})),
        runs("dynamic, without scales", dynamic(dict.fromkeys(SCALES))),
        refused(INVALID, "dynamic in float32", dynamic(dtype=F32)),
        refused(INVALID, "dynamic, scales of another type", dynamic(dict.fromkeys(SCALES, t(8)))),
        refused(INVALID, "dynamic, the second scale alone", dynamic({"scales1Optional": None})),
        *(refused(INVALID, f"dynamic, {zero}", dynamic({zero: t(8, dtype=F16)})) for zero in ZEROS),
        refused(
            INVALID,
            "dynamic over two axes",
            dynamic(dict.fromkeys((*PARAMETERS, *SCALES), t(4, 8, dtype=F16))),
        ),
        refused(INVALID, "dynamic, steps of another shape", dynamic({"outScales1Out": t(24)})),
        idle(
            "dynamic, no rows",
            dynamic(
                dict.fromkeys((*SUMMANDS, "xOut"), t(0, 8, dtype=F16)),
                dict.fromkeys(INTEGERS, t(0, 8, dtype=I8)),
                dict.fromkeys(STEPS_OUT, t(0)),
            ),
        ),
        Case(
            "four, dynamically",
            {
                **FOUR,
                "quantMode": "dynamic",
                **dict.fromkeys((*SCALES, *ZEROS)),
                **dict.fromkeys(STEPS_OUT, t(1)),
            },
            gives={
                "y1Out": [[-83, 11, -69, 127]],
                "outScales1Out": [0.00565282],
                "xOut": [[2.5, 2.5, 2, 6]],
                **dict.fromkeys(("y2Out", "outScales2Out"), UNTOUCHED),
            },
        ),
        Case(
            "four, statically",
            {**FOUR, "scales1Optional": array([0.01] * 4), **dict.fromkeys((SCALES[1], *ZEROS))},
            gives={"y1Out": [STATIC], **dict.fromkeys(("y2Out", *STEPS_OUT), UNTOUCHED)},
        ),
    ),
)

V2_BASE: dict[str, Argument] = {
    **{name: replace(t(2, 3, 8)) for name in SUMMANDS},
    **dict.fromkeys(PARAMETERS, t(1, 8)),
    "scales1Optional": array([0.25]),
    "scales2Optional": None,
    "zeroPoints1Optional": array([3]),
    "zeroPoints2Optional": None,
    "quantMode": "static",
    "epsilon": 1e-5,
    "additionalOutput": False,
    "divMode": False,
    **dict.fromkeys(INTEGERS, t(2, 3, 8, dtype=I8)),
    "xOut": t(2, 3, 8),
    "layernormRes": t(2, 3, 8),
    **dict.fromkeys(STEPS_OUT, t(1)),
}
V2_TENSORS = (
    *(*SUMMANDS, *PARAMETERS, "scales1Optional", "zeroPoints1Optional"),
    *(*INTEGERS[:1], "xOut", "layernormRes"),
)


def v2_row(x: str, scale: str) -> tuple[str, ...]:
    return (x,) * 5 + (scale,) * 2 + (I8, x, x)


V2_ROWS = tuple(v2_row(x, s) for x in (F32, F16, BF16) for s in (F32, F16, BF16))
V2 = Table(
    name="aclnnAddLayerNormQuantV2",
    kind=COMPOSITE,
    releases=("9",),
    base=V2_BASE,
    results=(*INTEGERS, "xOut", "layernormRes", *STEPS_OUT),
    chips=(*A2_A3, P950, P310),
    unwritten={P950: ("layernormRes",)},
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(
            NULL,
            nulls(
                *(*SUMMANDS, "gamma", "beta", *INTEGERS, "xOut", "layernormRes"),
                *(*STEPS_OUT, "quantMode"),
            ),
        ),
        step(INVALID, broken("another mode", quantMode="statistic")),
        unordered(INVALID, typed(*V2_TENSORS), typed("x2", *PARAMETERS, "layernormRes", dtype=F16)),
        unordered(
            INVALID,
            shaped("x1", NINE),
            shaped("x2", (6, 8), (2, 3, 7)),
            shaped("gamma", (1, 4), (2, 8)),
            shaped("beta", (8,), (1, 4)),
            shaped("biasOptional", (4,)),
            shaped("scales1Optional", (8,), (2,)),
            shaped("zeroPoints1Optional", (8,), (1, 1)),
            *(m for name in ("y1Out", "xOut", "layernormRes") for m in shaped(name, (6, 8))),
            broken("no scale", scales1Optional=None),
            broken("a second scale", scales2Optional=t(1)),
            broken("a second zero point", zeroPoints2Optional=t(1)),
            named=False,
        ),
        step(INVALID, broken("dynamic", "", quantMode="dynamic"), chips=(*A2_A3, P310)),
    ),
    types=Types(
        V2_TENSORS,
        {
            **dict.fromkeys((*A2_A3, P950), V2_ROWS),
            P310: tuple(row for row in V2_ROWS if BF16 not in row),
        },
        # Which types of scales the kernels of other chips have is not known.
        listed=dict.fromkeys((*A2_A3, P310, P950), frozenset({F32, F16, BF16, I8})),
    ),
    formula=formula,
    optional=("biasOptional", "zeroPoints1Optional"),
    cases=(
        runs("sound", {}),
        runs("with the sum", {"additionalOutput": True}),
        runs(
            "a scale for each element of a row",
            {
                **dict.fromkeys(PARAMETERS, t(8)),
                "scales1Optional": array([0.1, 0.2, 0.3, 0.4] * 2),
                "zeroPoints1Optional": t(8),
            },
        ),
        runs("multiplied", {"scales1Optional": array([16])}, (P950,)),
        runs(
            "dynamic",
            {
                "quantMode": "dynamic",
                **dict.fromkeys((*SUMMANDS, "xOut", "layernormRes"), Changed(dtype=F16)),
                **dict.fromkeys(PARAMETERS, t(8, dtype=F16)),
                **dict.fromkeys((SCALES[0], ZEROS[0])),
                **dict.fromkeys(STEPS_OUT, t(2, 3)),
            },
            (P950,),
        ),
        Case(
            "four",
            {
                **FOUR,
                **{
                    name: replace(array([values]), dtype=F16)
                    for name, values in (("gamma", [1, 2, 0.5, 1]), ("beta", [0, 1, 0, -1]))
                },
                "scales1Optional": array([0.01]),
                "zeroPoints1Optional": None,
                "layernormRes": t(1, 4, dtype=F16),
            },
            (*A2_A3, P310),
            gives={
                "y1Out": [STATIC],
                "layernormRes": [[-0.46852, 0.0629593, -0.390434, 0.717908]],
                **dict.fromkeys(("y2Out", "xOut", *STEPS_OUT), UNTOUCHED),
            },
        ),
    ),
)
