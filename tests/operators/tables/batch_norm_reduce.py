# SPDX-License-Identifier: Apache-2.0
"""aclnnBatchNormReduce (CANN: ops-nn norm/bn_training_reduce)."""

from dataclasses import replace

from tests.operators.notation import *

CHIPS = (*A2_A3, P950)
TENSORS = ("x", "sum", "squareSum")
BASE: dict[str, Argument] = {"x": t(2, 3, 4, 5, form="NCHW"), "sum": t(3), "squareSum": t(3)}


def formula(given: Numbers, _chip: str) -> Truth:
    x, others = given["x"], (0, 1, 2) if given["x.format"] == "NHWC" else (0, 2, 3)
    return {"sum": x.sum(others), "squareSum": (x * x).sum(others)}


TABLE = Table(
    name="aclnnBatchNormReduce",
    kind=COMPOSITE,
    releases=("9",),
    base=BASE,
    results=("sum", "squareSum"),
    chips=CHIPS,
    steps=(
        unordered(NULL, nulls("workspaceSize", "executor")),
        unordered(NULL, nulls(*TENSORS)),
        unordered(INVALID, typed(*TENSORS), typed(*TENSORS[1:], dtype=F16)),
        unordered(
            INVALID,
            shaped("x", (3,), (2, 3, 20), (2, 3, 4, 5, 1)),
            shaped("sum", (4,), (3, 1)),
            shaped("squareSum", (2,), (1, 3)),
        ),
    ),
    types=Types(TENSORS, dict.fromkeys(CHIPS, tuple((x, F32, F32) for x in (F32, F16, BF16)))),
    formula=formula,
    layouts=(
        Layouts(("x",), frozenset({"NCHW", "NHWC"}), {"x": Changed((2, 3, 3, 3))}),
        Layouts(("sum",), frozenset({"ND"})),
        Layouts(("squareSum",), frozenset({"ND"})),
    ),
    cases=(
        runs("sound", {}),
        *(
            Case(
                f"no {what}",
                {"x": t(*dims, form="NCHW")},
                gives={"sum": [0, 0, 0], "squareSum": [0, 0, 0]},
            )
            for what, dims in (("samples", (0, 3, 4, 5)), ("space", (2, 3, 0, 5)))
        ),
        Case(
            "nothing is looked at of an empty tensor",
            {"x": t(0, dtype="DOUBLE")},
            gives={"sum": [0, 0, 0], "squareSum": [0, 0, 0]},
        ),
        refused(INVALID, "no format says where channels are", {"x": Changed(format="ND")}),
        *(
            Case(
                f"two channels, {form}",
                {"x": replace(array(values), format=form), **dict.fromkeys(TENSORS[1:], t(2))},
                gives={"sum": [3, 7], "squareSum": [5, 25]},
            )
            for form, values in (("NCHW", [[[[1, 2]], [[3, 4]]]]), ("NHWC", [[[[1, 3], [2, 4]]]]))
        ),
    ),
)
