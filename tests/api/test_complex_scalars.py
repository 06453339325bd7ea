# SPDX-License-Identifier: Apache-2.0
"""A complex scalar with real tensors, passed to every operator that takes a scalar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.operators.catalogue import Entry

SHAPE = (2, 2)
PLAIN: dict[str, Any] = {"I": [0], "b": False, "d": 0.5, "f": 0.5}
COMPARED = {
    "aclnnEqScalar": 0,
    "aclnnNeScalar": 1,
    "aclnnInplaceEqScalar": 0,
    "aclnnInplaceNeScalar": 1,
}


def arguments_of(entry: Entry, dtype: type, scalar: str, number: complex) -> Iterator[Any]:
    for parameter in entry.parameters:
        if parameter.kind == "t":
            empty = parameter.written and not parameter.read
            yield pyaclnn.Empty(SHAPE, dtype) if empty else np.full(SHAPE, 2, dtype)
        elif parameter.kind == "a":
            yield number if parameter.name == scalar else 1
        else:
            yield dtype if parameter.kind == "y" else PLAIN.get(parameter.kind, 0)


def on_host(result: Any) -> Any:
    """Return the numbers; those made of no array of the host are on the device."""
    if not isinstance(result, pyaclnn.DeviceArray):
        return np.asarray(result)
    result.device.synchronize()
    return result.numpy()


def answers(dtype: type, number: complex) -> dict[str, Any]:
    """Call each operator with each of its scalars; return the results of those that succeed."""
    found = {}
    for name, entry in catalogue().items():
        if "8.1" not in entry.releases or any(p.kind == "T" for p in entry.parameters):
            continue
        for scalar in (p.name for p in entry.parameters if p.kind == "a"):
            try:
                result = pyaclnn.op(name)(*arguments_of(entry, dtype, scalar, number))
            except (pyaclnn.AclError, TypeError, ValueError):
                continue
            found[f"{name}.{scalar}"] = on_host(result)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_no_operator_drops_the_imaginary_part(dtype: type) -> None:
    found = answers(dtype, 2 + 1j)
    assert {name.partition(".")[0] for name in found} <= set(COMPARED)
    for name, result in found.items():
        assert np.all(result == COMPARED[name.partition(".")[0]]), name


def test_real_scalars_are_taken() -> None:
    assert len(answers(np.float32, 2.0)) > 40


def test_a_complex_scalar_of_complex_tensors_is_taken() -> None:
    x = np.ones(SHAPE, np.complex64)
    np.testing.assert_array_equal(pyaclnn.op("aclnnAdd")(x, x, 1j), x + 1j)
