# SPDX-License-Identifier: Apache-2.0
"""Results of users' kernels: taken as they are, or refused; never converted and never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.operator import RefusalError, Setting
from pyaclnn.mock.operators.single_operator import find_single_operator
from pyaclnn.mock.operators.user_kernels import operator_of_kernel
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.mock.protocol.values import Call, Scalar, TensorList
from pyaclnn.reference.kernels.kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

X = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
ONE = Scalar(9, (1).to_bytes(8, "little"))


class Wrapped:
    """A result that is an array by ``__array__`` alone."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._array


class Odd(np.ndarray[Any, Any]):
    """A result whose own conversion raises."""

    def astype(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError


TAKEN: dict[str, Callable[[Any, Any], Any]] = {
    "an array": lambda a, b: a + b,
    "an object with __array__": lambda a, b: Wrapped(a + b),
    "a subclass": lambda a, b: (a + b).view(Odd),
}
REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "a number": lambda _a, _b: 3.0,
    "a text": lambda _a, _b: "hello",
    "a list": lambda a, b: (a + b).tolist(),
    "two results": lambda a, b: (a, b),
    "a generator": lambda a, b: (item for item in (a, b)),
    "complex numbers": lambda a, b: (a + b).astype(np.complex64),
    "double precision": lambda a, b: (a + b).astype(np.float64),
    "the other byte order": lambda a, b: (a + b).astype(np.dtype(">f4")),
    "an input that is written to": lambda a, _b: np.add(a, 1, out=a),
}


def called(bench: Bench, function: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Run both phases of a kernel of aclnnAdd; return the result and what the input is then."""

    def compute(self: Any, other: Any) -> Any:
        return function(self, other)

    kernel = Kernel("aclnnAdd", compute)
    signature = signature_of(kernel.name, kernel)
    assert signature is not None
    operator = operator_of_kernel(signature, kernel)
    x, out = bench.put(X), bench.empty(2, 3)
    call = Call("aclnnAdd", 0, {"self": x, "other": x, "alpha": ONE, "out": out})
    arguments, setting = operator.bind(call), Setting(bench.device.chip)
    operator.check(arguments, setting)
    operator.kernels(arguments, bench.device.memory).run()
    return bench.array(out), bench.array(x)


@pytest.mark.parametrize("function", TAKEN.values(), ids=list(TAKEN))
def test_an_array_is_taken(function: Callable[[Any, Any], Any], bench: Bench) -> None:
    result, given = called(bench, function)
    np.testing.assert_array_equal(result, X + X)
    np.testing.assert_array_equal(given, X)


@pytest.mark.parametrize("function", REFUSED.values(), ids=list(REFUSED))
def test_anything_else_is_refused(function: Callable[[Any, Any], Any], bench: Bench) -> None:
    with pytest.raises(RefusalError) as caught:
        called(bench, function)
    assert caught.value.status == 161002


@pytest.mark.parametrize(
    "wrong", [lambda sum_: sum_[:1], lambda sum_: sum_.astype(complex)], ids=["shape", "dtype"]
)
def test_what_does_not_fit_in_phase_two_fails_the_kernel(
    wrong: Callable[[Any], Any], bench: Bench
) -> None:
    def function(a: Any, b: Any) -> Any:
        return wrong(a + b) if np.any(a) else a + b

    with pytest.raises(DeviceMemoryError, match="the result"):
        called(bench, function)


class TestSingleOperators:
    """Kernels of users for what ``aclopCompileAndExecute`` runs."""

    @staticmethod
    def execute(bench: Bench, **attributes: Any) -> Any:
        def scale_rows(x: Any, scales: Any, *, times: int, outputs: Any) -> Any:
            assert outputs[0].shape == x.shape
            return x * scales[:, None] ** times

        given = (bench.put(X), bench.put(np.array([1, 2], np.float32)))
        out = bench.empty(2, 3)
        inputs = {"inputs": TensorList(given), "outputs": TensorList((out,)), **attributes}
        call = Call("ge:ScaleRows", 0, inputs)
        operator = find_single_operator(call, Kernel("ge:ScaleRows", scale_rows))
        arguments, setting = operator.bind(call), Setting(bench.device.chip)
        operator.check(arguments, setting)
        operator.kernels(arguments, bench.device.memory).run()
        return bench.array(out)

    def test_they_take_inputs_in_order_and_attributes_by_name(self, bench: Bench) -> None:
        found = self.execute(bench, **{"@times": 3})
        assert found.tolist() == [[1, 2, 3], [32, 40, 48]]

    @pytest.mark.parametrize(
        ("attributes", "told"),
        [
            ({"@times": 1, "@order": 2}, "attribute order is 2"),
            ({}, "missing 1 required keyword-only argument: 'times'"),
        ],
    )
    def test_other_attributes_are_refused(
        self, bench: Bench, attributes: dict[str, Any], told: str
    ) -> None:
        with pytest.raises(RefusalError, match=told):
            self.execute(bench, **attributes)
