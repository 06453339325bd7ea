# SPDX-License-Identifier: Apache-2.0
"""Docstrings and types of definitions and their results, completed from descriptions.

A definition states its formula and what is special to it. Its arguments, results and errors follow
from the description of its operator. A section that a definition has of its own stays as it is.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.documentation import item, limits_in_words, shape_in_words
from pyaclnn.facts.operators.parameters import Tensor
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.reference.documentation.annotations import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.operators import Operator

__all__ = ["complete"]

_FAMILY = 'The family of chips, such as ``"910b"``; None for the ideal arithmetic.'
_DTYPE = "The data type of the result, or of the results that may be of several."
_UNUSED = "An argument for which CANN's operator has a place that stays empty."
_SECTIONS = ("Args:", "Raises:", "Source:")


def complete(defined: Any, offered: Any) -> None:
    """Complete the docstring and types of a definition, or of a named tuple of results.

    Args:
        defined: The function or class. Once complete, it stays as it is.
        offered: The same, or its fast version, which gets the same docstring and types.
    """
    text = inspect.cleandoc(defined.__doc__ or "")
    if isinstance(defined, type):
        defined.__doc__ = text or _of_results(defined)
    elif "\nArgs:" not in text:
        defined.__doc__ = "\n".join([_before(text, "Args:"), *_sections(defined, text)]) + "\n"
        defined.__annotations__ = _annotations(defined)
    offered.__doc__ = defined.__doc__
    offered.__annotations__ = defined.__annotations__


def _annotations(function: Any) -> dict[str, str]:
    """Return the types of a definition's parameters and result."""
    operator, signature = all_operators()[function.__name__], inspect.signature(function)
    parameters = signature.parameters.values()
    types = {p.name: type_of(operator, p.name, may_lack=p.default is None) for p in parameters}
    result = signature.return_annotation
    return types | {"return": f"list[{result}]" if operator.lists else result}


def _of_results(result: type) -> str:
    """Describe results by the description of the operator that returns them."""
    functions = vars(sys.modules[result.__module__]).values()
    returning = (f for f in functions if getattr(f, "kind", None) is result)
    operator = all_operators()[min((f.__name__ for f in returning), key=len)]
    names = getattr(result, "_fields", ())
    fields = [line for name in names for line in item(name, _result(operator, name))]
    return "\n".join([f"Results of `{operator.name}`.\n\nAttributes:", *fields]) + "\n"


def _before(text: str, section: str) -> str:
    """Return the part of a docstring in front of its sections."""
    places = [text.find(f"\n{name}") for name in (section, *_SECTIONS)]
    found = min((place for place in places if place >= 0), default=len(text))
    return text[:found].rstrip()


def _own(text: str, section: str) -> str:
    """Return a section that a docstring has itself; empty without it."""
    start = text.find(f"\n{section}")
    if start < 0:
        return ""
    return _before(text[start + 1 :] + "\n", "\0")


def _sections(function: Any, text: str) -> Iterator[str]:
    operator = all_operators()[function.__name__]
    yield "\nArgs:"
    for name in inspect.signature(function).parameters:
        yield from item(name, _argument(operator, name))
    yield "\nReturns:"
    for name in getattr(function.kind, "_fields", [tensor.name for tensor in operator.returned]):
        yield from item(f"- `{name}`", _result(operator, name))
    yield f"\n{_own(text, 'Raises:') or _raises(operator, function)}"
    yield f"\n{_own(text, 'Source:') or f'Source: {operator.source}.'}"


def _argument(operator: Operator, name: str) -> str:
    parameter = operator.by_name.get(name)
    if parameter is None:
        return {"family": _FAMILY, "dtype": _DTYPE}.get(name, _UNUSED)
    if not isinstance(parameter, Tensor):
        return f"{parameter.doc}{limits_in_words(parameter)}."
    accepted, shape = _accepted(operator, parameter), shape_in_words(parameter)
    text = f"{parameter.doc}; {accepted} of shape `{shape}`"
    missing = "; None if there is none" if parameter.optional and "None" not in text else ""
    kept = " It is not written to." if parameter.written else ""
    return f"{text}{missing}.{kept}"


def _accepted(operator: Operator, tensor: Tensor) -> str:
    """Return the accepted data types, which are more than those of a chip."""
    each = "a list, each " if operator.lists else ""
    kinds = {ARRAYS[word].numpy for word in operator.types.allowed(tensor.type, {})}
    if not all("float" in kind for kind in kinds):
        listed = " or ".join(sorted(kinds))
        return listed if tensor is operator.primary else f"{each}any number type"
    if tensor is operator.primary:
        return f"{each}float16, bfloat16, float32 or float64"
    return f"{each}any float type"


def _result(operator: Operator, name: str) -> str:
    tensor = operator.by_name[name]
    assert isinstance(tensor, Tensor)  # noqa: S101  # options are no results
    shape = "" if tensor.infer is not None else f", of shape `{shape_in_words(tensor)}`"
    missing = "; None if there is none" if tensor.when is not None or tensor.optional else ""
    says = f"The new {name}" if tensor.read else tensor.doc
    return f"{says}; {_returned(operator, tensor)}{shape}{missing}."


def _returned(operator: Operator, tensor: Tensor) -> str:
    """Return the data types of a result."""
    if tensor.read or tensor.type == operator.primary.type:
        same = tensor if tensor.read else operator.primary
        return f"the data type of {same.name}"
    kinds = [ARRAYS[word].numpy for word in operator.types.allowed(tensor.type, {})]
    if kinds == ["float32"]:
        return "float32, float64 for float64 arguments"
    return "a float type" if all("float" in kind for kind in kinds) else " or ".join(kinds)


def _raises(operator: Operator, function: Any) -> str:
    own = ", or `dtype` is not" if "dtype" in inspect.signature(function).parameters else ""
    return (
        "Raises:\n"
        f"    TypeError: The data type of {operator.primary.name} is not accepted{own}.\n"
        "    ValueError: A shape or an option does not fit; the message names the argument."
    )
