# SPDX-License-Identifier: Apache-2.0
"""aclnnBatchNormReduceBackward (CANN: ops-nn norm/sync_batch_norm_backward_reduce)."""

from dataclasses import replace
from itertools import product

from tests.operators.notation import *

GIVEN = ("gradOut", "input", "mean", "invstd")
SUMS = ("sumDy", "sumDyXmu", "gradWeight", "gradBias")
# The type of weight, which is not looked at, is no part of a row.
TENSORS = (*GIVEN, *SUMS)
BASE: dict[str, Argument] = {
    "gradOut": t(2, 3, 4),
    "input": t(2, 3, 4),
    "mean": t(3),
    "invstd": array([1, 0.5, 2]),
    "weight": t(3),
    "inputG": True,
    "weightG": True,
    "biasG": True,
    **dict.fromkeys(SUMS, t(3)),
}


def formula(given: Numbers, _chip: str) -> Truth:
    dy, x = given["gradOut"], given["input"]
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    plain, products = dy.sum(axes), (dy * x).sum(axes)
    above = products - given["mean"] * plain
    found: Truth = {}
    if given["inputG"]:
        found |= {"sumDy": plain, "sumDyXmu": above}
    if given["weightG"]:
        found["gradWeight"] = above * given["invstd"]
    if given["biasG"]:
        found["gradBias"] = plain
    return found


def rows(*listed: str) -> tuple[tuple[str, ...], ...]:
    """The gradient has the input's type; each of the others has any."""
    return tuple((found[0], *found) for found in product(listed, repeat=7))


def flags(*wanted: bool) -> Changes:
    """Some of the results, without tensors for the others."""
    groups = (("sumDy", "sumDyXmu"), ("gradWeight",), ("gradBias",))
    absent = {
        n: None for group, wants in zip(groups, wanted, strict=True) if not wants for n in group
    }
    return {**dict(zip(("inputG", "weightG", "biasG"), wanted, strict=True)), **absent}


def inputs(*shape: int) -> Changes:
    return dict.fromkeys(("gradOut", "input"), t(*shape))


TWO: Changes = {
    "gradOut": array([[[1, 0], [-1, 2]], [[0.5, 1], [1, -1]]]),
    "input": array([[[1, 2], [3, 4]], [[5, 6], [7, 9]]]),
    "mean": array([3.5, 5.75]),
    "invstd": array([0.48507071, 0.41931358]),
    "weight": array([1, 2]),
    **dict.fromkeys(SUMS, t(2)),
}
TABLE = Table(
    name="aclnnBatchNormReduceBackward",
    kind=COMPOSITE,
    base=BASE,
    results=SUMS,
    chips=(*A2_A3, P950, P910),
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*GIVEN, *SUMS)),
        unordered(
            INVALID,
            typed(*TENSORS),
            broken("another type than input", "", gradOut=Changed(dtype=F16)),
            broken("another type than gradOut", "", input=Changed(dtype=F16)),
        ),
        unordered(
            INVALID,
            broken("formats differ", "", gradOut=Changed(format="NCHW")),
            broken(
                "private format",
                "",
                **dict.fromkeys(("gradOut", "input"), Changed(format="NC1HWC0")),
            ),
        ),
        unordered(
            INVALID,
            shaped("gradOut", (3,), NINE),
            shaped("input", (3,), NINE),
            *(mistake for name in SUMS for mistake in shaped(name, (4,), (3, 1))),
        ),
    ),
    types=Types(
        TENSORS, {**dict.fromkeys((*A2_A3, P950), rows(F32, F16, BF16)), P910: rows(F32, F16)}
    ),
    formula=formula,
    optional=("weight",),
    layouts=(Layouts(("gradOut", "input"), frozenset(FORMATS) - PRIVATE),),
    cases=(
        runs("sound", {}),
        *(
            runs(f"wanted: {wanted}", flags(*wanted))
            for wanted in product((True, False), repeat=3)
            if any(wanted)
        ),
        Case("nothing is wanted", flags(False, False, False), launch=NOTHING),
        runs("weight of any type and shape", {"weight": t(7, 2, dtype=I32)}),
        refused(INVALID, "no channels", {**inputs(2, 0, 4), **dict.fromkeys(SUMS, t(0))}),
        *(
            Case(
                f"nothing in {dims}",
                inputs(*dims),
                (*A2_A3, P910),
                launch=NOTHING,
                gives=dict.fromkeys(SUMS, UNTOUCHED),
            )
            for dims in ((0, 3), (2, 3, 0))
        ),
        Case(
            "nothing to sum on the 950",
            inputs(2, 3, 0),
            (P950,),
            gives=dict.fromkeys(SUMS, [0] * 3),
        ),
        *(
            refused(INNER_NULL, f"{name} of another shape, found late", {name: t(*shape)})
            for name, shape in (("gradOut", (2, 3, 5)), ("mean", (4,)), ("invstd", (2,)))
        ),
        Case(
            "two channels",
            TWO,
            gives={
                "sumDy": [2.5, 1],
                "sumDyXmu": [0.75, -2.75],
                "gradWeight": [0.363803, -1.15311],
                "gradBias": [2.5, 1],
            },
            rtol=3e-6,
        ),
    ),
)

# The kernel table of 8.1 has the operator for more chips than its documents.
OLD, TABLE = in_8_1(TABLE, P310, like=P910), replace(TABLE, releases=("9",))
