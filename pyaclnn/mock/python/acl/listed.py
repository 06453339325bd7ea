# SPDX-License-Identifier: Apache-2.0
"""Functions of pyACL that follow from their C declarations alone.

``acl.mdl.get_num_inputs`` is ``aclmdlGetNumInputs``. Places for results are no arguments: what C
writes there is returned, before the status. Addresses are integers.
"""

from __future__ import annotations

import ctypes
import functools
import re
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.cann.simulator import libdir, writtendir
from pyaclnn.facts.interface import interface

from .library import library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Area", "listed"]

_NUMBERS: Final[Mapping[str, Any]] = {
    "int": ctypes.c_int,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    **{f"{u}int{n}_t": getattr(ctypes, f"c_{u}int{n}") for u in ("", "u") for n in (8, 16, 32, 64)},
}
_STATUS: Final = {"aclError", "aclnnStatus"}


def _library_of(c_name: str) -> ctypes.CDLL:
    """Return the library that has a function: the runtime, or one of those beside it."""
    beside = "libmsprofiler.so" if c_name.startswith("aclprof") else ""
    return ctypes.CDLL(str(libdir() / beside)) if beside else library()


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


def _parameter(text: str) -> tuple[Any, bool]:
    """Return the ctypes type of a parameter, and whether it is a place for a result."""
    words = " ".join(re.sub(r"\[\w*\]", "*", text.replace("*", " * ")).split())
    constant, stars = words.startswith("const "), words.count("*")
    base = words.removeprefix("const ").split()[0]
    if stars == 0:
        return _types().get(base, ctypes.c_void_p), False
    if stars == 1 and not constant and base in _types() and base != "char":
        return _types()[base], True
    if stars == 2 and not constant and "const" not in words:  # noqa: PLR2004  # void **
        return ctypes.c_void_p, True
    return (ctypes.c_char_p if base == "char" and constant else ctypes.c_void_p), False


@functools.cache
def _declarations() -> Mapping[str, tuple[str, str, str]]:
    found = re.findall(r"^([\w ]+?[ *]+)(acl\w+)\(([^;{}]*)\);", _text(), re.MULTILINE)
    return {name.lower(): (returns.strip(), name, inside) for returns, name, inside in found}


def listed(area: str, name: str) -> Callable[..., Any]:
    """Return a function of an area of pyACL.

    Args:
        area: The area, e.g. ``mdl``; empty for functions of ``acl`` itself.
        name: Its name in Python's spelling.

    Raises:
        AttributeError: CANN declares no such function.
    """
    declared = _declarations().get(f"acl{area}{name.replace('_', '')}")
    if declared is None or name != name.lower():
        where = f"acl.{area}" if area else "acl"
        message = f"module {where!r} has no attribute {name!r}"
        raise AttributeError(message)
    returns, c_name, inside = declared
    parts = [] if inside.strip() in {"", "void"} else inside.split(",")
    parameters = [_parameter(part) for part in parts]
    function = _library_of(c_name)[c_name]
    pointer = ctypes.c_char_p if "char" in returns else ctypes.c_void_p
    plain = None if returns == "void" else _types().get(returns, ctypes.c_void_p)
    function.restype = pointer if "*" in returns else plain

    def call(*given: Any) -> Any:
        left = iter(a.encode() if isinstance(a, str) else a for a in given)
        places = [kind() for kind, is_result in parameters if is_result]
        results = iter(places)
        arguments = [
            ctypes.byref(next(results)) if is_result else _given(kind, next(left))
            for kind, is_result in parameters
        ]
        answer = function(*arguments)
        if isinstance(answer, bytes):
            return answer.decode(errors="replace")
        if returns not in _STATUS:
            return answer if answer is not None or returns == "void" else 0
        return (*(place.value or 0 for place in places), answer) if places else answer

    call.__name__ = name
    call.__doc__ = f"Call ``{c_name}``."
    return call


def _given(kind: Any, value: Any) -> Any:
    if isinstance(value, bytes) or value is None:
        return value
    return ctypes.c_void_p(value) if kind is ctypes.c_char_p else kind(value)


class Area:
    """An area of pyACL, such as ``acl.mdl``."""

    def __init__(self, name: str) -> None:
        """Name the area as C does."""
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return a function of the area."""
        return listed(self._name, name)
