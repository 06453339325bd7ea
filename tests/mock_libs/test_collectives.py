# SPDX-License-Identifier: Apache-2.0
"""HCCL between devices of one process: what each rank receives, against sums made here."""

from __future__ import annotations

import json
import sys
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.mock import libdir

from .programs import HERE

if TYPE_CHECKING:
    from .programs import Programs

RANKS, COUNT, ROOT = 3, 4, 1
TYPES = {
    **{f"int{8 * size}": (np.dtype(f"i{size}"), n) for size, n in ((1, 0), (2, 1), (4, 2), (8, 5))},
    **{
        f"uint{8 * size}": (np.dtype(f"u{size}"), n) for size, n in ((8, 6), (1, 7), (2, 8), (4, 9))
    },
    **{name: (np.dtype(name), n) for name, n in (("float16", 3), ("float32", 4), ("float64", 10))},
    "bfloat16": (np.dtype(ml_dtypes.bfloat16), 11),
}
REDUCTIONS = {"sum": (0, np.add), "prod": (1, np.multiply), "max": (2, np.maximum)}
REDUCTIONS["min"] = (3, np.minimum)

Array: TypeAlias = "np.ndarray[Any, Any]"
Call: TypeAlias = "dict[str, Any]"


def values(kind: str, rank: int, count: int) -> Array:
    """Return the data of a rank: exact in float16, with sums that reveal the order of addition."""
    dtype = TYPES[kind][0]
    if dtype.kind in "iu":
        return (np.arange(count) * 7 + 40 * rank + 1).astype(dtype)
    pattern = [0.1, -3.75, 2048.0, 1.0 / 3.0]
    return (np.resize(pattern, count) * (1.0, 0.37, -9.1)[rank] + rank).astype(dtype)


def in_rank_order(name: str, arrays: list[Array]) -> Array:
    """The first one first; float16 and bfloat16 in float32, rounded once."""
    own = arrays[0].dtype
    wide = np.dtype(np.float32) if own.itemsize == 2 and own.kind not in "iu" else own
    with np.errstate(all="ignore"):
        total = reduce(REDUCTIONS[name][1], [array.astype(wide) for array in arrays])
        return np.asarray(total.astype(own))


def call(rank: int, function: str, arguments: list[Any], send: Array, receive: Array) -> Call:
    return {
        "rank": rank,
        "function": function,
        "arguments": [*arguments, "comm", "stream"],
        "send": send.tobytes().hex(),
        "receive": receive.tobytes().hex(),
    }


Case: TypeAlias = "tuple[list[Call], list[Array]]"


def case(function: str, kind: str, arguments: list[Any], sent: int, expected: list[Array]) -> Case:
    """Operations of every rank, and their expected results."""
    blanks = [np.full(array.shape, 77, array.dtype) for array in expected]
    calls = [
        call(rank, function, arguments, values(kind, rank, sent), blanks[rank])
        for rank in range(RANKS)
    ]
    return calls, expected


def reducing(name: str, kind: str) -> Case:
    number, operation = TYPES[kind][1], REDUCTIONS[name][0]
    total = in_rank_order(name, [values(kind, rank, COUNT) for rank in range(RANKS)])
    arguments = ["send", "receive", COUNT, number, operation]
    return case("HcclAllReduce", kind, arguments, COUNT, [total] * RANKS)


def cases() -> dict[str, Case]:
    """Every operation by its name; AllReduce with every type and reduction."""
    kind, number, whole = "float32", TYPES["float32"][1], RANKS * COUNT
    each = [values(kind, rank, COUNT) for rank in range(RANKS)]
    wide = [values(kind, rank, whole) for rank in range(RANKS)]
    blank = np.full(COUNT, 77, np.float32)
    parts = [array.reshape(RANKS, COUNT) for array in wide]
    summed = in_rank_order("sum", wide).reshape(RANKS, COUNT)
    total = in_rank_order("sum", each)
    at_root = [total if rank == ROOT else blank for rank in range(RANKS)]
    crossed = [np.concatenate([p[rank] for p in parts]) for rank in range(RANKS)]
    ends = [*range(0, whole, COUNT)]
    some = [COUNT] * RANKS
    both = ["send", "receive", COUNT, number]
    listed = ["send", some, ends, number, "receive", some, ends, number]
    found = {
        f"AllReduce {name} {kind}": reducing(name, kind) for kind in TYPES for name in REDUCTIONS
    }
    return found | {
        "Reduce": case("HcclReduce", kind, [*both, 0, ROOT], COUNT, at_root),
        "ReduceScatter": case("HcclReduceScatter", kind, [*both, 0], whole, list(summed)),
        "AllGather": case("HcclAllGather", kind, both, COUNT, [np.concatenate(each)] * RANKS),
        "Scatter": case("HcclScatter", kind, [*both, ROOT], whole, list(parts[ROOT])),
        "AlltoAll": case(
            "HcclAlltoAll", kind, ["send", COUNT, number, "receive", COUNT, number], whole, crossed
        ),
        "AlltoAllV": case("HcclAlltoAllV", kind, listed, whole, crossed),
        "AllGatherV": case(
            "HcclAllGatherV",
            kind,
            ["send", COUNT, "receive", some, ends, number],
            COUNT,
            [np.concatenate(each)] * RANKS,
        ),
        "ReduceScatterV": case(
            "HcclReduceScatterV",
            kind,
            ["send", some, ends, "receive", COUNT, number, 0],
            whole,
            list(summed),
        ),
        "Broadcast": (
            [
                call(rank, "HcclBroadcast", ["receive", COUNT, number, ROOT], blank, each[rank])
                for rank in range(RANKS)
            ],
            [each[ROOT]] * RANKS,
        ),
        "AllReduce in place": (
            [
                call(
                    rank,
                    "HcclAllReduce",
                    ["receive", "receive", COUNT, number, 0],
                    blank,
                    each[rank],
                )
                for rank in range(RANKS)
            ],
            [total] * RANKS,
        ),
        "Barrier": case("HcclBarrier", kind, [], COUNT, [blank] * RANKS),
        "Send and Recv": (
            [
                call(0, "HcclSend", ["send", COUNT, number, 2], each[0], blank),
                call(2, "HcclRecv", ["receive", COUNT, number, 0], each[2], blank),
            ],
            [blank, each[0]],
        ),
    }


CASES = cases()


def told(
    programs: Programs, steps: list[Any], ranks: int = RANKS, **environment: str
) -> list[dict[str, Any]]:
    """Return the results of steps of ranks in one process."""
    command = [sys.executable, str(HERE / "ranks.py")]
    tell = {"ranks": ranks, "here": [*range(ranks)], "steps": steps}
    path = {"LD_LIBRARY_PATH": str(libdir()), "PYACLNN_MOCK_DEVICES": str(ranks)}
    done = programs.run(command, {**path, **environment}, given=json.dumps(tell))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["joined"] == 0, answer["text"]
    found: list[dict[str, Any]] = answer["answers"]
    return found


@pytest.fixture(scope="module")
def received(programs: Programs) -> dict[str, list[dict[str, Any]]]:
    """The answers to all cases, by the case."""
    answers = iter(told(programs, [calls for calls, _ in CASES.values()]))
    return {name: [next(answers) for _ in calls] for name, (calls, _) in CASES.items()}


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", CASES)
def test_every_rank_receives_what_it_should(
    name: str, received: dict[str, list[dict[str, Any]]]
) -> None:
    calls, expected = CASES[name]
    for told_, answer, right in zip(calls, received[name], expected, strict=True):
        assert (answer["status"], answer["synchronized"]) == (0, 0), answer["text"]
        assert answer["receive"] == right.tobytes().hex(), f"rank {told_['rank']}"


def test_what_is_sent_stays(received: dict[str, list[dict[str, Any]]]) -> None:
    for name, (calls, _) in CASES.items():
        assert [c["send"] for c in calls] == [a["send"] for a in received[name]], name


def test_the_order_of_the_sum_can_be_seen() -> None:
    arrays = [values("float32", rank, COUNT) for rank in range(RANKS)]
    assert (in_rank_order("sum", arrays) != in_rank_order("sum", arrays[::-1])).any()


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["eager", "shuffled:3"])
def test_the_order_of_streams_changes_nothing(mode: str, programs: Programs) -> None:
    steps = [calls for name, (calls, _) in CASES.items() if "AllReduce" not in name]
    right = [right for name, (_, e) in CASES.items() if "AllReduce" not in name for right in e]
    answers = told(programs, steps, PYACLNN_MOCK_MODE=mode)
    assert [a["receive"] for a in answers] == [array.tobytes().hex() for array in right]


def all_reduce(rank: int, **changed: int) -> Call:
    """AllReduce of one float32, as one rank calls it."""
    asked = {"count": 1, "type": 4, "reduction": 0} | changed
    ones = np.ones(COUNT, np.float32)
    arguments = ["send", "receive", asked["count"], asked["type"], asked["reduction"]]
    return call(rank, "HcclAllReduce", arguments, ones, ones)


def broadcast(rank: int, root: int) -> Call:
    ones = np.ones(COUNT, np.float32)
    return call(rank, "HcclBroadcast", ["receive", 1, 4, root], ones, ones)


MISMATCHES = {
    "AllReduce of 1 FP32 with SUM, rank 2 for AllReduce of 2 FP32": all_reduce(2, count=2),
    "AllReduce of 1 FP32 with SUM, rank 2 for AllReduce of 1 INT32": all_reduce(2, type=2),
    "with SUM, rank 2 for AllReduce of 1 FP32 with MAX": all_reduce(2, reduction=2),
    "rank 2 for Broadcast of 1 FP32 root 0": broadcast(2, 0),
}


REFUSED = {
    "there is no rank 3; the communicator has ranks 0 to 2": (broadcast(0, RANKS), 1),
    "the data type is 99": (all_reduce(0, type=99), 1),
    "the reduction is 4; it must be one of HcclReduceOp, 0 to 3": (all_reduce(0, reduction=4), 1),
    "what it sends is not 20000 bytes": (all_reduce(0, count=5000), 1),
    "the communicator is NULL": (
        {**all_reduce(0), "arguments": ["send", "receive", 1, 4, 0, 0, "stream"]},
        2,
    ),
    "stream is NULL": ({**all_reduce(0), "arguments": ["send", "receive", 1, 4, 0, "comm", 0]}, 2),
    "what it receives is NULL": (
        {**all_reduce(0), "arguments": ["send", 0, 1, 4, 0, "comm", "stream"]},
        2,
    ),
}
"""Text -> a call that is refused with it, and its result."""


ROOTS = "Broadcast of 1 FP32 root 1, rank 2 for Broadcast of 1 FP32 root 0"


def test_wrong_calls_are_answered_and_leave_the_communicator_whole(programs: Programs) -> None:
    steps = [[wrong] for wrong, _ in REFUSED.values()]
    steps += [[all_reduce(0), all_reduce(1), other] for other in MISMATCHES.values()]
    steps.append([broadcast(0, 1), broadcast(1, 1), broadcast(2, 0)])
    steps.append([all_reduce(rank) for rank in range(RANKS)])
    answers = told(programs, steps)
    for text, answer in zip(REFUSED, answers, strict=False):
        assert (answer["status"], answer["synchronized"]) == (REFUSED[text][1], 0), text
        assert text in answer["text"]
    mismatched = zip(*[iter(answers[len(REFUSED) : -RANKS])] * RANKS, strict=True)
    for text, step in zip([*MISMATCHES, ROOTS], mismatched, strict=True):
        for answer in step:
            assert (answer["status"], answer["synchronized"], answer["error"]) == (0, 507049, 1)
            assert text in answer["text"]
    assert {answer["synchronized"] for answer in answers[-RANKS:]} == {0}


FAULTS = {
    "HcclAllReduce:1=9": ([9, 0, 0], [0, 0, 0]),
    "HcclAllReduce:1=async:507015": ([0, 0, 0], [507015, 507057, 507057]),
    "HcclAllReduce:1=wrong": ([0, 0, 0], [0, 0, 0]),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_one_rank_is_injected(fault: str, programs: Programs) -> None:
    status, synchronized = FAULTS[fault]
    # A rank whose call was refused leaves the others waiting.
    step = [all_reduce(rank) for rank in range(RANKS if status[0] == 0 else 1)]
    answers = told(programs, [step], PYACLNN_MOCK_FAULTS=fault)
    assert [answer["status"] for answer in answers] == status[: len(step)]
    assert [answer["synchronized"] for answer in answers] == synchronized[: len(step)]
    if fault.endswith("wrong"):
        sums = [np.frombuffer(bytes.fromhex(a["receive"]), np.float32)[0] for a in answers]
        assert [value == RANKS for value in sums] == [False, True, True]
