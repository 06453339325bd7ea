# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of an operator and its expected results, derived from its description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.facts.operators.sample import lengths_in, types_in, value_of
from pyaclnn.reference import implementation
from pyaclnn.runtime.dtypes import DTYPES, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Tensor
    from pyaclnn.facts.operators.words import Dims

__all__ = ["Host", "golden", "is_possible", "sample"]

Host: TypeAlias = NDArray[Any]

_SEED = 20240521


def is_possible(operator: Operator, shape: Dims, dtype: np.dtype[Any], family: str | None) -> bool:
    """Return whether an operator accepts a leading tensor of a shape; see `sample`."""
    if operator.constraint is None:
        return True
    known = lengths_in(operator, shape)
    given = {o.name: value_of(o, known) for o in operator.options if o.derived is None}
    there = dict.fromkeys((tensor.name for tensor in operator.inputs), True)
    return (
        operator.constraint({**types_in(operator, WORDS[dtype], family), **known, **there, **given})
        is None
    )


def sample(
    operator: Operator, shape: Dims, dtype: np.dtype[Any], family: str | None
) -> dict[str, Any]:
    """Make arguments of an operator, the same every time.

    Args:
        operator: The operator.
        shape: The shape of its leading tensor.
        dtype: The dtype of its leading tensor, and of others where they may have it.
        family: The chip family that must have a kernel for it; None for any.

    Returns:
        NumPy arrays and options by Python names.
    """
    random = np.random.default_rng(_SEED)
    known = lengths_in(operator, shape)
    given: dict[str, Any] = {}
    for option in operator.options:
        if option.derived is None:
            given[option.name] = value_of(option, known)
    bound = types_in(operator, WORDS[dtype], family)
    for tensor in operator.inputs:
        if tensor.made_by is None:
            dims = tensor.shape.dims(known)
            kind = DTYPES[bound[tensor.type]]
            if tensor.indexes:
                (rows,) = known[tensor.indexes]
                given[tensor.name] = random.integers(0, rows, dims).astype(kind)
            else:
                given[tensor.name] = _values(random, tensor, dims, kind)
    for tensor in operator.inputs:
        if tensor.made_by is not None:
            given[tensor.name] = _made(tensor, given).astype(DTYPES[bound[tensor.type]])
    return given


def _values(random: np.random.Generator, tensor: Tensor, dims: Dims, dtype: np.dtype[Any]) -> Host:
    if dtype.kind in "iu":
        return random.integers(1, 9, dims).astype(dtype)
    values = random.normal(0.5, 1.5, dims) * tensor.large
    return (np.abs(values) + 0.5 if tensor.positive else values).astype(dtype)


def _made(tensor: Tensor, given: Mapping[str, Any]) -> Host:
    """Return the result of another operator for the same arguments, in float64."""
    name, result = tensor.made_by or ("", "")
    wide = {key: _widened(value) for key, value in given.items()}
    found: Host = getattr(_computed(all_operators()[name], wide, None), result)
    return found


def golden(operator: Operator, given: Mapping[str, Any], family: str | None) -> dict[str, Host]:
    """Compute what an operator should return, in float64.

    Args:
        operator: The operator.
        given: Its arguments by Python names.
        family: The chip family, for results whose meaning depends on it.

    Returns:
        Results by Python names, and arguments that are updated in place, without absent results and
        those that are only computed on request.
    """
    found = _computed(operator, {key: _widened(value) for key, value in given.items()}, family)
    if not hasattr(found, "_asdict"):
        return {operator.returned[0].name: np.asarray(found)}
    asked = {tensor.name for tensor in operator.outputs if tensor.on_request}
    pairs = found._asdict().items()
    return {name: value for name, value in pairs if value is not None and name not in asked}


def _computed(operator: Operator, given: Mapping[str, Any], family: str | None) -> Any:
    defined = implementation(operator.c_name)
    assert defined is not None  # noqa: S101  # every described operator has a definition
    function, wanted = defined.kernel.function, defined.kernel.parameters
    pairs = in_lists(operator, given).items()
    taken = {name: value for name, value in pairs if name in wanted}
    found = function(**taken, **({"family": family} if "family" in wanted else {}))
    return found[0] if operator.lists else found


def _widened(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind not in "biu":
        return value.astype(np.float64)
    return value
