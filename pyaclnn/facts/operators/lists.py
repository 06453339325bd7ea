# SPDX-License-Identifier: Apache-2.0
"""Operators on lists of tensors, whose descriptions are about each place of the lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.parameters import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.operator import Operator

__all__ = ["at_place", "in_lists"]


def at_place(operator: Operator, place: int) -> Operator:
    """Return the operator of one tensor of each list, its tensors named by their place.

    Args:
        operator: An operator on lists.
        place: The place in the lists.
    """
    parameters = {
        c_name: p._replace(name=f"{p.name}[{place}]") if isinstance(p, Tensor) else p
        for c_name, p in operator.parameters.items()
    }
    return operator._replace(parameters=parameters)


def in_lists(operator: Operator, values: Mapping[str, Any]) -> dict[str, Any]:
    """Put tensors into lists of one, if the operator takes lists.

    Args:
        operator: Any operator.
        values: Options and tensors by their Python names.
    """
    names = {tensor.name for tensor in operator.tensors} if operator.lists else set()
    return {name: [value] if name in names else value for name, value in values.items()}
