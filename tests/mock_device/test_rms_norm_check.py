# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of aclnnRmsNorm and aclnnRmsNormGrad: kernel lookup and tiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock.dtypes import DataType, Format
from pyaclnn.mock.values import Flag, Value
from pyaclnn.mock.wire import CheckReply

from .bench import Bench, Row, later_rows, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

FORWARD, BACKWARD = "aclnnRmsNorm", "aclnnRmsNormGrad"
F32, F16, BF16, F64 = DataType.FLOAT, DataType.FLOAT16, DataType.BF16, DataType.DOUBLE
NINE = (1,) * 9
SYSTEM = 16 << 20


def forward(**changes: Value) -> dict[str, Value]:
    arguments: dict[str, Value] = {
        "x": tensor(2, 3, 4, 8),
        "gamma": tensor(4, 8),
        "epsilon": 1e-6,
        "yOut": tensor(2, 3, 4, 8),
        "rstdOut": tensor(2, 3, 1, 1),
    }
    assert set(changes) <= set(arguments)
    return arguments | changes


def backward(**changes: Value) -> dict[str, Value]:
    arguments: dict[str, Value] = {
        "dy": tensor(2, 3, 4, 8),
        "x": tensor(2, 3, 4, 8),
        "rstd": tensor(2, 3),
        "gamma": tensor(4, 8),
        "dxOut": tensor(2, 3, 4, 8),
        "dgammaOut": tensor(4, 8),
    }
    assert set(changes) <= set(arguments)
    return arguments | changes


SOUND: dict[str, Callable[..., dict[str, Value]]] = {FORWARD: forward, BACKWARD: backward}


def null(name: str) -> Row:
    return Row(f"{name} null", {name: None}, 161001, f"{name} is NULL")


def tiling(name: str, text: str, **changes: Value) -> Row:
    return Row(name, changes, 561002, text)


POINTERS = [
    Row("executor pointer", {}, 161001, "executor is NULL", Flag.NO_EXECUTOR_POINTER),
    Row("workspace pointer", {}, 161001, "workspaceSize is NULL", Flag.NO_WORKSPACE_POINTER),
]
FORWARD_ROWS = [
    null("x"),
    null("gamma"),
    null("yOut"),
    null("rstdOut"),
    *POINTERS,
    Row(
        "private format",
        {"yOut": tensor(2, 3, 4, 8, form=Format.FRACTAL_NZ)},
        161002,
        "yOut has format FRACTAL_NZ",
    ),
    Row(
        "no kernel for the types",
        {"gamma": tensor(4, 8, data_type=F64)},
        161002,
        "RmsNorm has no kernel for",
    ),
    tiling("x rank 0", "x has 0 dimensions", x=tensor()),
    tiling("x rank 9", "x has 9 dimensions", x=tensor(*NINE)),
    tiling("gamma rank 0", "gamma has 0 dimensions", gamma=tensor()),
    tiling("gamma rank 9", "gamma has 9 dimensions", gamma=tensor(*NINE)),
    tiling("gamma longer than x", "gamma has 5 dimensions", gamma=tensor(1, 2, 3, 4, 8)),
    tiling("y rank", "yOut has 3 dimensions", yOut=tensor(6, 4, 8)),
    tiling("gamma dim 0", "gamma has 3 elements in dimension 0", gamma=tensor(3, 8)),
    tiling("gamma dim 1", "gamma has 4 elements in dimension 1", gamma=tensor(4, 4)),
    tiling("y dim", "yOut has 4 elements in dimension 1", yOut=tensor(2, 4, 4, 8)),
    tiling("rstd dim", "rstdOut has 3 elements in dimension 0", rstdOut=tensor(3, 3, 1, 1)),
    tiling("rstd dim 0", "rstdOut has 0 elements in dimension 1", rstdOut=tensor(2, 0)),
    tiling("rstd behind x", "rstdOut has 2 elements in dim", rstdOut=tensor(2, 3, 1, 1, 2)),
    tiling("negative epsilon", "epsilon is -1", epsilon=-1.0),
]
BACKWARD_ROWS = [
    null("dy"),
    null("x"),
    null("rstd"),
    null("gamma"),
    null("dxOut"),
    null("dgammaOut"),
    *POINTERS,
    Row(
        "private format",
        {"rstd": tensor(2, 3, form=Format.NC1HWC0)},
        161002,
        "rstd has format NC1HWC0",
    ),
    Row(
        "no kernel for the types",
        {"rstd": tensor(2, 3, data_type=F16)},
        161002,
        "RmsNormGrad has no kernel for",
    ),
    tiling("x rank 0", "x has 0 dimensions", x=tensor()),
    tiling("x rank 9", "x has 9 dimensions", x=tensor(*NINE)),
    tiling("gamma rank 0", "gamma has 0 dimensions", gamma=tensor()),
    tiling("gamma rank 9", "gamma has 9 dimensions", gamma=tensor(*NINE)),
    tiling("gamma longer than x", "gamma has 5 dimensions", gamma=tensor(1, 2, 3, 4, 8)),
    tiling("dy rank", "dy has 3 dimensions", dy=tensor(6, 4, 8)),
    tiling("dx rank", "dxOut has 3 dimensions", dxOut=tensor(6, 4, 8)),
    tiling("dgamma rank", "dgammaOut has 1 dimensions", dgammaOut=tensor(32)),
    tiling("dy dim 0", "dy has 5 elements in dimension 0", dy=tensor(5, 3, 4, 8)),
    tiling("dx dim 0", "dxOut has 5 elements in dimension 0", dxOut=tensor(5, 3, 4, 8)),
    tiling("dy dim 3", "dy has 9 elements in dimension 3", dy=tensor(2, 3, 4, 9)),
    tiling("dx dim 3", "dxOut has 9 elements in dimension 3", dxOut=tensor(2, 3, 4, 9)),
    tiling(
        "dy ends in 0",
        "the last dimension of dy is 0",
        dy=tensor(2, 3, 4, 0),
        x=tensor(2, 3, 4, 0),
        dxOut=tensor(2, 3, 4, 0),
    ),
    tiling("rstd dim", "rstd has 3 elements in dimension 0; x has 2", rstd=tensor(3, 2)),
    tiling("rstd lacks a dim", "rstd has 1 dimensions and x has 3", rstd=tensor(2)),
    tiling("gamma dim 0", "gamma has 3 elements in dimension 0", gamma=tensor(3, 8)),
    tiling("dgamma dim 0", "dgammaOut has 3 elements in dimension 0", dgammaOut=tensor(3, 8)),
    tiling("gamma dim 1", "gamma has 4 elements in dimension 1", gamma=tensor(4, 4)),
    tiling("dgamma dim 1", "dgammaOut has 4 elements in dim", dgammaOut=tensor(4, 4)),
    tiling("rstd size", "rstd has 12 elements; it must have one", rstd=tensor(2, 3, 2)),
]
ALL_ROWS = [(FORWARD, row) for row in FORWARD_ROWS] + [(BACKWARD, row) for row in BACKWARD_ROWS]
IDS = [f"{operator} {row.name}" for operator, row in ALL_ROWS]


@pytest.mark.parametrize(("operator", "row"), ALL_ROWS, ids=IDS)
def test_a_broken_rule_is_refused(bench: Bench, operator: str, row: Row) -> None:
    reply = bench.check(operator, SOUND[operator](**row.changes), row.flags)

    assert reply.status == row.status
    assert reply.text.startswith("EZ")
    assert row.text in reply.text
    assert (reply.executor_kind, reply.output_count) == (1, 2)
    assert (reply.launches, reply.workspace_size) == (0, 0)


@pytest.mark.parametrize(("operator", "row"), ALL_ROWS, ids=IDS)
def test_the_earlier_of_two_broken_rules_answers(bench: Bench, operator: str, row: Row) -> None:
    rows = FORWARD_ROWS if operator == FORWARD else BACKWARD_ROWS
    for other in later_rows(rows, row):
        changes = {**row.changes, **other.changes}
        reply = bench.check(operator, SOUND[operator](**changes), row.flags | other.flags)

        assert (reply.status, row.text in reply.text) == (row.status, True), (other, reply)


def test_with_both_pointers_missing_the_executor_is_named(bench: Bench) -> None:
    both = Flag.NO_EXECUTOR_POINTER | Flag.NO_WORKSPACE_POINTER

    assert "executor is NULL" in bench.check(FORWARD, forward(), both).text


Types = dict[str, list[tuple[int, ...]]]
FULL: Types = {
    FORWARD: [
        (F16, F32, F16, F32),
        (BF16, F32, BF16, F32),
        (F16, F16, F16, F32),
        (BF16, BF16, BF16, F32),
        (F32, F32, F32, F32),
    ],
    BACKWARD: [
        (F16, F16, F32, F32, F16, F32),
        (BF16, BF16, F32, F32, BF16, F32),
        (F16, F16, F32, F16, F16, F32),
        (F32, F32, F32, F32, F32, F32),
        (BF16, BF16, F32, BF16, BF16, F32),
    ],
}
NARROW: Types = {
    FORWARD: [(F16, F16, F16, F32), (F32, F32, F32, F32)],
    BACKWARD: [(F16, F16, F32, F16, F16, F32), (F32, F32, F32, F32, F32, F32)],
}
FAMILIES: dict[str, Types] = {
    "Ascend910B3": FULL,
    "Ascend910_9391": FULL,
    "Ascend950PR_9579": FULL,
    "Ascend310P3": NARROW,
    "Ascend910A": NARROW,
}


def with_types(operator: str, types: tuple[int, ...]) -> dict[str, Value]:
    """The sound call with 64 elements of gamma, which suits every chip, and these types."""
    shapes = {
        FORWARD: {"x": (3, 64), "gamma": (64,), "yOut": (3, 64), "rstdOut": (3, 1)},
        BACKWARD: {
            "dy": (3, 64),
            "x": (3, 64),
            "rstd": (3,),
            "gamma": (64,),
            "dxOut": (3, 64),
            "dgammaOut": (64,),
        },
    }[operator]
    return SOUND[operator](
        **{
            name: tensor(*dims, data_type=code)
            for (name, dims), code in zip(shapes.items(), types, strict=True)
        }
    )


@pytest.mark.parametrize("soc_name", FAMILIES)
@pytest.mark.parametrize("operator", [FORWARD, BACKWARD])
def test_data_types_by_chip(
    make_bench: Callable[[str], Bench], soc_name: str, operator: str
) -> None:
    bench = make_bench(soc_name)
    for types in FULL[operator]:
        expected = 0 if types in FAMILIES[soc_name][operator] else 161002
        assert bench.check(operator, with_types(operator, types)).status == expected


@pytest.mark.parametrize("operator", [FORWARD, BACKWARD])
def test_a_chip_that_is_not_configured(make_bench: Callable[[str], Bench], operator: str) -> None:
    bench = make_bench("Ascend310B1")

    for types in FULL[operator]:
        assert bench.check(operator, with_types(operator, types)).status == 561003
    wrong = (F64,) * len(FULL[operator][0])
    assert bench.check(operator, with_types(operator, wrong)).status == 161002


@pytest.mark.parametrize("operator", [FORWARD, BACKWARD])
@pytest.mark.parametrize(
    "form", [Format.ND, Format.NCHW, Format.NHWC, Format.NCDHW, Format.NDHWC, Format.NCL]
)
def test_view_formats_are_taken_as_nd(bench: Bench, operator: str, form: Format) -> None:
    arguments = SOUND[operator](x=tensor(2, 3, 4, 8, form=form))

    assert bench.check(operator, arguments).status == 0


@pytest.mark.parametrize(
    ("dims", "rstd"),
    [
        ((2, 1, 16), (2,)),
        ((1, 1, 16), ()),
        ((2, 3, 16), (2, 3)),
        ((2, 3, 16), (2, 3, 1)),
        ((2, 3, 16), (2, 3, 1, 1, 1)),
        ((16,), ()),
        ((16,), (1,)),
    ],
)
def test_shapes_of_rstd_that_are_taken(
    bench: Bench, dims: tuple[int, ...], rstd: tuple[int, ...]
) -> None:
    wide, narrow = tensor(*dims), tensor(16)
    arguments = backward(
        dy=wide, x=wide, rstd=tensor(*rstd), gamma=narrow, dxOut=wide, dgammaOut=narrow
    )

    assert bench.check(BACKWARD, arguments).status == 0


def test_gamma_may_span_all_of_eight_dimensions(bench: Bench) -> None:
    deep = tensor(*NINE[:8])
    norm = forward(x=deep, gamma=deep, yOut=deep, rstdOut=deep, epsilon=0.0)
    grad = backward(dy=deep, x=deep, rstd=tensor(), gamma=deep, dxOut=deep, dgammaOut=deep)

    assert bench.check(FORWARD, norm).status == 0
    assert bench.check(BACKWARD, grad).status == 0


def two_dimensional(rows: int, columns: int) -> dict[str, Value]:
    wide, narrow = tensor(rows, columns), tensor(columns)
    return backward(dy=wide, x=wide, rstd=tensor(rows), gamma=narrow, dxOut=wide, dgammaOut=narrow)


@pytest.mark.parametrize(
    ("soc_name", "rows", "columns", "status", "launches"),
    [
        ("Ascend910B3", 0, 8, 561002, 0),
        ("Ascend310P3", 0, 8, 561002, 0),
        ("Ascend950PR_9579", 0, 8, 0, 1),
        ("Ascend910B3", 3, 0, 0, 0),
        ("Ascend910B3", 0, 0, 0, 0),
        ("Ascend910A", 3, 64, 0, 1),
        ("Ascend910A", 3, 128, 0, 1),
        ("Ascend910A", 3, 32, 561002, 0),
        ("Ascend310P3", 3, 4, 0, 1),
    ],
)
def test_sizes_by_chip(
    make_bench: Callable[[str], Bench],
    soc_name: str,
    rows: int,
    columns: int,
    status: int,
    launches: int,
) -> None:
    reply = make_bench(soc_name).check(BACKWARD, two_dimensional(rows, columns))

    assert (reply.status, reply.launches) == (status, launches)


@pytest.mark.parametrize(
    ("x", "gamma", "rstd", "status"),
    [((0, 8), (8,), (0, 1), 0), ((3, 0), (0,), (3, 1), 561002), ((3, 0), (0,), (0,), 0)],
)
def test_empty_forward(
    bench: Bench, x: tuple[int, ...], gamma: tuple[int, ...], rstd: tuple[int, ...], status: int
) -> None:
    arguments = forward(x=tensor(*x), gamma=tensor(*gamma), yOut=tensor(*x), rstdOut=tensor(*rstd))
    reply = bench.check(FORWARD, arguments)

    assert (reply.status, reply.launches, reply.workspace_size) == (status, 0, 0)


def test_empty_outputs_are_not_tiled(bench: Bench) -> None:
    arguments = backward(dxOut=tensor(0), dgammaOut=tensor(5, 0), dy=tensor(7), gamma=tensor())

    assert bench.check(BACKWARD, arguments) == CheckReply(0, 1, 2, 0, 0)


def test_rows_are_counted_in_32_bits(make_bench: Callable[[str], Bench]) -> None:
    huge = tensor(2**16, 2**16, 8)
    arguments = backward(
        dy=huge,
        x=huge,
        rstd=tensor(2**16, 2**16),
        gamma=tensor(8),
        dxOut=huge,
        dgammaOut=tensor(8),
    )

    reply = make_bench("Ascend910B3").check(BACKWARD, arguments)

    assert (reply.status, "x has no rows" in reply.text) == (561002, True)


def test_workspace(bench: Bench) -> None:
    assert bench.check(FORWARD, forward()).workspace_size == SYSTEM
    # Six rows on six of forty cores; in deterministic mode every core keeps a row of 32.
    assert bench.check(BACKWARD, backward()).workspace_size == SYSTEM + 8 * 6 * 4
    flags = Flag.DETERMINISTIC
    assert bench.check(BACKWARD, backward(), flags).workspace_size == SYSTEM + (32 + 8) * 6 * 4
    many = two_dimensional(100, 5)
    assert bench.check(BACKWARD, many, flags).workspace_size == SYSTEM + (8 + 8) * 40 * 4
    strided = backward(x=tensor(2, 3, 4, 8, strides=(1, 2, 6, 24)))
    # 192 floats and 32 bytes, in units of 512.
    assert bench.check(BACKWARD, strided).workspace_size == SYSTEM + 8 * 6 * 4 + 1024
