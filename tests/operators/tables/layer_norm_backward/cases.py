# SPDX-License-Identifier: Apache-2.0
"""Calls of aclnnLayerNormBackward: what they give, take and leave."""

from itertools import product

from tests.operators.notation import *
from tests.operators.table import *
from tests.operators.tables.layer_norm_backward.types import OUTS, SPLIT, TENSORS, WITH_KERNELS

__all__ = ["CASES"]

SYSTEM = 16 << 20


def slipped(dims: tuple[int, ...], normalized: tuple[int, ...], mean: tuple[int, ...]) -> Changes:
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


def plain(rows: int, columns: int, *mask: bool) -> Changes:
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


def two_results(weight: tuple[int, ...], bias: tuple[int, ...]) -> Changes:
    return {"gradWeightOut": t(*weight), "gradBiasOut": t(*bias)}


# Mean and rstd are cast to float32 first, each if it is not (LayerNormGradV3 takes no other).
INTERMEDIATE: tuple[tuple[str, int, Changes], ...] = (
    ("three results", 3, {}),
    ("a copy of mean", 4, {"mean": Changed(dtype=F16)}),
    ("a copy of rstd", 4, {"rstd": Changed(dtype=F16)}),
    ("copies of both", 5, dict.fromkeys(("mean", "rstd"), Changed(dtype=BF16))),
    ("ones", 4, {"weightOptional": None}),
    ("contiguous copies", 5, dict.fromkeys(("gradOut", "input"), Changed(strides=(1, 2, 6)))),
    ("one result", 1, {"outputMask": Bools((True, False, False))}),
)

CASES = (
    runs("sound", {}, chips=WITH_KERNELS),
    runs("no weight", {"weightOptional": None}, WITH_KERNELS),
    runs("no bias", {"biasOptional": None}, WITH_KERNELS),
    runs(
        "any shape of a number a row", {"mean": t(1, 2, 1, 1), "rstd": t(1, 2, 1, 1)}, WITH_KERNELS
    ),
    runs(
        "eight dimensions and eight axes",
        {
            **{name: t(*EIGHT) for name in STRIPPED},
            "mean": t(),
            "rstd": t(),
            "normalizedShape": Ints(EIGHT),
        },
        WITH_KERNELS,
    ),
    runs(
        "the shape of a masked-off result is not looked at",
        {"outputMask": Bools((False, True, True)), "gradInputOut": t(*NINE)},
        WITH_KERNELS,
    ),
    refused(
        INVALID,
        "the type of a masked-off result is looked at",
        {"outputMask": Bools((False, True, True)), "gradInputOut": Changed(dtype="DOUBLE")},
    ),
    *(masked(*mask) for mask in product((True, False), repeat=3) if not all(mask)),
    idle("all masked off", plain(2, 4, False, False, False)),
    idle("no rows", plain(0, 4, True, False, False)),
    refused(
        INVALID,
        "no rows, and a gradient of another shape",
        {**plain(0, 4, True, False, False), "gradInputOut": t(0, 5)},
    ),
    runs(
        "no rows, the weight's gradient",
        plain(0, 4, True, True, False),
        WITH_KERNELS,
        workspace=0,
        gives={"gradWeightOut": [0.0] * 4, "gradBiasOut": UNTOUCHED},
    ),
    runs(
        "no rows, the bias's gradient",
        plain(0, 4, False, False, True),
        WITH_KERNELS,
        workspace=0,
        gives={"gradWeightOut": UNTOUCHED, "gradBiasOut": [0.0] * 4},
    ),
    idle("no columns", plain(2, 0, True, True, True)),
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
    refused(
        INVALID,
        "a wanted gradient's size shows a wrong normalizedShape",
        {**SLIPPED[1], "outputMask": Bools((True,) * 3), **two_results((7, 8), (7, 8))},
    ),
    refused(
        INVALID, "with as many axes as dimensions all are compared", slipped((3, 4), (2, 4), ())
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
