# SPDX-License-Identifier: Apache-2.0
"""A kernel that fails on its data names the argument and the element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import Tensor

from .test_kernels import VECTORS, Stage, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .bench import Bench

HUGE = 123_457


def integer_parameters() -> Iterator[tuple[Any, str]]:
    """The vector of each operator that has elements of integers, and the parameter."""
    seen = set()
    for vector in VECTORS:
        for name, value in vector["given"].items():
            key = (vector["operator"], name)
            if key in seen or not is_tensor(value):
                continue
            ((word, numbers),) = value.items()
            if word in {"i32", "i64"} and np.size(numbers):
                seen.add(key)
                yield vector, name


PLACES = {f"{vector['operator']}.{name}": (vector, name) for vector, name in integer_parameters()}


def answer_to(bench: Bench, vector: Any, name: str, element: int) -> tuple[int, str]:
    """The status and the text of a call of which one element is another one."""
    stage = Stage(bench, vector)
    tensor = stage.arguments[name]
    assert isinstance(tensor, Tensor)
    bench.write(tensor, (0,) * tensor.rank, element)
    assert bench.check(vector["operator"], stage.arguments).status == 0
    reply = bench.run(vector["operator"], stage.arguments)
    return reply.status, reply.text


@pytest.mark.sampled(20)
@pytest.mark.parametrize("element", [HUGE, -HUGE])
@pytest.mark.parametrize("place", PLACES)
def test_a_number_that_a_kernel_fails_on_is_named(place: str, element: int, bench: Bench) -> None:
    vector, name = PLACES[place]
    status, text = answer_to(bench, vector, name, element)
    assert status in {0, 507015}
    assert status == 0 or (name in text and str(element) in text), text


BOUNDED = {
    "aclnnEmbedding.indices": "[0, 2]",
    "aclnnEmbeddingBag.indices": "[0, 4]",
    "aclnnMaxUnpool2d.indices": "[0, 23]",
    "aclnnMaxUnpool3dBackward.indices": "[0, 31]",
    "aclnnNLLLoss.target": "[0, 2]",
    "aclnnCrossEntropyLoss.target": "[0, 3]",
}


@pytest.mark.parametrize("element", [HUGE, -1])
@pytest.mark.parametrize("place", BOUNDED)
def test_an_index_outside_is_told_its_bound(place: str, element: int, bench: Bench) -> None:
    vector, name = PLACES[place]
    status, text = answer_to(bench, vector, name, element)
    assert status == 507015
    assert f"{name} has an element {element}; it must be in {BOUNDED[place]}" in text


WRAPPED = {"aclnnGatherNd.indices": "[0, 2]", "aclnnScatterNd.indices": "[0, 3]"}
"""No source states what -1 is for these."""


@pytest.mark.parametrize("place", WRAPPED)
def test_an_index_that_numpy_refuses_is_told_its_bound(place: str, bench: Bench) -> None:
    vector, name = PLACES[place]
    status, text = answer_to(bench, vector, name, HUGE)
    assert status == 507015
    assert f"{name} has an element {HUGE}; it must be in {WRAPPED[place]}" in text


def test_an_error_of_numpy_is_told_with_shapes_and_bounds(bench: Bench) -> None:
    counted = bench.put(np.array([2, -1, 7]), DATA_TYPES["INT32"])
    out = bench.empty(8, data_type=DATA_TYPES["INT64"])
    given: dict[str, Any] = {"self": counted, "weights": None, "minlength": 8, "out": out}
    reply = bench.run("aclnnBincount", given)
    assert reply.status == 507015
    assert "self has shape [3] and elements from -1 to 7" in reply.text, reply.text


def test_a_singular_matrix_is_a_fault_of_the_kernel(bench: Bench) -> None:
    reply = bench.run(
        "aclnnInverse", {"self": bench.put(np.zeros((2, 2))), "out": bench.empty(2, 2)}
    )
    assert (reply.status, "Singular" in reply.text) == (507015, True)
