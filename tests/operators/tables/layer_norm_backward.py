# SPDX-License-Identifier: Apache-2.0
"""aclnnLayerNormBackward (CANN: ops-nn norm/layer_norm_grad_v3)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tests.operators.table import (
    COMPOSITE,
    FAILS,
    INVALID,
    KERNELS,
    NOTHING,
    NULL,
    UNTOUCHED,
    Case,
    Gradient,
    Layouts,
    Numbers,
    Step,
    Table,
    Types,
    broken,
    nulls,
    shaped,
    typed,
)
from tests.operators.words import (
    A2_A3,
    BF16,
    EVERY_CHIP,
    F16,
    F32,
    FORMATS,
    P310,
    P310B,
    P910,
    P950,
    Argument,
    Bools,
    Changed,
    Ints,
    array,
    t,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["TABLES"]

NINE = (1,) * 9
SYSTEM = 16 << 20
LIST = (F32, F16, BF16)
OUTS = ("gradInputOut", "gradWeightOut", "gradBiasOut")
PARAMETERS = ("weightOptional", "biasOptional")
TENSORS = ("gradOut", "input", "mean", "rstd", *PARAMETERS, *OUTS)
FUSED, SPLIT = (*A2_A3, P950), (P310, P910)
WITH_KERNELS = (*FUSED, *SPLIT)

BASE: dict[str, Argument] = {
    "gradOut": t(2, 3, 4),
    "input": t(2, 3, 4),
    "normalizedShape": Ints((3, 4)),
    "mean": t(2, 1, 1),
    "rstd": t(2, 1, 1),
    "weightOptional": t(3, 4),
    "biasOptional": t(3, 4),
    "outputMask": Bools((True, True, True)),
    "gradInputOut": t(2, 3, 4),
    "gradWeightOut": t(3, 4),
    "gradBiasOut": t(3, 4),
}


def formula(given: Numbers, _chip: str) -> dict[str, NDArray[np.float64]]:
    shape, axes = given["input"].shape, given["normalizedShape"]
    n = int(np.prod(axes))
    dy, x = given["gradOut"].reshape(-1, n), given["input"].reshape(-1, n)
    mean, rstd = given["mean"].reshape(-1, 1), given["rstd"].reshape(-1, 1)
    hat = (x - mean) * rstd
    weight = given["weightOptional"]
    g = dy if weight is None else dy * weight.reshape(n)
    dx = (g - g.mean(1, keepdims=True) - hat * (g * hat).mean(1, keepdims=True)) * rstd
    found = (dx.reshape(shape), (dy * hat).sum(0), dy.sum(0))
    return {
        name: value if name == OUTS[0] else value.reshape(given[name].shape)
        for name, value, wanted in zip(OUTS, found, given["outputMask"], strict=True)
        if wanted
    }


# Statistics, bias and results have any listed type; none is compared with another.
ROWS = tuple(
    (x, x, mean, rstd, weight, bias, *outs)
    for x, mean, rstd, bias in product(LIST, repeat=4)
    for weight in dict.fromkeys((F32, x))
    for outs in product(LIST, repeat=3)
)
SPLIT_KERNELS = {(F16, F16, F16), (F32, F32, F32), (F16, F32, F32), (F16, F32, F16)}


def fails(chip: str, types: Mapping[str, str]) -> bool | None:
    """Whether the kernels for the types are missing, which phase 1 does not see."""
    if chip in FUSED:
        return False
    if chip == P310B or types["input"] == BF16:
        return True
    mean, rstd, weight = types["mean"], types["rstd"], types["weightOptional"]
    cast = mean != rstd or (weight == F32 and mean != F32)
    if (types["input"], F32 if cast else mean, weight) not in SPLIT_KERNELS:
        return True
    # Nobody knows which casts to and from bfloat16 these chips have.
    return None if BF16 in types.values() else False


def slipped(
    dims: tuple[int, ...], normalized: tuple[int, ...], mean: tuple[int, ...]
) -> dict[str, Argument | Changed]:
    """A wrong normalizedShape with only gradInput wanted, so that no output's size shows it."""
    return {
        "gradOut": t(*dims),
        "input": t(*dims),
        "normalizedShape": Ints(normalized),
        "mean": t(*mean),
        "rstd": t(*mean),
        "weightOptional": None,
        "biasOptional": None,
        "outputMask": Bools((True, False, False)),
        "gradInputOut": t(*dims),
    }


def plain(rows: int, columns: int, *mask: bool) -> dict[str, Argument | Changed]:
    return {
        "gradOut": t(rows, columns),
        "input": t(rows, columns),
        "normalizedShape": Ints((columns,)),
        "mean": t(rows),
        "rstd": t(rows),
        "weightOptional": t(columns),
        "biasOptional": None,
        "outputMask": Bools(mask),
        "gradInputOut": t(rows, columns),
        "gradWeightOut": t(columns),
        "gradBiasOut": t(columns),
    }


def masked(*mask: bool) -> Case:
    """Masked-off results may be NULL; those that are not stay as they are."""
    off = [name for name, wanted in zip(OUTS, mask, strict=True) if not wanted]
    return Case(
        f"only {[name for name in OUTS if name not in off]}",
        {"outputMask": Bools(mask), off[0]: None},
        WITH_KERNELS,
        launch=KERNELS if any(mask) else NOTHING,
    )


EIGHT = (1,) * 8
STRIPPED = tuple(name for name in TENSORS if name not in ("mean", "rstd"))
SLIPPED = (
    slipped((2, 3, 4), (5,), (2, 3)),
    slipped((2, 6, 5, 6), (7, 8), (2, 6)),
    slipped((2, 3, 4), (9, 4), (2,)),
)


def two_results(weight: tuple[int, ...], bias: tuple[int, ...]) -> dict[str, Argument | Changed]:
    return {"gradWeightOut": t(*weight), "gradBiasOut": t(*bias)}


# Mean and rstd are cast to float32 first, each if it is not (LayerNormGradV3 takes no other).
INTERMEDIATE: tuple[tuple[str, int, dict[str, Argument | Changed]], ...] = (
    ("three results", 3, {}),
    ("a copy of mean", 4, {"mean": Changed(dtype=F16)}),
    ("a copy of rstd", 4, {"rstd": Changed(dtype=F16)}),
    ("copies of both", 5, dict.fromkeys(("mean", "rstd"), Changed(dtype=BF16))),
    ("ones", 4, {"weightOptional": None}),
    ("contiguous copies", 5, dict.fromkeys(("gradOut", "input"), Changed(strides=(1, 2, 6)))),
    ("one result", 1, {"outputMask": Bools((True, False, False))}),
)

CASES = (
    Case("sound", {}, launch=KERNELS, chips=WITH_KERNELS),
    Case("no weight", {"weightOptional": None}, WITH_KERNELS, launch=KERNELS),
    Case("no bias", {"biasOptional": None}, WITH_KERNELS, launch=KERNELS),
    Case(
        "any shape of a number a row",
        {"mean": t(1, 2, 1, 1), "rstd": t(1, 2, 1, 1)},
        WITH_KERNELS,
        launch=KERNELS,
    ),
    Case(
        "eight dimensions and eight axes",
        {
            **{name: t(*EIGHT) for name in STRIPPED},
            "mean": t(),
            "rstd": t(),
            "normalizedShape": Ints(EIGHT),
        },
        WITH_KERNELS,
        launch=KERNELS,
    ),
    Case(
        "the shape of a masked-off result is not looked at",
        {"outputMask": Bools((False, True, True)), "gradInputOut": t(*NINE)},
        WITH_KERNELS,
        launch=KERNELS,
    ),
    Case(
        "the type of a masked-off result is looked at",
        {"outputMask": Bools((False, True, True)), "gradInputOut": Changed(dtype="DOUBLE")},
        code=INVALID,
    ),
    *(masked(*mask) for mask in product((True, False), repeat=3) if not all(mask)),
    Case("all masked off", plain(2, 4, False, False, False), launch=NOTHING, workspace=0),
    Case("no rows", plain(0, 4, True, False, False), launch=NOTHING, workspace=0),
    Case(
        "no rows, and a gradient of another shape",
        {**plain(0, 4, True, False, False), "gradInputOut": t(0, 5)},
        code=INVALID,
    ),
    Case(
        "no rows, the weight's gradient",
        plain(0, 4, True, True, False),
        WITH_KERNELS,
        launch=KERNELS,
        workspace=0,
        gives={"gradWeightOut": [0.0] * 4, "gradBiasOut": UNTOUCHED},
    ),
    Case(
        "no rows, the bias's gradient",
        plain(0, 4, False, False, True),
        WITH_KERNELS,
        launch=KERNELS,
        workspace=0,
        gives={"gradWeightOut": UNTOUCHED, "gradBiasOut": [0.0] * 4},
    ),
    Case("no columns", plain(2, 0, True, True, True), launch=NOTHING, workspace=0),
    # The copy into a result compares shapes, and nobody looks at its status.
    Case(
        "gradients in another shape are not written",
        two_results((12,), (2, 6)),
        WITH_KERNELS,
        gives={"gradWeightOut": UNTOUCHED, "gradBiasOut": UNTOUCHED},
    ),
    Case(
        "one gradient in another shape is not written",
        two_results((1, 3, 4), (3, 4)),
        WITH_KERNELS,
        gives={"gradWeightOut": UNTOUCHED},
    ),
    # Only tensors of one element are exempt (CANN: ops-math contiguous.cpp).
    Case(
        "gradients of one element are written in any shape",
        {
            **plain(2, 1, True, True, True),
            "gradOut": array([[2], [4]]),
            "input": array([[3], [5]]),
            "mean": array([1, 2]),
            "rstd": array([0.5, 1]),
            "weightOptional": array([3]),
            **two_results((1, 1), ()),
        },
        WITH_KERNELS,
        gives={"gradInputOut": [[-3], [-108]], "gradWeightOut": [[14]], "gradBiasOut": 6},
    ),
    # The loop that compares starts at the wrong end: what it lets through fails in phase 2.
    *(
        Case(f"wrong normalizedShape {number} slips through", changes, launch=FAILS)
        for number, changes in enumerate(SLIPPED)
    ),
    Case(
        "a wanted gradient's size shows a wrong normalizedShape",
        {**SLIPPED[1], "outputMask": Bools((True,) * 3), **two_results((7, 8), (7, 8))},
        code=INVALID,
    ),
    Case(
        "with as many axes as dimensions all are compared",
        slipped((3, 4), (2, 4), ()),
        code=INVALID,
    ),
    Case("no kernels", {}, (P310B,), launch=FAILS),
    Case(
        "bfloat16 without a weight",
        {**dict.fromkeys(("gradOut", "input"), Changed(dtype=BF16)), "weightOptional": None},
        SPLIT,
        launch=FAILS,
    ),
    # Two rows of 16 padded floats on two cores, and 512 bytes for each intermediate tensor.
    *(
        Case(name, changes, A2_A3, workspace=SYSTEM + 2 * 2 * 16 * 4 + tensors * 512)
        for name, tensors, changes in INTERMEDIATE
    ),
    # 4096 bytes and 32 in units of 512: the gradients of narrow parameters wait in float32.
    Case(
        "three results of 1024 columns",
        {
            **plain(2, 1024, True, True, True),
            **dict.fromkeys(("gradOut", "input"), t(2, 1024, dtype=F16)),
            **dict.fromkeys(("weightOptional", *OUTS[1:]), t(1024, dtype=F16)),
        },
        A2_A3,
        workspace=SYSTEM + 2 * 2 * 1024 * 4 + 3 * 4608,
    ),
    Case(
        "the official example",
        {
            **plain(2, 2, True, True, True),
            **dict.fromkeys(("gradOut", "input"), array([[2, 3], [4, 5]])),
            "mean": array([[2], [3]]),
            "rstd": array([[4], [5]]),
            "weightOptional": array([1, 1]),
            "biasOptional": array([0, 0]),
        },
        WITH_KERNELS,
        gives={
            "gradInputOut": [[-2, -94], [-877.5, -1747.5]],
            "gradWeightOut": [20, 62],
            "gradBiasOut": [6, 8],
        },
    ),
)

TABLE = Table(
    name="aclnnLayerNormBackward",
    kind=COMPOSITE,
    base=BASE,
    results=OUTS,
    steps=(
        Step(NULL, nulls("workspaceSize", "executor")),
        Step(NULL, nulls("gradOut", "input", "normalizedShape", "mean", "rstd", "outputMask")),
        Step(INVALID, tuple(broken(f"mask of {n}", outputMask=Bools((True,) * n)) for n in (2, 4))),
        Step(NULL, nulls(*OUTS)),
        Step(INVALID, typed("gradOut", "input", "mean", "rstd")),
        Step(INVALID, typed("gradOut", dtype=F16)),
        Step(INVALID, (*typed("weightOptional"), *typed("weightOptional", dtype=F16))),
        Step(INVALID, typed("biasOptional", *OUTS)),
        Step(
            INVALID,
            (
                *(m for name in ("gradOut", "input", "mean", "rstd") for m in shaped(name, NINE)),
                broken("nine axes", normalizedShape=Ints(NINE)),
                *(m for name in OUTS for m in shaped(name, NINE)),
            ),
        ),
        Step(
            INVALID,
            (
                broken("no axes", normalizedShape=Ints(())),
                broken("more axes than input has", "input", normalizedShape=Ints((1, 2, 3, 4))),
            ),
        ),
        Step(INVALID, (broken("last axis", normalizedShape=Ints((3, 5))),)),
        Step(INVALID, shaped("weightOptional", NINE, (4,), (3, 5))),
        Step(INVALID, shaped("biasOptional", NINE, (4,), (4, 4))),
        Step(
            INVALID,
            (
                *shaped("gradOut", (2, 3, 5)),
                *shaped("mean", (2, 1)),
                broken("statistics of three rows", mean=t(3, 1), rstd=t(3, 1)),
            ),
        ),
        Step(
            INVALID,
            (
                *shaped("gradInputOut", (2, 12)),
                *shaped("gradWeightOut", (3, 5)),
                *shaped("gradBiasOut", (11,)),
            ),
        ),
    ),
    types=Types(TENSORS, dict.fromkeys(EVERY_CHIP, ROWS), fails=fails),
    formula=formula,
    optional=PARAMETERS,
    layouts=tuple(Layouts((name,), frozenset(FORMATS)) for name in TENSORS),
    cases=CASES,
    gradients=(
        Gradient(
            "aclnnLayerNorm",
            upstream={"gradOut": "out"},
            saved={"mean": "meanOutOptional", "rstd": "rstdOutOptional"},
            shared={name: name for name in ("input", "normalizedShape", *PARAMETERS)},
            gives={
                "gradInputOut": ("input",),
                "gradWeightOut": ("weightOptional",),
                "gradBiasOut": ("biasOptional",),
            },
        ),
    ),
)
TABLES = (TABLE,)
