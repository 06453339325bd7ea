# SPDX-License-Identifier: Apache-2.0
"""Any operator by its name: a function whose signature is that of C.

The function is source text that Python compiles when it is asked for, so that the fast path of a
call names each argument instead of looping over them.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import linecache
import threading
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.call_by_name import CallByName, refuse_others
from pyaclnn.calling.declared import Declared, snake_name
from pyaclnn.calling.documentation import signature_in_words
from pyaclnn.calling.empty import LeftOut
from pyaclnn.calling.fast_path import WRITTEN_WITH, Paths
from pyaclnn.cann.library import loaded_backend, operator_headers
from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["ANNOTATIONS", "NUMBER", "known_operators", "op", "operators_by_snake_name"]

_ARRAY: Final = "NDArray[Any] | DeviceArray"
NUMBER: Final = "complex | np.number[Any] | np.bool_"
"""What Python takes for an aclScalar."""
ANNOTATIONS: Final[Mapping[str, str]] = {
    "t": _ARRAY,
    "T": f"Sequence[{_ARRAY} | None]",
    "I": "int | Sequence[int]",
    "F": "float | Sequence[float]",
    "B": "bool | Sequence[bool]",
    "a": NUMBER,
    "A": f"Sequence[{NUMBER}]",
    "s": "str",
    "b": "bool",
    "d": "float",
    "f": "float",
    "c": "int",
    "i": "int",
    "q": "int",
    "Q": "int",
    "y": "DTypeLike | int",
}
"""What Python takes for each kind of parameter; that of pointers also None, for NULL."""
_POINTERS: Final = "tTIFBaAs"

_lock: Final = threading.RLock()
_made: Final[dict[str, Any]] = {}


def op(name: str) -> Any:
    """Return an operator of CANN as a function, by its C name.

    It takes the arguments of C, by position in the order of C or by their names (``from_`` and
    ``lambda_`` where Python reserves a name), and ``stream=``. Arrays are NumPy arrays, then it
    returns when all is done, or device arrays, then it queues the work and does not wait. Optional
    arguments that are left out are NULL, as is None. A result is an array, or ``Empty``, or left
    out where a rule tells its shape. What the operator writes is returned: itself if it is one.

    Args:
        name: The C name of the second phase, e.g. ``aclnnAdd``.

    Returns:
        The function, the same for the same name; ``help`` shows its parameters.

    Raises:
        InvalidArgumentError: No header, and no table, has such an operator.
        BackendNotFoundError: There is no backend to load.
        UnsupportedError: It takes what no operator of CANN takes.
    """
    found = _made.get(name)
    if found is not None:
        return found
    if not isinstance(name, str):
        raise InvalidArgumentError.of("op", "name", repr(name), "a C name, such as 'aclnnAdd'")
    operator_headers()
    with _lock:
        if name not in _made:
            declared = Declared.of(name)
            if declared is None:
                raise _unknown(name)
            _made[name] = _function(declared)
    return _made[name]


def known_operators() -> tuple[str, ...]:
    """Return the C names of all operators, sorted: of the installation, else of the table."""
    backend = loaded_backend()
    names = set(catalogue())
    if backend is not None:
        everything = operator_headers().everything()
        there = {n.removesuffix(PHASE_1) for n in everything if n.endswith(PHASE_1)}
        names = there if backend.headers and there else names | there
    return tuple(sorted(names))


def operators_by_snake_name() -> Mapping[str, str]:
    """Return the C names by Python's spelling; see ``known_operators``."""
    return _by_snake_name(loaded_backend() is not None)


@functools.lru_cache(1)
def _by_snake_name(_loaded: bool) -> Mapping[str, str]:
    """The names; they change when the backend is loaded, which happens once in a process."""
    return {snake_name(name): name for name in known_operators()}


def _unknown(name: str) -> InvalidArgumentError:
    known = known_operators()
    by_case = {other.lower(): other for other in known}
    wanted = name.lower() if name.lower().startswith("acl") else f"aclnn{name.lower()}"
    near = [by_case[n] for n in difflib.get_close_matches(wanted.replace("_", ""), by_case, 1)]
    hint = f"did you mean {near[0]!r}?" if near else "'pyaclnn ops list' lists them."
    given = f"{name!r}, which no header declares"
    return InvalidArgumentError.of("op", "name", given, "the C name of an operator", hint)


class _Front:
    """What the function of an operator needs beside its fast path."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self.paths = Paths()

    def check(
        self,
        given: Sequence[Any],
        rest: Sequence[Any],
        stream: StreamLike | None,
        others: Mapping[str, Any],
    ) -> CallByName:
        if rest or others:
            refuse_others(self.declared, given, rest, others)
        return CallByName(self.declared, given, stream)

    def finish(
        self,
        key: Any,
        given: Sequence[Any],
        rest: Sequence[Any],
        stream: StreamLike | None,
        others: Any,
    ) -> Any:
        """Make a call that is not remembered, and remember it if that is possible."""
        call = self.check(given, rest, stream, others)
        result = call.make()
        if key is not None and call.plain and call.outputs:
            self.paths.remember(key, call, key[-1])
        return result


def _function(declared: Declared) -> Callable[..., Any]:
    front = _Front(declared)
    source = "\n".join(_source(declared))
    file = f"<pyaclnn.aclnn.{snake_name(declared.name)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space: dict[str, Any] = {
        **WRITTEN_WITH,
        "front": front,
        "paths": front.paths,
        "required": LeftOut.REQUIRED,
        "made": LeftOut.RESULT,
    }
    exec(compile(source, file, "exec"), space)  # noqa: S102  # the text is our own
    for name in ("call", "prepare"):
        made = space[name]
        made.__name__ = made.__qualname__ = snake_name(declared.name)
        made.__module__ = "pyaclnn.aclnn"
        made.__signature__ = _signature(declared)
        made.__doc__ = signature_in_words(declared)
    function: Any = space["call"]
    function.prepare = space["prepare"]
    function.declared = declared
    return function  # type: ignore[no-any-return]


def _defaults(declared: Declared) -> Iterator[Any]:
    """What stands for each argument that is left out; nothing for those that must be given."""
    begun = False
    for place in range(len(declared.names)):
        if place in declared.optional and place not in declared.results:
            yield None
            begun = True
        elif place in declared.results:
            yield LeftOut.RESULT
            begun = True
        else:
            # Python wants a default after one that has one.
            yield LeftOut.REQUIRED if begun else inspect.Parameter.empty


def _signature(declared: Declared) -> inspect.Signature:
    parameters = []
    rows = zip(declared.names, declared.kinds, _defaults(declared), strict=True)
    for place, (name, kind, default) in enumerate(rows):
        text = f"{ANNOTATIONS[kind]}{' | Empty' * (place in declared.results and kind == 't')}"
        text += " | None" * (kind in _POINTERS)
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(name, kinds, default=default, annotation=text))
    stream = inspect.Parameter(
        "stream", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="StreamLike | None"
    )
    return inspect.Signature([*parameters, stream])


# ---- the source of the function ---------------------------------------------------------------


def _source(declared: Declared) -> Iterator[str]:
    listed = "".join(f"{name}, " for name in declared.names)
    words = {None: "None", LeftOut.RESULT: "made"}
    parameters = ", ".join(
        f"{name}={words.get(default, 'required')}"
        for name, default in zip(declared.names, _defaults(declared), strict=True)
    )
    head = f"({parameters}, *rest_, stream=None, **others_):"
    yield f"def prepare{head}"
    yield f"    return front.check(({listed}), rest_, stream, others_)"
    yield f"def call{head}"
    leader = _leader(declared)
    if leader is None:
        yield f"    return front.finish(None, ({listed}), rest_, stream, others_)"
        return
    yield "    try:"
    yield f"        options_ = ({''.join(_options(declared))})"
    yield f"        key_ = ({''.join(_keys(declared))}options_)"
    yield "        path_ = paths.get(key_)"
    yield f"        device_ = {leader}._device"
    yield "    except (AttributeError, TypeError, ValueError):"
    yield "        key_ = path_ = None"
    yield "    if path_ is not None and exact(options_, path_) and not rest_ and not others_:"
    yield "        timeline_ = path_.timeline(stream, device_)"
    yield "        if timeline_ is not None:"
    yield f"            message_ = path_.pack({', '.join(_words(declared))}, path_.tail)"
    yield "            status_ = path_.operator.function(timeline_.struct, no_plan, 0, message_)"
    yield "            if status_ == untidy:"
    yield "                status_ = report_untidy() or 0"
    yield "            if status_ == 0:"
    yield f"                return {_result(declared)}"
    yield "            if status_ > 0:"
    yield f"                raise path_.failure(status_, {listed})"
    yield f"    return front.finish(key_, ({listed}), rest_, stream, others_)"


def _leader(declared: Declared) -> str | None:
    """The array by which a call is recognised; None for an operator whose calls are not."""
    if "T" in declared.kinds or "A" in declared.kinds or "F" in declared.kinds:
        return None  # they change with every call, and what is equal may differ: 0.0 and -0.0
    if declared.found_later:
        return None
    rows = zip(declared.names, declared.kinds, strict=True)
    tensors = [(place, name) for place, (name, kind) in enumerate(rows) if kind == "t"]
    always = [name for place, name in tensors if place not in declared.optional]
    return next(iter(always), None)


def _options(declared: Declared) -> Iterator[str]:
    for name, kind in zip(declared.names, declared.kinds, strict=True):
        if kind in "IB":
            yield f"tuple({name}) if {name}.__class__ is list else {name}, "
        elif kind != "t":
            yield f"{name}, "


def _keys(declared: Declared) -> Iterator[str]:
    for name, kind in zip(declared.names, declared.kinds, strict=True):
        if kind == "t":
            yield f"None if {name} is None else {name}._layout, "
        elif kind in "adf":
            yield f"None if {name} else repr({name}), "  # 0.0 and -0.0 are equal


def _words(declared: Declared) -> Iterator[str]:
    constants = 0
    for name, kind in zip(declared.names, declared.kinds, strict=True):
        if kind == "t":
            yield f"(0 if {name} is None else {name}._tensor_at)"
        else:
            yield f"path_.constants[{constants}]"
            constants += 1


def _result(declared: Declared) -> str:
    names = [declared.names[place] for place in declared.written]
    return names[0] if len(names) == 1 else f"({''.join(f'{name}, ' for name in names)})"
