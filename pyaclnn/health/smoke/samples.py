# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of an operator and its expected results, derived from its description."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.facts.operators.parameters import Kind, Option, Tensor
from pyaclnn.facts.operators.words import Word
from pyaclnn.reference import implementation
from pyaclnn.runtime.dtypes import DTYPES, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.words import Dims, Lengths

__all__ = ["Host", "golden", "is_possible", "lengths_in", "sample"]

Host: TypeAlias = NDArray[Any]

_SEED = 20240521
_PART = 16
_FEW = 2
"""The length of axes that the leading tensor does not have."""


def lengths_in(operator: Operator, shape: Dims) -> Lengths:
    """Divide a shape among the words of the leading tensor: the last axis to the last group.

    Args:
        operator: The operator.
        shape: The shape of its leading tensor.
    """
    words = operator.primary.shape.words
    groups = [name for kind, name in words if kind is Word.GROUP]
    axes = [name for kind, name in words if kind is Word.AXIS]
    shape = _divided(shape, len(axes))
    known: Lengths = {name: (length,) for name, length in zip(axes, shape, strict=False)}
    rest = shape[len(axes) :]
    if len(groups) > 1:
        known[groups[-1]] = rest[-1:]
        rest = rest[:-1]
    known |= dict.fromkeys(groups[:1], rest)
    if operator.lengths is not None:
        known |= operator.lengths({**{o.name: o.default for o in operator.options}, **known})
    others = [name for tensor in operator.inputs for name in sorted(tensor.shape.names)]
    return {**dict.fromkeys(others, (_FEW,)), **known}


def _divided(shape: Dims, axes: int) -> Dims:
    """Return a shape of as many elements on more axes; the last axes take the remainder."""
    while len(shape) < axes:
        part = gcd(shape[-1], _PART)
        shape = (*shape[:-1], part, shape[-1] // part)
    return shape


def is_possible(operator: Operator, shape: Dims, dtype: np.dtype[Any], family: str | None) -> bool:
    """Return whether an operator accepts a leading tensor of a shape; see `sample`."""
    if operator.constraint is None:
        return True
    known = lengths_in(operator, shape)
    given = {o.name: _choice(o, known) for o in operator.options if o.derived is None}
    there = dict.fromkeys((tensor.name for tensor in operator.inputs), True)
    return (
        operator.constraint({**_types(operator, dtype, family), **known, **there, **given}) is None
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
            given[option.name] = _choice(option, known)
    bound = _types(operator, dtype, family)
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


def _types(operator: Operator, dtype: np.dtype[Any], family: str | None) -> dict[str, str]:
    """Return the type of each type word: the leading tensor's, else float32 if allowed."""
    rows = operator.types.families.get(family or "") or operator.types.rows
    bound: dict[str, str] = {}
    for tensor in operator.inputs:
        words = {word: kind for word, kind in bound.items() if word not in DTYPES}
        allowed = operator.types.allowed(tensor.type, words, rows)
        word = WORDS[dtype]
        if word not in allowed or (tensor.made_by is not None and "f32" in allowed):
            word = "f32" if "f32" in allowed else allowed[0]
        bound[tensor.type] = word
    return bound


def _choice(option: Option, known: Lengths) -> Any:
    if option.sample is not None:
        return option.sample(known)
    return known[option.shape.words[0][1]] if option.kind is Kind.LENGTHS else option.default


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
