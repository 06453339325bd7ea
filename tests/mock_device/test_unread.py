# SPDX-License-Identifier: Apache-2.0
"""Every input of an operator is read by its kernel, refused, or known to change no number."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.kernel_call import KernelCall, zeros
from pyaclnn.mock.operators.unread import harmless_values, unread
from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import BoolArray, FloatArray, IntArray, TensorList
from pyaclnn.reference.kernels import built_in
from pyaclnn.reference.kernels.kernel import Kernel, KernelLimitError, short_names
from pyaclnn.reference.kernels.rows import rows

from .bench import tensor
from .test_kernels import VECTORS, Stage

if TYPE_CHECKING:
    from .bench import Bench

GIVEN: dict[str, Any] = {
    "t": tensor(2), "T": TensorList((tensor(2),)), "I": IntArray((3,)), "F": FloatArray((3.0,)),
    "s": "other", "b": True, "d": 3.0, "f": 3.0,
}  # fmt: skip
"""A value of each kind that is neither NULL, 0, false nor empty; of other kinds 3."""
FIRST = {vector["operator"]: vector for vector in reversed(VECTORS)}


def ignored(kernel: Kernel) -> list[str]:
    """The inputs that a kernel does not read."""
    listed = catalogue()[kernel.name].parameters
    return [p.name for p in listed if p.read and kernel.parameter_for(p.name) is None]


def call_of(kernel: Kernel) -> KernelCall:
    signature = signature_of(kernel.name, kernel)
    assert signature is not None
    return KernelCall(signature, kernel)


UNREAD = [(name, each) for name, kernel in built_in().items() for each in ignored(kernel)]
REFUSED = [pair for pair in UNREAD if "" not in harmless_values(*pair)]


@pytest.mark.parametrize("name", sorted({name for name, _ in REFUSED if name in FIRST}))
def test_an_input_that_a_kernel_does_not_read_is_refused(name: str, bench: Bench) -> None:
    arguments = Stage(bench, FIRST[name]).arguments
    kinds = {p.name: p.kind for p in catalogue()[name].parameters}
    for parameter in (parameter for operator, parameter in REFUSED if operator == name):
        given = arguments | {parameter: GIVEN.get(kinds[parameter], 3)}
        with pytest.raises(
            KernelLimitError, match=rf"compute with {parameter}, which must be NULL"
        ):
            call_of(built_in()[name]).bound(given, zeros)


@pytest.mark.parametrize("name", ["compressLens", "compressSeqOffset", "seqLens"])
def test_a_cache_is_not_compressed(name: str, bench: Bench) -> None:
    operator = "aclnnScatterPaKvCache"
    arguments = Stage(bench, FIRST[operator]).arguments
    arguments[f"{name}Optional"] = arguments["slotMapping"]
    reply = bench.check(operator, arguments)
    assert reply.status == 999001
    assert f"its own does not compute with {name}Optional, which must be NULL" in reply.text


def test_a_scale_of_a_product_of_floats_is_refused(bench: Bench) -> None:
    operator = "aclnnTransposeBatchMatMul"
    scale = bench.put(np.array([1]), DATA_TYPES["UINT64"])
    reply = bench.check(operator, Stage(bench, FIRST[operator]).arguments | {"scale": scale})
    assert reply.status == 999001
    assert "scale must be NULL" in reply.text


def test_what_changes_no_number_is_an_input_that_some_kernel_does_not_read() -> None:
    known = [f"{name[5:]}.{each}" for name, found in UNREAD for each in short_names(found)]
    assert [each for each in unread() if not any(fnmatchcase(k, each) for k in known)] == []


def test_a_name_without_operators_is_one_that_no_kernel_reads() -> None:
    read = {
        short
        for name, kernel in built_in().items()
        for each in catalogue()[name].parameters
        if each.read and kernel.parameter_for(each.name) is not None
        for short in short_names(each.name)
    }
    plain = {pattern[2:] for pattern in unread() if pattern.startswith("*.")}
    assert plain & read == {"cubeMathType"}  # which some kernels check


def test_what_may_be_null_is_read() -> None:
    for name, row in rows().items():
        listed = [p.name for p in catalogue()[name].parameters]
        own = {short for each in listed for short in short_names(each)}
        assert {*row.null} & own <= {*built_in()[name].parameters}, name


def test_a_kernel_that_forgets_an_input_is_found() -> None:
    kernel = Kernel("aclnnAdd", lambda self, alpha: self * alpha, plain=True)
    assert ignored(kernel) == ["other"]
    values: dict[str, Any] = {**dict.fromkeys(("self", "other", "out"), tensor(2)), "alpha": 1}
    with pytest.raises(KernelLimitError, match="does not compute with other"):
        call_of(kernel).results(values, zeros)


def test_a_kernel_of_a_user_may_forget_an_input() -> None:
    kernel = Kernel("aclnnAdd", lambda self: self)
    values: dict[str, Any] = {**dict.fromkeys(("self", "other", "out"), tensor(2)), "alpha": 1}
    (found,) = call_of(kernel).results(values, zeros)
    assert found.array.tolist() == [0, 0]


def test_numbers_of_attention_are_left_where_they_are_not_wanted(bench: Bench) -> None:
    name = "aclnnFusedInferAttentionScoreV2"
    arguments = Stage(bench, FIRST[name]).arguments
    wanted: dict[str, Any] = {"softmaxLseFlag": False, "softmaxLse": bench.empty(1)}
    assert bench.check(name, arguments | wanted).status == 0


def test_a_gradient_that_is_not_wanted_is_not_written(bench: Bench) -> None:
    name = "aclnnConvolutionBackward"
    arguments: dict[str, Any] = Stage(bench, FIRST[name]).arguments
    before = bench.get(arguments["gradInput"]).tolist()
    bench.launch(name, arguments | {"outputMask": BoolArray((False, True, True))})
    assert bench.get(arguments["gradInput"]).tolist() == before
