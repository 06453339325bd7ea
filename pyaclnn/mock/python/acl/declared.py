# SPDX-License-Identifier: Apache-2.0
"""Functions of pyACL that follow from their C declarations.

``acl.mdl.get_num_inputs`` is ``aclmdlGetNumInputs``. Places for results are no arguments: what C
writes there is returned, before the status. A Python list stands for an array and its length.
Handles and addresses are integers.
"""

from __future__ import annotations

import ctypes
import functools
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyaclnn.cann.simulator import libdir, writtendir
from pyaclnn.facts.interface import interface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["declared", "library"]

_NUMBERS: Final[Mapping[str, Any]] = {
    "int": ctypes.c_int,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    **{f"{u}int{n}_t": getattr(ctypes, f"c_{u}int{n}") for u in ("", "u") for n in (8, 16, 32, 64)},
}
_STATUS: Final = {"aclError", "aclnnStatus"}
_ELEMENTS: Final = {"aclDataBuffer", "aclTensorDesc"}
"""Handles that functions take arrays of."""
_BESIDE_THE_RUNTIME: Final = {
    "aclblas": "libacl_cblas.so",
    "aclfv": "libacl_retr.so",
    "aclprof": "libmsprofiler.so",
}


class _Parameter(NamedTuple):
    """A parameter in C: the ctypes type of its value or elements, and what Python gives for it."""

    type: Any
    role: str
    """``value``, ``list``, ``count`` (of the list that follows, given by its length) or
    ``result``."""


@functools.cache
def library(name: str = "libascendcl.so") -> ctypes.CDLL:
    """Return a library of the simulated NPU, opened once.

    Args:
        name: Its file name; by default the runtime's.
    """
    return ctypes.CDLL(str(libdir() / name))


@functools.cache
def _text() -> str:
    """Return every declaration, those written by hand first."""
    paths = sorted((writtendir() / "acl").rglob("*.h"))
    written = (path.read_text("utf-8").replace("ACL_FUNC_VISIBILITY ", "") for path in paths)
    return "\n".join([*written, *(f"{row.text};" for row in interface())])


@functools.cache
def _types() -> Mapping[str, Any]:
    handles = re.findall(r"typedef void \*(\w+);", _text())
    enums = re.findall(r"typedef enum \w+\s*\{[^}]*\} (\w+);", _text())
    return {
        **_NUMBERS,
        **dict.fromkeys(handles, ctypes.c_void_p),
        **dict.fromkeys((*enums, *_STATUS), ctypes.c_int),
    }


def _parameter(text: str, counted: bool) -> _Parameter:
    """Read a parameter.

    Args:
        text: Its declaration.
        counted: True if the parameter before it is its number of elements.
    """
    words = " ".join(re.sub(r"\[\w*\]", " * ", text.replace("*", " * ")).split())
    constant, stars = words.startswith("const "), words.count("*")
    base = words.removeprefix("const ").split()[0]
    plain = _types().get(base, ctypes.c_void_p)
    if counted or (base in _ELEMENTS and stars > 1):
        string = ctypes.c_char_p if base == "char" else ctypes.c_void_p
        return _Parameter(plain if stars == 1 else string, "list")
    if stars == 0:
        return _Parameter(plain, "count" if re.fullmatch(r"int num[A-Z]\w*", words) else "value")
    if stars == 1 and not constant and base in _types() and base != "char":
        return _Parameter(plain, "result")
    if stars == 2 and not constant and "const" not in words:  # noqa: PLR2004  # void **
        return _Parameter(ctypes.c_void_p, "result")
    string = ctypes.c_char_p if base == "char" and constant else ctypes.c_void_p
    return _Parameter(string, "value")


@functools.cache
def _declarations() -> Mapping[str, tuple[str, str, str]]:
    found = re.findall(r"^([\w ]+?[ *]+)(acl\w+)\(([^;{}]*)\);", _text(), re.MULTILINE)
    return {name.lower(): (returns.strip(), name, inside) for returns, name, inside in found}


@functools.cache
def declared(area: str, name: str) -> Callable[..., Any]:
    """Return a function of an area of pyACL.

    Args:
        area: The area, e.g. ``mdl``; empty for functions of ``acl`` itself.
        name: Its name in Python's spelling.

    Raises:
        AttributeError: CANN declares no such function.
    """
    declaration = _declarations().get(f"acl{area}{name.replace('_', '')}")
    if declaration is None or name != name.lower():
        where = f"acl.{area}" if area else "acl"
        message = f"module {where!r} has no attribute {name!r}"
        raise AttributeError(message)
    returns, c_name, inside = declaration
    parameters: list[_Parameter] = []
    for part in [] if inside.strip() in {"", "void"} else inside.split(","):
        counted = bool(parameters) and parameters[-1].role == "count"
        parameters.append(_parameter(part, counted))
    beside = [file for start, file in _BESIDE_THE_RUNTIME.items() if c_name.startswith(start)]
    function = library(*beside)[c_name]
    pointer = ctypes.c_char_p if "char" in returns else ctypes.c_void_p
    plain = None if returns == "void" else _types().get(returns, ctypes.c_void_p)
    function.restype = pointer if "*" in returns else plain
    expected = sum(parameter.role in {"value", "list"} for parameter in parameters)

    def call(*given: Any) -> Any:
        if len(given) != expected:
            message = f"{name}() takes {expected} arguments for {c_name}, not {len(given)}"
            raise TypeError(message)
        left = iter(given)
        places = [p.type() for p in parameters if p.role == "result"]
        answer = function(*_arguments(parameters, left, iter(places)))
        if pointer is ctypes.c_char_p:
            return "" if answer is None else answer.decode(errors="replace")
        if returns not in _STATUS:
            return answer if answer is not None or returns == "void" else 0
        return (*(place.value or 0 for place in places), answer) if places else answer

    call.__name__ = name
    call.__doc__ = f"Call ``{c_name}``."
    return call


def _arguments(
    parameters: list[_Parameter], left: Iterator[Any], places: Iterator[Any]
) -> Iterator[Any]:
    """Yield the arguments of C: numbers, strings, arrays and their lengths, places of results."""
    array: Any = None
    for index, parameter in enumerate(parameters):
        if parameter.role == "result":
            yield ctypes.byref(next(places))
        elif parameter.role == "count":
            array = _array(parameters[index + 1].type, next(left))
            yield parameter.type(len(array))
        elif parameter.role == "list":
            yield array if array is not None else _array(parameter.type, next(left))
            array = None
        else:
            yield _value(parameter.type, next(left))


def _array(kind: Any, values: Any) -> Any:
    return (kind * len(values))(*(_encoded(value) for value in values))


def _encoded(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _value(kind: Any, value: Any) -> Any:
    if isinstance(value, (str, bytes)) or value is None:
        return _encoded(value)
    return ctypes.c_void_p(value) if kind is ctypes.c_char_p else kind(value)
