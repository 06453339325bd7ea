# SPDX-License-Identifier: Apache-2.0
"""dtype of an allocated result: that of its definition's result.

Phase 1 cannot tell where CANN takes a result of several types; a wrong one is a copy more for every
caller, or digits lost.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import pyaclnn
from pyaclnn import reference
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.health.smoke.launching import is_possible, sample

from .test_described import FAMILY, SHAPES, TRIED, call, copies

if TYPE_CHECKING:
    from pyaclnn.facts.operators import Operator

DTYPES = [np.dtype(dtype) for dtype in (np.float32, np.float16, ml_dtypes.bfloat16)]
POSSIBLE = [
    pytest.param(operator, shape, dtype, id=f"{operator.name}-{dtype}")
    for operator in TRIED
    for dtype in DTYPES
    for shape in [s for s in SHAPES if is_possible(operator, s, dtype, FAMILY)][:1]
]


def types_of(operator: Operator, given: dict[str, Any]) -> dict[str, np.dtype[Any]]:
    """The types of what the definition gives, by the names of the results."""
    definition = reference.definition(operator.definition)
    wanted = inspect.signature(definition).parameters
    taken = {n: value for n, value in in_lists(operator, given).items() if n in wanted}
    found: Any = definition(**taken, **({"family": FAMILY} if "family" in wanted else {}))
    if operator.lists:
        (found,) = found
    if not hasattr(found, "_asdict"):
        return {operator.returned[0].name: np.asarray(found).dtype}
    return {n: value.dtype for n, value in found._asdict().items() if value is not None}


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("operator", "shape", "dtype"), POSSIBLE)
def test_a_result_has_the_type_that_the_definition_gives(
    operator: Operator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> None:
    given = sample(operator, shape, dtype, FAMILY)
    expected = types_of(operator, given)
    for name, value in call(operator, copies(given)).items():
        if value is not None:
            assert value.dtype == expected[name], name


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_result_has_the_type_that_the_caller_names(dtype: type, device: pyaclnn.Device) -> None:
    x = np.ones((2, 4), np.float16)
    assert pyaclnn.linalg_vector_norm(x, 2.0, dtype=dtype).dtype == dtype
    on_device = pyaclnn.to_device(x, device)
    assert pyaclnn.linalg_vector_norm(on_device, 2.0, dtype=dtype).dtype == dtype
