# SPDX-License-Identifier: Apache-2.0
"""Operators of the ranks of a group: of one process, of several, and of a group of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from .test_collectives import told
from .test_ranks_of_several_processes import world  # noqa: F401  # a fixture

if TYPE_CHECKING:
    from .programs import Programs
    from .test_ranks_of_several_processes import World

FLOAT16 = 1
LEFT = [np.arange(6).reshape(2, 3), np.full((2, 3), 2)]
RIGHT = [np.eye(3, 2), np.array([[1, 0], [0, 1], [3, 3]])]
PRODUCTS = [np.array([[0, 1], [3, 4]]), np.array([[8, 8], [8, 8]])]
"""By hand."""


def tensor(array: Any) -> dict[str, Any]:
    content = np.ascontiguousarray(array, np.float16)
    return {"dims": content.shape, "type": FLOAT16, "content": content.tobytes().hex()}


def product(rank: int, group: str = "group", rows: int = 2) -> dict[str, Any]:
    """aclnnMatmulAllReduce, as one rank calls it."""
    matrices = [*map(tensor, (LEFT[rank], RIGHT[rank]))]
    arguments = [*matrices, None, group, "sum", 0, 1, tensor(np.full((rows, 2), 7))]
    return {"rank": rank, "function": "aclnnMatmulAllReduce", "arguments": arguments}


def gathered(rank: int) -> dict[str, Any]:
    """aclnnAllGatherMatmul, as one rank calls it."""
    matrices = [*map(tensor, (LEFT[rank], RIGHT[rank]))]
    results = [*map(tensor, (np.zeros((4, 2)), np.zeros((4, 3))))]
    arguments = [*matrices, None, "group", 0, 0, 1, *results]
    return {"rank": rank, "function": "aclnnAllGatherMatmul", "arguments": arguments}


def numbers(answer: dict[str, Any], place: int = -1) -> list[float]:
    assert (answer["status"], answer["synchronized"]) == (0, 0), answer["text"]
    found = np.frombuffer(bytes.fromhex(answer["tensors"][place]), np.float16)
    return [float(number) for number in found]


def flat(array: Any) -> list[float]:
    return [float(number) for number in np.ravel(array)]


def test_ranks_of_one_process_sum_their_products(programs: Programs) -> None:
    answers = told(programs, [[product(0), product(1)]] * 2, ranks=2)
    assert [numbers(answer) for answer in answers] == [flat(sum(PRODUCTS))] * 4


def test_ranks_of_several_processes_sum_their_products(world: World) -> None:  # noqa: F811
    answers = world([[product(0)]], [[product(1)]])
    assert [numbers(answer["answers"][0]) for answer in answers] == [flat(sum(PRODUCTS))] * 2


@pytest.mark.exhaustive
def test_a_group_of_one_has_its_own_product(world: World) -> None:  # noqa: F811
    (answer,) = world([[product(0)]], ranks=1)
    assert numbers(answer["answers"][0]) == flat(PRODUCTS[0])


@pytest.mark.exhaustive
def test_rows_of_all_ranks_are_gathered(programs: Programs) -> None:
    answers = told(programs, [[gathered(0), gathered(1)]], ranks=2)
    rows = np.concatenate(LEFT)
    assert [numbers(answer) for answer in answers] == [flat(rows)] * 2
    products = [flat(rows @ matrix) for matrix in RIGHT]
    assert [numbers(answer, -2) for answer in answers] == products


def test_wrong_calls_are_refused_and_leave_the_group_whole(programs: Programs) -> None:
    answers = told(
        programs,
        [
            [product(0, group="nobody")],
            [product(0, rows=3)],
            [product(0), gathered(1)],
            [product(0), product(1)],
        ],
        ranks=2,
    )
    unknown, misfit, one, other, *last = answers
    assert unknown["status"] == 561002
    assert "its group has no communicator" in unknown["text"]
    assert misfit["status"] == 161002
    assert "output has shape (3, 2); the result has (2, 2)" in misfit["text"]
    for answer in (one, other):
        assert answer["synchronized"] == 507049
        asked = "rank 0 asks for aclnnMatmulAllReduce, rank 1 for aclnnAllGatherMatmul"
        assert asked in answer["text"]
    assert [numbers(answer) for answer in last] == [flat(sum(PRODUCTS))] * 2


@pytest.mark.exhaustive
def test_a_fault_of_one_rank_is_injected(programs: Programs) -> None:
    fault = "aclnnMatmulAllReduce:1=wrong"
    answers = told(programs, [[product(0), product(1)]], ranks=2, PYACLNN_MOCK_FAULTS=fault)
    assert [numbers(answer) == flat(sum(PRODUCTS)) for answer in answers] == [False, True]
