# SPDX-License-Identifier: Apache-2.0
"""Python functions of described operators."""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.described import Described, interface_of
from pyaclnn.calling.documentation import docstring
from pyaclnn.calling.front import Front, function_of
from pyaclnn.calling.source import Form, Slot
from pyaclnn.facts.operators import module_of
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyaclnn.calling.front import Checks
    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Parameter

__all__ = ["described_function", "result_class"]

_KINDS: Final = {
    Kind.REAL: "d",
    Kind.SCALAR: "a",
    Kind.INTEGER: "q",
    Kind.FLAG: "b",
    Kind.LENGTHS: "I",
    Kind.AXES: "I",
    Kind.MASK: "B",
    Kind.DTYPE: "y",
    Kind.STRING: "s",
    Kind.ABSENT: "t",
}
"""Letters of ``C_TYPES`` for the options of descriptions."""


def result_class(operator: Operator) -> Callable[..., Any]:
    """Return the named tuple that an operator returns; for one result, the identity function."""
    names = [tensor.name for tensor in operator.returned]
    if len(names) == 1:
        return _single_result
    made = namedtuple(operator.result_type, names)  # type: ignore[misc]  # noqa: PYI024
    made.__doc__ = f"What ``{operator.name}`` returns; arrays of the kind that went in."
    made.__module__ = "pyaclnn.ops"
    return made


def _single_result(result: Any) -> Any:
    return result


def described_function(operator: Operator, make_result: Callable[..., Any]) -> Callable[..., Any]:
    """Write the Python function of a described operator.

    Args:
        operator: Its description.
        make_result: Makes the return value of the results, see `result_class`.

    Returns:
        The function; its attribute ``prepare`` checks a call and does not launch it.
    """
    checks: Checks
    if operator.lists:  # a few are, and their module loads all of operators without a description
        from pyaclnn.calling.tensor_list import DescribedLists  # noqa: PLC0415

        checks = DescribedLists(operator)
    else:
        checks = Described(operator, interface_of(operator, make_result))
    results = "results_"
    if any(tensor.placeholder for tensor in operator.outputs):
        results = "path_.visible(results_)"
    elif not operator.outputs:
        results = f"({', '.join(tensor.name for tensor in operator.returned)},)"
    is_single = len(operator.returned) == 1
    form = Form(
        name=operator.name,
        room="ops",
        origin=module_of(operator.name),
        slots=tuple(_slot(operator, p) for p in operator.parameters.values()),
        parameters=", ".join(_described_parameters(operator)),
        preamble=tuple(
            f"if {other} is not None: {name} = one_of_({operator.name!r}, {name!r}, {name}, "
            f"{other!r}, {other}, defaults_)"
            for other, name in operator.synonyms.items()
        )
        + _saved_preamble(operator),
        arguments=(*operator.positional, *operator.keywords),
        out="out" if operator.outputs else "",
        leader="" if operator.lists else operator.primary.name,
        returned=f"{results}[0]" if is_single else f"new_tuple_(make_result_, {results})",
    )
    space = {
        "make_result_": make_result,
        "new_tuple_": tuple.__new__,  # a third of the time of calling the class
        "one_of_": _one_of,
        "saved_": partial(_of_saved, operator),
        "defaults_": {p.name: p.default for p in operator.options},
    }
    front = Front(checks, recognises_calls=not operator.lists)
    origin = f"Described in ``{form.origin}``, from which this function is generated."
    doc = f"{docstring(operator)}\n{origin}\n"
    function: Callable[..., Any] = function_of(form, front, space, doc)
    return function


def _slot(operator: Operator, parameter: Parameter) -> Slot:
    if isinstance(parameter, Option):
        is_given = parameter.derived is None
        return Slot(parameter.name if is_given else "", _KINDS[parameter.kind])
    assert isinstance(parameter, Tensor)  # noqa: S101  # there are two kinds
    if parameter.read:
        return Slot(parameter.name, "t", False, parameter.optional)
    is_always = parameter.when is None and operator.mask is None and not parameter.on_request
    return Slot(parameter.name, "t", True, not is_always)


def _described_parameters(operator: Operator) -> Iterator[str]:
    for name in (*operator.positional, "*", *operator.keywords):
        parameter = operator.by_name.get(name)
        if isinstance(parameter, Option) and parameter.default is not REQUIRED:
            yield f"{name}=defaults_[{name!r}]"
        else:
            yield f"{name}=None" if isinstance(parameter, Tensor) and parameter.optional else name
    yield from (f"{other}=None" for other in operator.synonyms)
    if operator.saved:
        yield "saved=None"
    yield "stream=None"
    if operator.outputs:
        yield "out=None"


def _saved_preamble(operator: Operator) -> tuple[str, ...]:
    if not operator.saved:
        return ()
    names = ", ".join(operator.saved[1:])
    return (f"if saved is not None: {names} = saved_(saved, ({names}))",)


def _of_saved(operator: Operator, result: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the tensors that a call takes from the result of the forward operator."""
    forward, *names = operator.saved
    twice = next((n for n, value in zip(names, given, strict=True) if value is not None), None)
    if twice is not None:
        raise TypeError(f"{operator.name}() got 'saved' and '{twice}', which are one argument")
    if not all(hasattr(result, name) for name in names):
        was, must = f"of type {type(result).__name__}", f"the result of {forward}()"
        raise InvalidArgumentError.of(operator.name, "saved", was, must)
    return tuple(getattr(result, name) for name in names)


def _one_of(
    routine: str, name: str, value: Any, other: str, second: Any, defaults: Mapping[str, Any]
) -> Any:
    """Return what was given for an option that has two names."""
    if value is not defaults[name]:
        raise TypeError(f"{routine}() got '{name}' and '{other}', which are one argument")
    return second
