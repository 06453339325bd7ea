# SPDX-License-Identifier: Apache-2.0
"""Python functions of described operators."""

from __future__ import annotations

import inspect
from collections import namedtuple
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from pyaclnn.calling.binding import Binding
from pyaclnn.calling.described import Described, interface_of
from pyaclnn.calling.documentation import docstring
from pyaclnn.calling.front import Front, function_of
from pyaclnn.calling.meanings import meaning_of, of_saved, with_meanings
from pyaclnn.calling.source import Form, Slot
from pyaclnn.calling.torch_binding import default_of
from pyaclnn.facts.operators import module_of
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    made.__getattr__ = _no_attribute  # type: ignore[attr-defined]
    return made


def _no_attribute(self: Any, name: str) -> NoReturn:
    """Refuse an attribute, which one of the arrays may have."""
    fields, kind = self._fields, type(self).__name__
    hint = f"it is a tuple of {', '.join(fields)}: the first array is .{fields[0]}"
    raise AttributeError(f"{kind} has no {name!r}; {hint}", name=name, obj=self)


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
    names = (*operator.positional, *operator.keywords)
    results = "results_"
    if any(tensor.placeholder for tensor in operator.outputs):
        results = "path_.visible(results_)"
    elif not operator.outputs:
        results = f"({', '.join(tensor.name for tensor in operator.returned)},)"
    returned = f"new_tuple_(make_result_, {results})"
    if len(operator.returned) == 1:
        returned = f"{results}[0]"
    elif any(tensor.by_chip for tensor in operator.returned):
        returned = f"with_meanings_(*{results})"
    form = Form(
        name=operator.name,
        room="ops",
        origin=module_of(operator.name),
        slots=tuple(_slot(operator, p) for p in operator.parameters.values()),
        parameters=", ".join(_described_parameters(operator)),
        preamble=tuple(_preamble(operator, names)),
        arguments=names,
        out="out" if operator.outputs else "",
        leader="" if operator.lists else operator.primary.name,
        returned=returned,
    )
    space = {
        "make_result_": make_result,
        "with_meanings_": with_meanings(operator, make_result),
        "new_tuple_": tuple.__new__,  # a third of the time of calling the class
        "meaning_": meaning_of,
        "saved_": partial(of_saved, operator),
        "defaults_": {name: default_of(operator.by_name[name]) for name in names},
    }
    front = Front(checks, recognises_calls=not operator.lists, binding=Binding(operator))
    origin = f"Described in ``{form.origin}``, from which this function is generated."
    doc = f"{docstring(operator)}\n{origin}\n"
    function: Any = function_of(form, front, space, doc)
    function.__signature__ = function.prepare.__signature__ = _signature(operator)
    return function  # type: ignore[no-any-return]


def _preamble(operator: Operator, names: Sequence[str]) -> Iterator[str]:
    """Yield the lines that bind arguments of other names, or too many."""
    yield "if rest_ or others_:"
    for other, name in operator.synonyms.items():
        if isinstance(operator.by_name[name], Option):  # eps= is frequent, and often alone
            is_alone = f"len(others_) == 1 and {name} is defaults_[{name!r}]"
            yield f"    if others_.get({other!r}) is not None and {is_alone}:"
            yield f"        {name} = others_.pop({other!r})"
    given = f"{{{', '.join(f'{name!r}: {name}' for name in names)}}}"
    yield "    if rest_ or others_:"
    yield f"        {', '.join(names)}, = front_.bound({given}, rest_, others_)"
    if operator.saved:
        saved = ", ".join(operator.saved[1:])
        yield f"if saved is not None: {saved} = saved_(saved, ({saved}), stream)"


def _slot(operator: Operator, parameter: Parameter) -> Slot:
    if isinstance(parameter, Option):
        is_given = parameter.derived is None
        return Slot(parameter.name if is_given else "", _KINDS[parameter.kind])
    assert isinstance(parameter, Tensor)  # noqa: S101  # there are two kinds
    if parameter.read:
        return Slot(parameter.name, "t", False, parameter.optional, bool(parameter.by_chip))
    is_always = parameter.when is None and operator.mask is None and not parameter.on_request
    return Slot(parameter.name, "t", True, not is_always)


def _described_parameters(operator: Operator) -> Iterator[str]:
    # An argument without a default may have come by another name.
    yield from (f"{name}=defaults_[{name!r}]" for name in operator.positional)
    yield "*rest_"
    yield from (f"{name}=defaults_[{name!r}]" for name in operator.keywords)
    if operator.saved:
        yield "saved=None"
    yield "stream=None"
    if operator.outputs:
        yield "out=None"
    yield "**others_"


def _signature(operator: Operator) -> inspect.Signature:
    """Return the signature in the operator's own names."""
    parameters = []
    kinds = dict.fromkeys(operator.positional, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    further = [
        *operator.keywords,
        *["saved"] * bool(operator.saved),
        "stream",
        *["out"] * bool(operator.outputs),
    ]
    for name, kind in (kinds | dict.fromkeys(further, inspect.Parameter.KEYWORD_ONLY)).items():
        known = operator.by_name.get(name) if name in (*kinds, *operator.keywords) else None
        default = None if known is None else default_of(known)
        default = inspect.Parameter.empty if default is REQUIRED else default
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)
