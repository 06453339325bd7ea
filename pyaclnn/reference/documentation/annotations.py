# SPDX-License-Identifier: Apache-2.0
"""Static types of the parameters of definitions, from the descriptions of their operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.facts.operators.parameters import Kind, Tensor

if TYPE_CHECKING:
    from pyaclnn.facts.operators import Operator

__all__ = ["type_of"]

_TYPES: Final = {
    Kind.REAL: "float",
    Kind.SCALAR: "float",
    Kind.INTEGER: "int",
    Kind.FLAG: "bool",
    Kind.LENGTHS: "Sequence[int]",
    Kind.AXES: "int | Sequence[int] | None",
    Kind.MASK: "Sequence[bool]",
    Kind.STRING: "str",
}
_OTHERS: Final = {"family": "str | None", "dtype": "DTypeLike | None"}
"""Types of parameters that are those of definitions alone, or mean the same in all."""


def type_of(operator: Operator, name: str, *, may_lack: bool) -> str:
    """Return the type of a parameter.

    Args:
        operator: The operator of the definition.
        name: The name of the parameter.
        may_lack: True if its default is None.
    """
    parameter = operator.by_name.get(name)
    if name in _OTHERS:
        return _OTHERS[name]
    if parameter is None or isinstance(parameter, Tensor):
        kind = "Sequence[ArrayLike]" if operator.lists else "ArrayLike"
        may_lack = may_lack or parameter is None or parameter.optional
    else:
        kind = _TYPES[parameter.kind]
    return f"{kind} | None" if may_lack and not kind.endswith("None") else kind
