# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of aclnnLayerNormBackward: every rule, their order, and what slips through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock.dtypes import DataType, Format
from pyaclnn.mock.values import BoolArray, Flag, IntArray, Value
from pyaclnn.mock.wire import CheckReply

from .bench import BASE, Bench, Row, later_rows, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATOR = "aclnnLayerNormBackward"
F16, BF16, F64, INT8 = DataType.FLOAT16, DataType.BF16, DataType.DOUBLE, DataType.INT8
NINE = (1,) * 9
SYSTEM = 16 << 20


def sound(**changes: Value) -> dict[str, Value]:
    arguments: dict[str, Value] = {
        "gradOut": tensor(2, 3, 4),
        "input": tensor(2, 3, 4),
        "normalizedShape": IntArray((3, 4)),
        "mean": tensor(2, 1, 1),
        "rstd": tensor(2, 1, 1),
        "weightOptional": tensor(3, 4),
        "biasOptional": tensor(3, 4),
        "outputMask": BoolArray((True, True, True)),
        "gradInputOut": tensor(2, 3, 4),
        "gradWeightOut": tensor(3, 4),
        "gradBiasOut": tensor(3, 4),
    }
    assert set(changes) <= set(arguments)
    return arguments | changes


def null(name: str) -> Row:
    return Row(f"{name} null", {name: None}, 161001, f"{name} is NULL")


def typed(name: str, *dims: int) -> Row:
    changes = {name: tensor(*dims, data_type=F64)}
    return Row(f"{name} double", changes, 161002, f"{name} has data type DOUBLE; it must be one of")


def deep(name: str) -> Row:
    text = f"{name} has 9 dimensions, shape [1,1,1,1,1,1,1,1,1]; it must have at most 8"
    return Row(f"{name} rank 9", {name: tensor(*NINE)}, 161002, text)


ROWS = [
    Row("workspace pointer", {}, 161001, "workspaceSize is NULL", Flag.NO_WORKSPACE_POINTER),
    Row("executor pointer", {}, 161001, "executor is NULL", Flag.NO_EXECUTOR_POINTER),
    null("gradOut"),
    null("input"),
    null("normalizedShape"),
    null("mean"),
    null("rstd"),
    null("outputMask"),
    Row("mask length", {"outputMask": BoolArray((True, True))}, 161002, "outputMask has 2"),
    null("gradInputOut"),
    null("gradWeightOut"),
    null("gradBiasOut"),
    typed("gradOut", 2, 3, 4),
    typed("input", 2, 3, 4),
    typed("mean", 2, 1, 1),
    typed("rstd", 2, 1, 1),
    Row(
        "gradOut of another type",
        {"gradOut": tensor(2, 3, 4, data_type=F16)},
        161002,
        "gradOut has data type FLOAT16; it must be FLOAT",
    ),
    typed("weightOptional", 3, 4),
    Row(
        "weight of another type",
        {"weightOptional": tensor(3, 4, data_type=F16)},
        161002,
        "weightOptional has data type FLOAT16; it must be FLOAT",
    ),
    typed("biasOptional", 3, 4),
    typed("gradInputOut", 2, 3, 4),
    typed("gradWeightOut", 3, 4),
    typed("gradBiasOut", 3, 4),
    Row(
        "private format",
        {"gradOut": tensor(2, 3, 4, form=Format.FRACTAL_NZ)},
        161002,
        "gradOut has format FRACTAL_NZ",
    ),
    deep("gradOut"),
    deep("input"),
    deep("mean"),
    deep("rstd"),
    Row("nine axes", {"normalizedShape": IntArray(NINE)}, 161002, "normalizedShape has 9"),
    deep("gradInputOut"),
    deep("gradWeightOut"),
    deep("gradBiasOut"),
    Row("no axes", {"normalizedShape": IntArray(())}, 161002, "normalizedShape is empty"),
    Row(
        "more axes than input",
        {"normalizedShape": IntArray((1, 2, 3, 4))},
        161002,
        "input has 3 dimensions",
    ),
    Row(
        "last axis of normalizedShape",
        {"normalizedShape": IntArray((3, 5))},
        161002,
        "normalizedShape is [3,5] with 5 at 1",
    ),
    deep("weightOptional"),
    Row("weight rank", {"weightOptional": tensor(4)}, 161002, "weightOptional has 1 dimensions"),
    Row("weight shape", {"weightOptional": tensor(3, 5)}, 161002, "weightOptional has shape [3,5]"),
    deep("biasOptional"),
    Row("bias rank", {"biasOptional": tensor(4)}, 161002, "biasOptional has 1 dimensions"),
    Row("bias shape", {"biasOptional": tensor(4, 4)}, 161002, "biasOptional has shape [4,4]"),
    Row("gradOut shape", {"gradOut": tensor(2, 3, 5)}, 161002, "gradOut has shape [2,3,5]"),
    Row("mean against rstd", {"mean": tensor(2, 1)}, 161002, "mean has shape [2,1]"),
    Row(
        "mean size",
        {"mean": tensor(3, 1), "rstd": tensor(3, 1)},
        161002,
        "mean has 3 elements",
    ),
    Row(
        "gradInput shape",
        {"gradInputOut": tensor(2, 12)},
        161002,
        "gradInputOut has shape [2,12]",
    ),
    Row("gradWeight size", {"gradWeightOut": tensor(3, 5)}, 161002, "gradWeightOut has 15"),
    Row("gradBias size", {"gradBiasOut": tensor(11)}, 161002, "gradBiasOut has 11"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_broken_rule_is_refused(bench: Bench, row: Row) -> None:
    reply = bench.check(OPERATOR, sound(**row.changes), row.flags)

    assert reply.status == row.status
    assert reply.text.startswith("EZ")
    assert row.text in reply.text
    assert (reply.executor_kind, reply.output_count) == (0, 3)
    assert (reply.launches, reply.workspace_size) == (0, 0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_earlier_of_two_broken_rules_answers(bench: Bench, row: Row) -> None:
    for other in later_rows(ROWS, row):
        changes = {**row.changes, **other.changes}
        reply = bench.check(OPERATOR, sound(**changes), row.flags | other.flags)

        assert (reply.status, row.text in reply.text) == (row.status, True), (other, reply)


def test_the_sound_call_is_accepted(bench: Bench) -> None:
    reply = bench.check(OPERATOR, sound())

    # Two rows of 16 padded floats on two cores, and slots for three results.
    kernel = SYSTEM + 2 * 2 * 16 * 4
    assert reply == CheckReply(0, 0, 3, 1, kernel + 3 * 512)


EIGHT: dict[str, Value] = {
    **dict.fromkeys(("gradOut", "input", "gradInputOut"), tensor(*NINE[:8])),
    **dict.fromkeys(("mean", "rstd"), tensor()),
    **dict.fromkeys(("weightOptional", "biasOptional"), tensor(*NINE[:8])),
    **dict.fromkeys(("gradWeightOut", "gradBiasOut"), tensor(*NINE[:8])),
    "normalizedShape": IntArray(NINE[:8]),
}
ACCEPTED: list[tuple[str, dict[str, Value]]] = [
    ("no weight and bias", {"weightOptional": None, "biasOptional": None}),
    ("bias type is not compared", {"biasOptional": tensor(3, 4, data_type=BF16)}),
    ("mean may differ from rstd", {"mean": tensor(2, 1, 1, data_type=F16)}),
    ("mean may be narrower", {"mean": tensor(2, data_type=F16), "rstd": tensor(2)}),
    ("any shape of M elements", {"mean": tensor(1, 2, 1, 1), "rstd": tensor(1, 2, 1, 1)}),
    ("any output type", {"gradInputOut": tensor(2, 3, 4, data_type=F16)}),
    ("any output shape of N elements", {"gradWeightOut": tensor(12), "gradBiasOut": tensor(2, 6)}),
    (
        "masked-off outputs may be null",
        {"outputMask": BoolArray((False, True, False)), "gradInputOut": None, "gradBiasOut": None},
    ),
    (
        "shapes of masked-off outputs are not looked at",
        {"outputMask": BoolArray((False, True, True)), "gradInputOut": tensor(*NINE)},
    ),
    ("eight dimensions and eight axes", EIGHT),
    ("channel formats", {"input": tensor(2, 3, 4, form=Format.NCDHW)}),
    ("non-contiguous", {"input": tensor(2, 3, 4, strides=(1, 2, 6))}),
]


@pytest.mark.parametrize("changes", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_what_cann_does_not_check_is_accepted(bench: Bench, changes: dict[str, Value]) -> None:
    reply = bench.check(OPERATOR, sound(**changes))

    assert (reply.status, reply.launches, reply.text) == (0, 1, "")
    assert reply.workspace_size > SYSTEM


def test_the_type_of_a_masked_off_output_is_looked_at(bench: Bench) -> None:
    changes: dict[str, Value] = {
        "outputMask": BoolArray((False, True, True)),
        "gradInputOut": tensor(2, 3, 4, data_type=F64),
    }

    assert bench.check(OPERATOR, sound(**changes)).status == 161002


def slipped(dims: tuple[int, ...], normalized: tuple[int, ...], mean: tuple[int, ...]) -> Row:
    """A wrong normalizedShape with only gradInput wanted, so that no output's size shows it."""
    changes: dict[str, Value] = {
        "gradOut": tensor(*dims),
        "input": tensor(*dims),
        "normalizedShape": IntArray(normalized),
        "mean": tensor(*mean),
        "rstd": tensor(*mean),
        "weightOptional": None,
        "biasOptional": None,
        "outputMask": BoolArray((True, False, False)),
        "gradInputOut": tensor(*dims),
    }
    return Row(str(dims), changes, 0, "")


SLIPPED = [
    slipped((2, 3, 4), (5,), (2, 3)),
    slipped((2, 6, 5, 6), (7, 8), (2, 6)),
    slipped((2, 3, 4), (9, 4), (2,)),
]


@pytest.mark.parametrize("row", SLIPPED, ids=lambda row: row.name)
def test_a_wrong_normalized_shape_slips_into_phase_two(bench: Bench, row: Row) -> None:
    reply = bench.check(OPERATOR, sound(**row.changes))

    assert (reply.status, reply.launches) == (0, 2)
    assert reply.text.startswith("EZ9999")
    assert "LayerNormGradV3" in reply.text


@pytest.mark.parametrize("soc_name", ["Ascend310P3", "Ascend910A"])
@pytest.mark.parametrize("row", SLIPPED, ids=lambda row: row.name)
def test_split_kernels_fail_in_phase_one(
    make_bench: Callable[[str], Bench], soc_name: str, row: Row
) -> None:
    reply = make_bench(soc_name).check(OPERATOR, sound(**row.changes))

    assert reply.status == 561103
    assert "LayerNormXBackpropV3" in reply.text


def test_the_size_of_a_wanted_gradient_shows_a_wrong_normalized_shape(bench: Bench) -> None:
    changes = {
        **SLIPPED[1].changes,
        "outputMask": BoolArray((True, True, True)),
        "gradWeightOut": tensor(7, 8),
        "gradBiasOut": tensor(7, 8),
    }

    reply = bench.check(OPERATOR, sound(**changes))

    assert (reply.status, "gradWeightOut has 56 elements" in reply.text) == (161002, True)


def test_with_rank_equal_to_length_every_axis_is_compared(bench: Bench) -> None:
    row = slipped((3, 4), (2, 4), ())

    assert bench.check(OPERATOR, sound(**row.changes)).status == 161002


def with_rows(rows: int, columns: int, mask: tuple[bool, bool, bool]) -> dict[str, Value]:
    return sound(
        gradOut=tensor(rows, columns),
        input=tensor(rows, columns),
        normalizedShape=IntArray((columns,)),
        mean=tensor(rows),
        rstd=tensor(rows),
        weightOptional=tensor(columns),
        biasOptional=None,
        outputMask=BoolArray(mask),
        gradInputOut=tensor(rows, columns),
        gradWeightOut=tensor(columns),
        gradBiasOut=tensor(columns),
    )


@pytest.mark.parametrize(
    ("rows", "columns", "mask", "launches"),
    [
        (2, 4, (False, False, False), 0),
        (0, 4, (True, False, False), 0),
        (0, 4, (True, True, False), 1),
        (0, 4, (False, False, True), 1),
        (2, 0, (True, True, True), 0),
    ],
)
def test_empty_problems_need_no_workspace(
    bench: Bench, rows: int, columns: int, mask: tuple[bool, bool, bool], launches: int
) -> None:
    reply = bench.check(OPERATOR, with_rows(rows, columns, mask))

    assert reply == CheckReply(0, 0, 3, launches, 0)


@pytest.mark.parametrize(
    ("soc_name", "data_type", "status"),
    [
        ("Ascend910B1", BF16, 0),
        ("Ascend910_9391", BF16, 0),
        ("Ascend950PR_9579", BF16, 0),
        ("Ascend310P3", BF16, 561103),
        ("Ascend910A", BF16, 561103),
        ("Ascend310P3", F16, 0),
        ("Ascend910A", DataType.FLOAT, 0),
        ("Ascend310B1", DataType.FLOAT, 561103),
    ],
)
def test_kernels_by_chip(
    make_bench: Callable[[str], Bench], soc_name: str, data_type: int, status: int
) -> None:
    wide = tensor(2, 3, 4, data_type=data_type)
    reply = make_bench(soc_name).check(OPERATOR, sound(gradOut=wide, input=wide))

    assert reply.status == status


@pytest.mark.parametrize(
    ("mean", "rstd", "weight", "status"),
    [
        (F16, F16, F16, 0),
        (DataType.FLOAT, DataType.FLOAT, F16, 0),
        (F16, DataType.FLOAT, F16, 0),
        (F16, F16, DataType.FLOAT, 0),
        (BF16, F16, F16, 0),
        (BF16, BF16, F16, 561103),
    ],
)
def test_split_kernels_take_or_cast_the_statistics(
    make_bench: Callable[[str], Bench], mean: int, rstd: int, weight: int, status: int
) -> None:
    wide = tensor(2, 3, 4, data_type=F16)
    changes: dict[str, Value] = {
        "gradOut": wide,
        "input": wide,
        "mean": tensor(2, data_type=mean),
        "rstd": tensor(2, data_type=rstd),
        "weightOptional": tensor(3, 4, data_type=weight),
    }

    assert make_bench("Ascend310P3").check(OPERATOR, sound(**changes)).status == status


def test_results_wait_in_the_types_of_the_kernel(bench: Bench) -> None:
    wide = tensor(2, 1024, data_type=F16)
    narrow = tensor(1024)
    arguments = sound(
        gradOut=wide,
        input=wide,
        normalizedShape=IntArray((1024,)),
        mean=tensor(2),
        rstd=tensor(2),
        weightOptional=narrow,
        biasOptional=None,
        gradInputOut=tensor(2, 1024),
        gradWeightOut=narrow,
        gradBiasOut=narrow,
    )

    kernel = SYSTEM + 2 * 2 * 1024 * 4
    # 4096 bytes each and 32 bytes, in units of 512.
    assert bench.check(OPERATOR, arguments).workspace_size == kernel + 3 * 4608


def test_intermediate_tensors_cost_workspace(bench: Bench) -> None:
    plain = bench.check(OPERATOR, sound()).workspace_size
    strided = tensor(2, 3, 4, strides=(1, 2, 6), address=BASE)

    cases: list[tuple[dict[str, Value], int]] = [
        ({"input": strided}, 1),
        ({"input": strided, "gradOut": strided}, 2),
        ({"mean": tensor(2, 1, 1, data_type=F16)}, 1),
        ({"weightOptional": None}, 1),
        ({"outputMask": BoolArray((True, False, False))}, -2),
    ]
    for changes, slots in cases:
        grown = bench.check(OPERATOR, sound(**changes)).workspace_size - plain
        assert grown == slots * 512, changes
