# SPDX-License-Identifier: Apache-2.0
"""Arrays and dtypes of the other byte order, passed wherever arrays and dtypes come in."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import pyaclnn
from pyaclnn.facts.operators import all_operators
from pyaclnn.health.smoke.launching import is_possible, sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ORDERS = ("big", "little") if sys.byteorder == "little" else ("little", "big")
HAS = rf"of the machine's byte order, {ORDERS[1]}-endian, and not {ORDERS[0]}-endian\.\nHint: "
X = np.ones((2, 3), np.float32)


def swapped(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("S"))


ODD = swapped(X)
DTYPE = ODD.dtype
ZERO_D: Any = np.array(1.0, DTYPE)  # a scalar, whose type editors refuse

ARRAYS: dict[str, Callable[[], object]] = {
    "to_device": lambda: pyaclnn.to_device(ODD),
    "from_dlpack": lambda: pyaclnn.from_dlpack(ODD),
    "DeviceArray.from_dlpack": lambda: pyaclnn.DeviceArray.from_dlpack(ODD),
    "copy_from": lambda: pyaclnn.to_device(X).copy_from(ODD),
    "__setitem__": lambda: pyaclnn.to_device(X).__setitem__(0, ODD[0]),
    "by name": lambda: pyaclnn.op("aclnnAdd")(X, ODD, 1.0),
    "a scalar by name": lambda: pyaclnn.op("aclnnAdd")(X, X, ZERO_D),
    "a list by name": lambda: pyaclnn.op("aclnnCat")([X, ODD], 0),
    "a list": lambda: pyaclnn.foreach_norm([X, ODD], 2.0),
    "a plan": lambda: pyaclnn.plan(pyaclnn.rms_norm, ODD, X[0]),
    "prepare": lambda: pyaclnn.rms_norm.prepare(X, ODD[0]),  # type: ignore[attr-defined]
}
TARGETS: dict[str, Callable[[], object]] = {
    "copy_to": lambda: pyaclnn.to_device(X).copy_to(ODD.copy()),
    "out": lambda: pyaclnn.rms_norm(X, X[0], out=(ODD.copy(), None)),
    "out by name": lambda: pyaclnn.op("aclnnAdd")(X, X, 1.0, out=ODD.copy()),
}
DTYPES: dict[str, Callable[[], object]] = {
    "Empty": lambda: pyaclnn.Empty((2,), DTYPE),
    "zeros": lambda: pyaclnn.zeros((2,), DTYPE),
    "ones": lambda: pyaclnn.ones((2,), DTYPE),
    "full": lambda: pyaclnn.full((2,), 1.0, DTYPE),
    "pinned_empty": lambda: pyaclnn.pinned_empty((2,), DTYPE),
    "DeviceArray.empty": lambda: pyaclnn.DeviceArray.empty((2,), DTYPE),
    "astype": lambda: pyaclnn.to_device(X).astype(DTYPE),
    "a dtype by name": lambda: pyaclnn.op("aclnnCast")(X, DTYPE),
}


def refused(call: Callable[[], object], hint: str) -> None:
    with pytest.raises(pyaclnn.InvalidArgumentError, match=HAS + hint):
        call()


@pytest.mark.parametrize("call", ARRAYS.values(), ids=list(ARRAYS))
def test_an_array_is_refused_and_the_conversion_is_shown(call: Callable[[], object]) -> None:
    refused(call, r"convert it: [\w\[\]]+\.astype\(np\.float32\)\.")


@pytest.mark.parametrize("call", TARGETS.values(), ids=list(TARGETS))
def test_an_array_for_results_is_refused(call: Callable[[], object]) -> None:
    refused(call, r"results are written to an array of np\.float32\.")


@pytest.mark.parametrize("call", DTYPES.values(), ids=list(DTYPES))
def test_a_dtype_is_refused(call: Callable[[], object]) -> None:
    refused(call, r"np\.float32 is the same type")


def test_every_array_of_every_operator_is_refused() -> None:
    tried = 0
    for name, operator in all_operators().items():
        dtypes = [np.dtype(t) for t in ("float32", "float16", "int32", "uint8")]
        dtype = next((t for t in dtypes if is_possible(operator, (2, 4, 4, 8), t, None)), None)
        if dtype is None or operator.lists:
            continue
        given = sample(operator, (2, 4, 4, 8), dtype, None)
        for argument, value in given.items():
            if not isinstance(value, np.ndarray) or value.dtype.itemsize == 1:
                continue
            changed = {**given, argument: swapped(value)}
            shown = re.escape(f"{argument}.astype(")
            refused(lambda: getattr(pyaclnn, name)(**changed), f"convert it: {shown}")  # noqa: B023
            tried += 1
    assert tried > 150


def test_bfloat16_is_converted_by_its_own_type() -> None:
    dtype = np.dtype(ml_dtypes.bfloat16).newbyteorder("S")
    refused(lambda: pyaclnn.zeros((2,), dtype), r"ml_dtypes\.bfloat16")


def test_the_conversion_that_is_shown_works() -> None:
    np.testing.assert_array_equal(pyaclnn.to_device(ODD.astype(np.float32)).numpy(), X)
