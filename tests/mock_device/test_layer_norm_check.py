# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of aclnnLayerNorm and aclnnLayerNormWithImplMode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock.dtypes import DataType, Format
from pyaclnn.mock.values import Flag, IntArray, Value
from pyaclnn.mock.wire import CheckReply

from .bench import Bench, Row, later_rows, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATOR = "aclnnLayerNormWithImplMode"
F16, BF16, F64 = DataType.FLOAT16, DataType.BF16, DataType.DOUBLE
NINE = (1,) * 9
SYSTEM = 16 << 20


def sound(**changes: Value) -> dict[str, Value]:
    arguments: dict[str, Value] = {
        "input": tensor(2, 3, 8),
        "normalizedShape": IntArray((3, 8)),
        "weightOptional": tensor(3, 8),
        "biasOptional": tensor(3, 8),
        "eps": 1e-5,
        "out": tensor(2, 3, 8),
        "meanOutOptional": tensor(2, 1, 1),
        "rstdOutOptional": tensor(2, 1, 1),
        "implMode": 0,
    }
    assert set(changes) <= set(arguments)
    return arguments | changes


def without_mode(**changes: Value) -> dict[str, Value]:
    arguments = sound(**changes)
    del arguments["implMode"]
    return arguments


def null(name: str) -> Row:
    return Row(f"{name} null", {name: None}, 161001, f"{name} is NULL")


def typed(name: str, *dims: int) -> Row:
    changes = {name: tensor(*dims, data_type=F64)}
    return Row(f"{name} double", changes, 161002, f"{name} has data type DOUBLE; it must be one of")


def deep(name: str) -> Row:
    text = f"{name} has 9 dimensions, shape [1,1,1,1,1,1,1,1,1]; it must have at most 8"
    return Row(f"{name} rank 9", {name: tensor(*NINE)}, 161002, text)


def shaped(name: str, *dims: int) -> Row:
    text = f"{name} has shape [{','.join(map(str, dims))}]"
    return Row(f"{name} shape", {name: tensor(*dims)}, 161002, text)


ROWS = [
    Row("workspace pointer", {}, 161001, "workspaceSize is NULL", Flag.NO_WORKSPACE_POINTER),
    Row("executor pointer", {}, 161001, "executor is NULL", Flag.NO_EXECUTOR_POINTER),
    null("input"),
    null("normalizedShape"),
    null("out"),
    typed("input", 2, 3, 8),
    typed("weightOptional", 3, 8),
    Row(
        "weight of another type",
        {"weightOptional": tensor(3, 8, data_type=F16)},
        161002,
        "weightOptional has data type FLOAT16; it must be FLOAT",
    ),
    typed("biasOptional", 3, 8),
    Row(
        "bias of another type",
        {"biasOptional": tensor(3, 8, data_type=BF16)},
        161002,
        "biasOptional has data type BF16; it must be FLOAT",
    ),
    typed("out", 2, 3, 8),
    typed("meanOutOptional", 2, 1, 1),
    typed("rstdOutOptional", 2, 1, 1),
    Row(
        "private format",
        {"input": tensor(2, 3, 8, form=Format.NC1HWC0)},
        161002,
        "input has format NC1HWC0",
    ),
    deep("input"),
    deep("out"),
    deep("weightOptional"),
    deep("biasOptional"),
    deep("meanOutOptional"),
    deep("rstdOutOptional"),
    Row("nine axes", {"normalizedShape": IntArray(NINE)}, 161002, "normalizedShape has 9"),
    Row("no axes", {"normalizedShape": IntArray(())}, 161002, "normalizedShape is empty"),
    Row(
        "more axes than input",
        {"normalizedShape": IntArray((1, 2, 3, 8))},
        161002,
        "input has 3 dimensions",
    ),
    Row("weight rank", {"weightOptional": tensor(8)}, 161002, "weightOptional has 1 dimensions"),
    Row("bias rank", {"biasOptional": tensor(8)}, 161002, "biasOptional has 1 dimensions"),
    Row(
        "first axis of normalizedShape",
        {"normalizedShape": IntArray((4, 8))},
        161002,
        "normalizedShape is [4,8]",
    ),
    Row(
        "last axis of normalizedShape",
        {"normalizedShape": IntArray((3, 9))},
        161002,
        "normalizedShape is [3,9]",
    ),
    shaped("weightOptional", 3, 7),
    shaped("biasOptional", 2, 8),
    shaped("out", 2, 24),
    Row("implMode 3", {"implMode": 3}, 161002, "implMode is 3"),
    Row("implMode -1", {"implMode": -1}, 161002, "implMode is -1"),
    Row("implMode 2", {"implMode": 2}, 161002, "input has data type FLOAT; with implMode 2"),
    Row(
        "mean without a place for every row",
        {"meanOutOptional": tensor(3)},
        561103,
        "meanOutOptional has 3 elements",
    ),
    Row(
        "rstd without a place for every row",
        {"rstdOutOptional": tensor(1)},
        561103,
        "rstdOutOptional has 1 elements",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_broken_rule_is_refused(bench: Bench, row: Row) -> None:
    reply = bench.check(OPERATOR, sound(**row.changes), row.flags)

    assert reply.status == row.status
    assert reply.text.startswith("EZ")
    assert row.text in reply.text
    assert (reply.executor_kind, reply.output_count) == (0, 4)
    assert (reply.launches, reply.workspace_size) == (0, 0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_earlier_of_two_broken_rules_answers(bench: Bench, row: Row) -> None:
    for other in later_rows(ROWS, row):
        changes = {**row.changes, **other.changes}
        reply = bench.check(OPERATOR, sound(**changes), row.flags | other.flags)

        assert (reply.status, row.text in reply.text) == (row.status, True), (other, reply)


def test_weight_and_bias_must_have_one_type(bench: Bench) -> None:
    half = tensor(2, 3, 8, data_type=F16)
    reply = bench.check(OPERATOR, sound(input=half, weightOptional=tensor(3, 8, data_type=F16)))

    assert reply.status == 161002
    assert "biasOptional has data type FLOAT; it must be FLOAT16, that of weight" in reply.text


@pytest.mark.parametrize("name", ["input", "weightOptional", "biasOptional"])
def test_keeping_float16_needs_float16(bench: Bench, name: str) -> None:
    halves: dict[str, Value] = {
        "input": tensor(2, 3, 8, data_type=F16),
        "weightOptional": tensor(3, 8, data_type=F16),
        "biasOptional": tensor(3, 8, data_type=F16),
        "implMode": 2,
    }
    assert bench.check(OPERATOR, sound(**halves)).status == 0
    if name != "input":
        halves["weightOptional"] = halves["biasOptional"] = None
        halves[name] = tensor(3, 8)
        reply = bench.check(OPERATOR, sound(**halves))
        assert (reply.status, f"{name} has data type FLOAT; with" in reply.text) == (161002, True)


def test_the_sound_call_is_accepted(bench: Bench) -> None:
    # Slots for the result of 192 bytes and for each statistic.
    workspace = SYSTEM + 3 * 512

    assert bench.check("aclnnLayerNorm", without_mode()) == CheckReply(0, 0, 3, 1, workspace)
    # implMode follows the outputs.
    assert bench.check(OPERATOR, sound()) == CheckReply(0, 0, 4, 1, workspace)


ACCEPTED = [
    ("no weight and bias", {"weightOptional": None, "biasOptional": None}),
    ("no statistics", {"meanOutOptional": None, "rstdOutOptional": None}),
    ("one statistic", {"meanOutOptional": None}),
    ("empty statistics", {"meanOutOptional": tensor(0), "rstdOutOptional": tensor(0)}),
    ("any output type", {"out": tensor(2, 3, 8, data_type=F16)}),
    ("any statistic type", {"meanOutOptional": tensor(2, 1, 1, data_type=BF16)}),
    ("any statistic shape", {"meanOutOptional": tensor(2), "rstdOutOptional": tensor(1, 2)}),
    ("a negative eps", {"eps": -1.0}),
]


@pytest.mark.parametrize("changes", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_what_cann_does_not_check_is_accepted(bench: Bench, changes: dict[str, Value]) -> None:
    reply = bench.check(OPERATOR, sound(**changes))

    assert (reply.status, reply.launches, reply.text) == (0, 1, "")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"meanOutOptional": tensor(2)}, "meanOutOptional has shape [2]"),
        ({"rstdOutOptional": tensor(2, 1)}, "rstdOutOptional has shape [2,1]"),
        ({"rstdOutOptional": tensor(0)}, "rstdOutOptional has shape [0]"),
    ],
)
def test_the_950_looks_at_the_shape_of_statistics(
    make_bench: Callable[[str], Bench], changes: dict[str, Value], text: str
) -> None:
    bench = make_bench("Ascend950PR_9579")

    assert bench.check(OPERATOR, sound()).status == 0
    assert bench.check(OPERATOR, sound(meanOutOptional=None)).status == 0
    assert bench.check(OPERATOR, sound(rstdOutOptional=None)).status == 0
    reply = bench.check(OPERATOR, sound(**changes))
    assert (reply.status, text in reply.text) == (161002, True)


@pytest.mark.parametrize(
    ("soc_name", "status"),
    [
        ("Ascend910B4", 0),
        ("Ascend910_9362", 0),
        ("Ascend950PR_9579", 0),
        ("Ascend310P3", 161002),
        ("Ascend910A", 161002),
        ("Ascend310B1", 161002),
    ],
)
def test_bfloat16_by_chip(make_bench: Callable[[str], Bench], soc_name: str, status: int) -> None:
    bench = make_bench(soc_name)

    assert bench.check(OPERATOR, sound()).status == 0
    wide = tensor(2, 3, 8, data_type=BF16)
    assert bench.check(OPERATOR, sound(input=wide)).status == status


@pytest.mark.parametrize(
    ("rows", "columns", "mean", "launches"),
    [(0, 8, True, 0), (3, 0, True, 1), (3, 0, False, 0), (0, 0, True, 0)],
)
def test_empty_problems_need_no_workspace(
    bench: Bench, rows: int, columns: int, mean: bool, launches: int
) -> None:
    arguments = sound(
        input=tensor(rows, columns),
        normalizedShape=IntArray((columns,)),
        weightOptional=None,
        biasOptional=None,
        out=tensor(rows, columns),
        meanOutOptional=tensor(rows, 1) if mean else None,
        rstdOutOptional=None,
    )

    assert bench.check(OPERATOR, arguments) == CheckReply(0, 0, 4, launches, 0)


def test_intermediate_tensors_cost_workspace(
    make_bench: Callable[[str], Bench],
) -> None:
    a2, regbase = make_bench("Ascend910B1"), make_bench("Ascend950PR_9579")
    plain = SYSTEM + 3 * 512
    missing: dict[str, Value] = {"weightOptional": None, "biasOptional": None}

    strided = sound(input=tensor(2, 3, 8, strides=(24, 1, 3)))
    assert a2.check(OPERATOR, strided).workspace_size == plain + 512
    # Ones and zeros stand in for them, except where the kernel knows what null means.
    assert a2.check(OPERATOR, sound(**missing)).workspace_size == plain + 2 * 512
    assert regbase.check(OPERATOR, sound(**missing)).workspace_size == plain
