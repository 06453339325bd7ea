# SPDX-License-Identifier: Apache-2.0
"""The public function of a described operator, written out of its description.

The function is source text that Python compiles: its signature is its own, and the fast path of a
call names each argument instead of looping over them.
"""

from __future__ import annotations

import itertools
import linecache
from collections import namedtuple
from typing import TYPE_CHECKING, Any

from pyaclnn.calling.call import Call
from pyaclnn.calling.documentation import docstring
from pyaclnn.calling.fast_path import WRITTEN_WITH, Paths
from pyaclnn.calling.host import HostCalls, host_key, run_on_host
from pyaclnn.calling.launch import launch
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyaclnn.calling.tensor_list import EachFront
    from pyaclnn.facts.operators import Operator
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["public_function", "result_class"]


def result_class(operator: Operator) -> Callable[..., Any]:
    """Make the named tuple that an operator returns; of one result, what gives that itself."""
    names = [tensor.name for tensor in operator.returned]
    if len(names) == 1:
        return _alone
    made = namedtuple(operator.result_type, names)  # type: ignore[misc]  # noqa: PYI024
    made.__doc__ = f"What ``{operator.name}`` returns; arrays of the kind that went in."
    made.__module__ = "pyaclnn.ops"
    return made


def _alone(result: Any) -> Any:
    return result


class _Front:
    """What a public function needs beside its fast path."""

    def __init__(self, operator: Operator, make_result: Callable[..., Any]) -> None:
        self.operator = operator
        self.make_result = make_result
        self.paths = Paths()
        self.host_calls = HostCalls()

    def check(self, given: Mapping[str, Any], stream: StreamLike | None, out: Any) -> Call:
        return Call(self.operator, given, stream, out, self.make_result)

    def finish(
        self, key: object, given: Mapping[str, Any], stream: StreamLike | None, out: Any
    ) -> Any:
        """Make a call that is not remembered, and remember it if that is possible."""
        known = None if key is not None or out is not None else host_key(given)
        found = self.host_calls.get(known)
        call = self.check(given, stream, out) if found is None else found.again(given, stream)
        if call.on_host:
            if found is None and known is not None and not call.updated:
                self.host_calls.remember(known, call)
            return run_on_host(call)
        queue = call.stream
        arguments = call.place(queue)
        if call.zeros is None:
            launch(call.operator, *arguments, stream=queue, written=call.written)
            if key is not None:
                options = [p for p in self.operator.parameters.values() if isinstance(p, Option)]
                kept = tuple(given[o.name] for o in options if o.derived is None)
                self.paths.remember(key, call, kept)
        else:
            call.fill(queue)
        return call.result(arguments)


def public_function(operator: Operator, make_result: Callable[..., Any]) -> Callable[..., Any]:
    """Write the public function of an operator.

    Args:
        operator: Its description.
        make_result: Makes what is returned of the results, see `result_class`.

    Returns:
        The function; its attribute ``prepare`` checks a call and makes it not.
    """
    front: EachFront | _Front
    if operator.each:  # a few are, and they bring calls by name with them
        from pyaclnn.calling.tensor_list import EachFront  # noqa: PLC0415

        front = EachFront(operator, make_result)
    else:
        front = _Front(operator, make_result)
    source = "\n".join(_source(operator))
    name = f"<pyaclnn.ops.{operator.name}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {
        **WRITTEN_WITH,
        "front": front,
        "paths": getattr(front, "paths", None),  # a list is never recognised
        "make_result": make_result,
        "new_tuple": tuple.__new__,  # a third of the time of calling the class
        "one_of": _one_of,
        "defaults": {p.name: p.default for p in operator.options},
    }
    exec(compile(source, name, "exec"), space)  # noqa: S102  # the text is our own
    function: Any = space[operator.name]
    function.__module__ = "pyaclnn.ops"
    function.__doc__ = docstring(operator)
    function.prepare = space["prepare"]
    function.prepare.__doc__ = f"Check a call of ``{operator.name}`` and return it, unmade."
    return function  # type: ignore[no-any-return]


def _one_of(
    routine: str, name: str, value: Any, other: str, second: Any, defaults: Mapping[str, Any]
) -> Any:
    """Return what was given for an option that goes by two names."""
    if value is not defaults[name]:
        raise TypeError(f"{routine}() got '{name}' and '{other}', which are one argument")
    return second


def _source(operator: Operator) -> Iterator[str]:
    signature = _signature(operator)
    names = [*operator.positional, *operator.keywords]
    given = f"{{{', '.join(f'{name!r}: {name}' for name in names)}}}"
    renamed = [
        f"    if {other} is not None: {name} = one_of({operator.name!r}, {name!r}, {name}, "
        f"{other!r}, {other}, defaults)"
        for other, name in operator.synonyms.items()
    ]
    yield f"def prepare({signature}):"
    yield from renamed
    yield f"    return front.check({given}, stream, {'out' if operator.results else None})"
    yield f"def {operator.name}({signature}):"
    yield from renamed
    if not operator.results:
        yield "    out = None"
    if operator.each:
        yield f"    return front.check({given}, stream, out).make()"
        return
    yield "    try:"
    given_out = "None if out is None else layouts(out)"
    yield f"        key = ({', '.join(_keys(operator))}, {given_out})"
    yield "        path = paths.get(key)"
    yield "    except (AttributeError, TypeError):"
    yield "        key = path = None"
    options = [n for n in names if isinstance(operator.by_name[n], Option)]
    same = f" and exact(({', '.join(options)},), path)" if options else ""
    yield f"    if path is not None{same}:"
    yield f"        device = {operator.leader.name}._device"
    yield "        timeline = path.timeline(stream, device)"
    yield "        if timeline is not None:"
    yield "            results = path.results(timeline, device, out)"
    yield f"            message = path.pack({', '.join(_values(operator))}, path.tail)"
    yield "            status = path.operator.function(timeline.struct, no_plan, 0, message)"
    yield "            if status == untidy:"
    yield "                status = report_untidy() or 0"
    yield "            if status > 0:"
    yield f"                raise path.failure(status, {', '.join(_arguments(operator))})"
    yield "            if status == 0:"
    shown = "path.shown(results)" if any(t.placeholder for t in operator.results) else "results"
    if not operator.results:
        shown = f"({', '.join(tensor.name for tensor in operator.returned)},)"
    alone = len(operator.returned) == 1
    yield f"                return {f'{shown}[0]' if alone else f'new_tuple(make_result, {shown})'}"
    yield "            del results"  # they go back to the pool before others are taken
    yield f"    return front.finish(key, {given}, stream, out)"


def _signature(operator: Operator) -> str:
    words = [_declared(operator, name) for name in operator.positional]
    words.append("*")
    words += [_declared(operator, name) for name in operator.keywords]
    others = [f"{other}=None" for other in operator.synonyms]
    out = ["out=None"] if operator.results else []
    return ", ".join([*words, *others, "stream=None", *out])


def _declared(operator: Operator, name: str) -> str:
    parameter = operator.by_name[name]
    if isinstance(parameter, Tensor):
        return f"{name}=None" if parameter.optional else name
    return name if parameter.default is REQUIRED else f"{name}=defaults[{name!r}]"


def _keys(operator: Operator) -> Iterator[str]:
    for name in (*operator.positional, *operator.keywords):
        parameter = operator.by_name[name]
        if not isinstance(parameter, Tensor):
            yield name
        elif parameter.optional:
            yield f"None if {name} is None else {name}._layout"
        else:
            yield f"{name}._layout"


def _numbered(operator: Operator) -> Iterator[tuple[Tensor | Option, int | None]]:
    """The parameters in the order of C; constants are numbered, and results are."""
    constants, results = itertools.count(), itertools.count()
    for parameter in operator.parameters.values():
        if isinstance(parameter, Option):
            yield parameter, None if parameter.kind is Kind.ABSENT else next(constants)
        elif isinstance(parameter, Tensor):
            yield parameter, None if parameter.read else next(results)


def _values(operator: Operator) -> Iterator[str]:
    """The words of the message, in the order of C; constants and results by number."""
    for parameter, number in _numbered(operator):
        if isinstance(parameter, Option):
            yield "0" if number is None else f"path.constants[{number}]"
        elif number is not None:
            array = f"results[{number}]"
            always = parameter.when is None and operator.mask is None and not parameter.asked
            there = f"{array}._tensor_at"
            yield there if always else f"(0 if {array} is None else {there})"
        elif parameter.optional:
            yield f"(0 if {parameter.name} is None else {parameter.name}._tensor_at)"
        else:
            yield f"{parameter.name}._tensor_at"


def _arguments(operator: Operator) -> Iterator[str]:
    """The arguments themselves, in the order of C."""
    for parameter, number in _numbered(operator):
        if isinstance(parameter, Option):
            yield "None" if number is None else f"path.kept[{number}]"
        else:
            yield parameter.name if number is None else f"results[{number}]"
