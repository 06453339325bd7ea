# SPDX-License-Identifier: Apache-2.0
"""Checks that every operator has: data types that exist, ranks, and lossless scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.limits import rank_fault, scalar_fault, takes_narrow
from pyaclnn.facts.operators.types import TYPES
from pyaclnn.mock.operators.operator import RefusalError
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, data_type_name, type_word
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import Scalar, ScalarList, Tensor, TensorList
from pyaclnn.reference import Strength, implementation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyaclnn.mock.protocol.values import Value

__all__ = ["check_array_types", "check_limits", "items_of"]

_EXISTING = frozenset(DATA_TYPES.values()) - {DATA_TYPES["UNDEFINED"]}


def items_of(value: Value) -> tuple[Value, ...]:
    """Return the elements of a list, or a single argument as a tuple of one."""
    return value.items if isinstance(value, (TensorList, ScalarList)) else (value,)


def check_limits(operator: str, values: Mapping[str, Value], written: tuple[str, ...]) -> None:
    """Check arguments against the limits of every operator of the catalogue.

    An operator of a custom package takes what its kernel takes, of data types that exist.

    Args:
        operator: The C name of the operator.
        values: Its arguments by their C names.
        written: The names of those that it writes.

    Raises:
        RefusalError: With 161002: a data type does not exist, a tensor has too many axes, or a
            scalar would lose its fraction or its imaginary part.
    """
    results = [
        type_word(item.data_type)
        for name in written
        for item in items_of(values[name])
        if isinstance(item, Tensor)
    ]
    for name, item in _typed(values):
        wrong = None
        if item.data_type not in _EXISTING:
            wrong = (
                f"{name} has the data type {data_type_name(item.data_type)}, which does not exist"
            )
        elif operator not in catalogue():
            continue
        elif isinstance(item, Scalar):
            wrong = scalar_fault(operator, name, type_word(item.data_type), results)
        else:
            wrong = rank_fault(operator, name, item.rank)
        if wrong is not None:
            raise RefusalError(Status.PARAM_INVALID, f"{operator}: {wrong}.")


def check_array_types(operator: str, values: Mapping[str, Value]) -> None:
    """Check that the types of arguments have arrays, so that a kernel can compute with them.

    Raises:
        RefusalError: With 161002 if CANN's operator does not take the type, else with 999001.
    """
    for name, item in _typed(values):
        if type_word(item.data_type) in TYPES:
            continue
        found = implementation(operator)
        ours = found is not None and found.strength is not Strength.DEFINITION
        refused = ours and not takes_narrow(operator)
        status = Status.PARAM_INVALID if refused else Status.MOCK_NOT_IMPLEMENTED
        shown = data_type_name(item.data_type)
        text = f"{name} has the data type {shown}, which has no array on the simulated device"
        raise RefusalError(status, f"{operator}: {text}")


def _typed(values: Mapping[str, Value]) -> Iterator[tuple[str, Tensor | Scalar]]:
    for name, value in values.items():
        for item in items_of(value):
            if isinstance(item, (Tensor, Scalar)):
                yield name, item
