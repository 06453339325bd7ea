# SPDX-License-Identifier: Apache-2.0
"""Binding of arguments as PyTorch's function for an operator takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of, text_of
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option, Tensor
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.dlpack import is_foreign

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Parameter
    from pyaclnn.facts.operators.torch_signature import TorchParameter

__all__ = ["default_of", "is_of_kind", "torch_bound"]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _are_integers(value: object) -> bool:
    return _is_integer(value) or (isinstance(value, (tuple, list)) and all(map(_is_integer, value)))


def _is_array(value: object) -> bool:
    return isinstance(value, (np.ndarray, DeviceArray)) or is_foreign(value)


_FITS: Final[Mapping[Kind, Callable[[object], bool]]] = {
    Kind.REAL: _is_number,
    Kind.SCALAR: _is_number,
    Kind.INTEGER: _is_integer,
    Kind.FLAG: lambda value: isinstance(value, (bool, np.bool_)),
    Kind.LENGTHS: _are_integers,
    Kind.AXES: _are_integers,
    Kind.MASK: lambda value: isinstance(value, (tuple, list)),
    Kind.DTYPE: lambda value: not _is_array(value) and not _is_number(value),
    Kind.STRING: lambda value: isinstance(value, str),
}


def default_of(parameter: Parameter) -> Any:
    """Return the default of a parameter in Python; ``REQUIRED`` if it has none."""
    if isinstance(parameter, Option):
        return parameter.default
    return None if parameter.optional else REQUIRED


def is_of_kind(parameter: Parameter, value: Any, *, in_list: bool) -> bool:
    """Return whether a value is an array, a number, lengths or the like, as a parameter requires.

    Args:
        parameter: The operator's parameter.
        value: The caller's argument for it.
        in_list: True if the operator has a list for every tensor.
    """
    if value is REQUIRED or value is default_of(parameter):
        return value is not REQUIRED
    if isinstance(parameter, Option):
        return _FITS[parameter.kind](value)
    if in_list:
        return isinstance(value, (tuple, list)) and all(map(_is_array, value))
    return _is_array(value)


def torch_bound(
    operator: Operator, values: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Bind arguments as PyTorch does.

    Args:
        operator: The description.
        values: The arguments by position.
        keywords: The arguments by names, PyTorch's or the operator's.

    Returns:
        The arguments by the operator's names, its defaults left out; None if they do not fit the
        signature of PyTorch's function.

    Raises:
        InvalidArgumentError: They fit it, but the operator cannot compute that.
    """
    if operator.torch is None or len(values) > len(operator.torch.parameters):
        return None
    parameters = operator.torch.parameters
    names = {p.own: p.name for p in parameters} | {p.name: p.name for p in parameters}
    given = dict(zip([p.name for p in parameters], values, strict=False))
    for key, value in keywords.items():
        name = names.get(key)
        if name is None or name in given:
            return None
        given[name] = value
    if not all(_may_be(operator, p, given[p.name]) for p in parameters if p.name in given):
        return None
    found = {}
    for parameter in parameters:
        value = given.get(parameter.name, REQUIRED)
        if (value is REQUIRED and parameter.word) or _is_word(parameter, value):
            value = parameter.meant
        if parameter.own and value is not REQUIRED:
            found[parameter.own] = value
    absent = [t for t in operator.inputs if not t.optional and found.get(t.name) is None]
    own = {p.name for p in parameters if p.own}
    is_certain = not own.issuperset(given)  # PyTorch alone has such an argument
    if operator.primary in absent or (absent and not is_certain):
        return None
    if not is_certain and not own.issuperset(keywords):
        return None
    _require_possible(operator, given, found)
    return found


def _is_word(parameter: TorchParameter, value: Any) -> bool:
    # The text of an array takes longer than a call, and that of a device array waits for it.
    return bool(parameter.word) and not _is_array(value) and text_of(value) == parameter.word


def _may_be(operator: Operator, parameter: TorchParameter, value: Any) -> bool:
    """Return whether a value is of the kind that a parameter of PyTorch's function has."""
    if parameter.shape_of:
        return _are_integers(value)
    if not parameter.own or _is_word(parameter, value):
        return True
    own = operator.by_name[parameter.own]
    may_be_none = value is None and isinstance(own, Tensor)
    return may_be_none or is_of_kind(own, value, in_list=operator.lists)


def _require_possible(
    operator: Operator, given: Mapping[str, Any], found: Mapping[str, Any]
) -> None:
    """Require that the operator computes what PyTorch's function would.

    Args:
        operator: The description.
        given: The arguments by PyTorch's names.
        found: The arguments by the operator's names.
    """

    def refuse(name: str, was: str, expected: str, hint: str | None = None) -> NoReturn:
        raise InvalidArgumentError.of(operator.name, name, was, expected, hint)

    assert operator.torch is not None  # noqa: S101  # the caller has bound by it
    names = {p.own: p.name for p in operator.torch.parameters}
    for absent in operator.inputs:
        if not absent.optional and found.get(absent.name) is None:
            expected = f"an array: '{absent.name}' of {operator.c_name} is not optional"
            hint = f"the call was read as {operator.torch}; an array of ones changes nothing."
            refuse(names[absent.name], "left out", expected, hint)
    for parameter in operator.torch.parameters:
        value, name = given.get(parameter.name, REQUIRED), parameter.name
        if value is REQUIRED or parameter.own:
            continue
        if parameter.shape_of:
            tensor = names[parameter.shape_of]
            wanted = parameter.lengths(tuple(found[parameter.shape_of].shape))
            if (value if parameter.axes else tuple(np.atleast_1d(value).tolist())) != wanted:
                refuse(name, repr_of(value), f"{wanted}, from the shape of '{tensor}'")
        elif parameter.fixed is not ... and not _equals(value, parameter.fixed):
            was = "an array" if _is_array(value) else repr_of(value)
            refuse(name, was, f"{parameter.fixed}: {operator.c_name} has no such parameter")


def _equals(value: Any, fixed: Any) -> bool:
    return value is fixed or (isinstance(value, (tuple, list)) and tuple(value) == fixed)
