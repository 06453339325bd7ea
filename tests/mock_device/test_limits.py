# SPDX-License-Identifier: Apache-2.0
"""Ranks and data types that every operator without a description refuses."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.operators.call_rules import call_rules
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, type_word
from pyaclnn.mock.protocol.values import Scalar, Tensor, TensorList, Value

from .test_kernels import VECTORS, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .bench import Bench

VECTOR_OF = {vector["operator"]: vector for vector in reversed(VECTORS)}
WITHOUT_ARRAY = ("STRING", "UINT1", "HIFLOAT8", "FLOAT4_E1M2")
WIDENED = ("INT4", "COMPLEX32")
"""Types that are computed in arrays of wider elements."""
NOT_IMPLEMENTED = 999001


def changed(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    """Change a tensor, or the first one of a list."""
    if isinstance(value, TensorList):
        first, *others = value.items
        assert first is not None
        return TensorList((change(first), *others))
    assert isinstance(value, Tensor)
    return change(value)


def with_nine_axes(given: Tensor) -> Tensor:
    dims = (1,) * (9 - given.rank) + given.dims
    return replace(given, dims=dims, strides=(1,) * (9 - given.rank) + given.strides)


def each_tensor(arguments: dict[str, Value]) -> Iterator[str]:
    for name, value in arguments.items():
        if isinstance(value, (Tensor, TensorList)):
            yield name


Wrong = list[tuple[str, int, str]]
"""Parameters of an operator that were not refused as they should be, with the answers."""


def of_all(check: Callable[[str, Bench], Iterator[tuple[str, int, str]]], bench: Bench) -> Wrong:
    """Try every operator, and list what went wrong with the operator's name."""
    wrong: Wrong = []
    for name in VECTOR_OF:
        bench.clear()
        wrong.extend((f"{name}.{of}", status, text) for of, status, text in check(name, bench))
    return wrong


def accepted_nine_axes(name: str, bench: Bench) -> Iterator[tuple[str, int, str]]:
    arguments = Stage(bench, VECTOR_OF[name]).arguments
    if (reply := bench.check(name, arguments)).status != 0:
        yield "", reply.status, reply.text
    rules = call_rules(name)
    limits = dict(zip(arguments, rules.parameters if rules else [], strict=rules is not None))
    for of in each_tensor(arguments):
        if of in limits and limits[of].axes > 8:  # CANN lets nine through
            continue
        reply = bench.check(name, arguments | {of: changed(arguments[of], with_nine_axes)})
        if (reply.status, f"{of} has 9 dim" in reply.text) != (161002, True):
            yield of, reply.status, reply.text


def test_nine_axes_are_refused(bench: Bench) -> None:
    assert of_all(accepted_nine_axes, bench) == []


LINKED = {"aclnnFFN", "aclnnFFNV2", "aclnnFFNV3", "aclnnStridedSlice"}
"""Operators that refuse such a type because another tensor has not the same one."""


def accepted_without_arrays(name: str, bench: Bench) -> Iterator[tuple[str, int, str]]:
    arguments = Stage(bench, VECTOR_OF[name]).arguments
    rules = call_rules(name)
    assert rules is not None
    for word in WITHOUT_ARRAY:
        code = DATA_TYPES[word]
        for of, rule in zip(arguments, rules.parameters, strict=True):
            if of not in each_tensor(arguments):
                continue
            accepted = rule.types("910b", bfloat16=True)
            unsure = accepted is None or (type_word(code) in accepted and name not in LINKED)
            expected = NOT_IMPLEMENTED if unsure else 161002
            odd = changed(arguments[of], lambda given: replace(given, data_type=code))  # noqa: B023
            reply = bench.check(name, arguments | {of: odd})
            if (reply.status, word in reply.text) != (expected, True):
                yield of, reply.status, reply.text


def test_a_type_without_arrays_is_refused(bench: Bench) -> None:
    assert of_all(accepted_without_arrays, bench) == []


def mistaken_widened(name: str, bench: Bench) -> Iterator[tuple[str, int, str]]:
    arguments = Stage(bench, VECTOR_OF[name]).arguments
    rules = call_rules(name)
    assert rules is not None
    for word, (of, rule) in product(WIDENED, zip(arguments, rules.parameters, strict=True)):
        if of not in each_tensor(arguments):
            continue
        code = DATA_TYPES[word]
        accepted = rule.types("910b", bfloat16=True)
        odd = changed(arguments[of], lambda given: replace(given, data_type=code))  # noqa: B023
        reply = bench.check(name, arguments | {of: odd})
        if accepted is None or type_word(code) in accepted:
            right = reply.status in {0, 161002, NOT_IMPLEMENTED} and "KeyError" not in reply.text
        else:
            right = reply.status == 161002 and word in reply.text
        if not right:
            yield of, reply.status, reply.text


def test_a_type_of_wider_arrays_is_computed_or_refused(bench: Bench) -> None:
    assert of_all(mistaken_widened, bench) == []


@pytest.mark.parametrize("name", ["aclnnConstantPadNd", "aclnnCast", "aclnnCat"])
def test_a_type_without_arrays_that_cann_takes_and_is_not_just_moved_has_no_kernel(
    name: str, make_bench: Callable[[str], Bench]
) -> None:
    bench = make_bench("Ascend950PR_9579")
    arguments = Stage(bench, VECTOR_OF[name]).arguments
    odd = {
        of: changed(arguments[of], lambda t: replace(t, data_type=DATA_TYPES["HIFLOAT8"]))
        for of in each_tensor(arguments)
    }
    reply = bench.check(name, arguments | odd)
    assert (reply.status, "HIFLOAT8" in reply.text) == (NOT_IMPLEMENTED, True), reply.text
    assert f'@pyaclnn.mock.operator("{name}")' in reply.text


def test_a_scalar_without_a_numpy_type_is_refused(bench: Bench) -> None:
    arguments = Stage(bench, VECTOR_OF["aclnnAdd"]).arguments
    for word in WITHOUT_ARRAY + WIDENED:
        alpha = Scalar(DATA_TYPES[word], bytes(16))
        assert bench.check("aclnnAdd", arguments | {"alpha": alpha}).status == 161002, word
