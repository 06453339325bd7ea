# SPDX-License-Identifier: Apache-2.0
"""Typed stubs of operators that have no description, for editors and type checkers."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Final

from pyaclnn.calling.declared import Declared, snake_name
from pyaclnn.calling.operator import kind_of
from pyaclnn.calling.undescribed_function import ANNOTATIONS, NUMBER
from pyaclnn.facts.operators.directions import directions_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyaclnn.cann.signatures import Signature

__all__ = ["module_stub", "typed_stub"]

_USER_HEAD: Final = '''\
"""The operators of CANN by name. Written by "pyaclnn ops stub".

    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        import NAME_OF_THIS_FILE as aclnn
    else:
        from pyaclnn import aclnn
"""
# ruff: noqa
'''
_HEAD: Final = """\
# mypy: disable-error-code="overload-overlap"
import builtins  # an operator is called complex
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pyaclnn import DeviceArray, Empty, StreamLike, SupportsDLPack

_MaybeNone: TypeAlias = Any  # None where the caller gave None for a result
_A = TypeVar("_A", NDArray[Any], DeviceArray)
_Host: TypeAlias = NDArray[Any] | SupportsDLPack
_Number: TypeAlias = builtins.complex | np.number[Any] | np.bool_
"""
_MODULE_HEAD: Final = """
from typing import Literal

from pyaclnn.calling.call import Call
from pyaclnn.calling.declared import Declared
from pyaclnn.calling.undescribed_function import OperatorFunction

class _Operator:
    declared: Declared
    def prepare(self, *arguments: Any, stream: StreamLike | None = None, **names: Any) -> Call: ...
"""
_BY_ANY_NAME: Final = """\
@overload
def op(name: str) -> OperatorFunction: ...
"""
_ANY_ARRAY: Final = "NDArray[Any] | DeviceArray"


def typed_stub(declared: Mapping[str, Signature]) -> str:
    """Return the text of a stub file of a user.

    Args:
        declared: The first phases of operators, by the C name of the second. Those that take what
            Python cannot give are left out.
    """
    return f"{_USER_HEAD}{_body(declared)}\n"


def module_stub(declared: Mapping[str, Signature]) -> str:
    """Return the text of the stub of ``pyaclnn.aclnn`` without its head, a line a signature.

    Operators of equal signatures share a class with that signature: ``op`` returns it by C name,
    and the operator in Python's spelling is its method, which editors show as a function.

    Args:
        declared: See ``typed_stub``.
    """
    alike: dict[str, list[str]] = {}
    for one in _understood(declared):
        text = "\n".join(_functions(one))
        text = re.sub(r"(?<=\()\n {4}|,?\n(?=\))|(?<=,)\n {3}", "", text)
        method = re.sub(r"^def \w+\(", "def __call__(this, ", text, flags=re.MULTILINE)
        alike.setdefault(method.replace("this, )", "this)"), []).append(one.name)
    classes, functions, by_name = [], [], []
    for method, names in alike.items():
        classes += [f"class _{names[0]}(_Operator):", textwrap.indent(method, "    ")]
        functions += [f"{snake_name(name)} = _{names[0]}().__call__" for name in names]
        literals = ", ".join(f'"{name}"' for name in names)
        by_name += ["@overload", f"def op(name: Literal[{literals}]) -> _{names[0]}: ..."]
    return "\n".join([_HEAD + _MODULE_HEAD, *classes, *by_name, _BY_ANY_NAME, *functions]) + "\n"


def _body(declared: Mapping[str, Signature]) -> str:
    return "\n".join([_HEAD, *(line for one in _understood(declared) for line in _functions(one))])


def _understood(declared: Mapping[str, Signature]) -> Iterator[Declared]:
    """Yield the operators whose parameters Python can give."""
    for name, found in declared.items():
        kinds = [kind_of(c_type) for c_type in found.types[:-2]]
        if all(kinds):
            names, types = found.parameters[:-2], found.types[:-2]
            directions = directions_of(name, names, types)
            yield Declared(name, found, directions, "".join(kinds))


def _functions(declared: Declared) -> Iterator[str]:
    # Without an array that must be given nothing shows the kind of arrays.
    if set(declared.tensors) - {*declared.results, *declared.optional}:
        for given, made in (("_A", "_A"), ("_Host", "NDArray[Any]")):
            yield "@overload"
            yield from _function(declared, given, made)
    else:
        yield from _function(declared, _ANY_ARRAY, _ANY_ARRAY)


def _function(declared: Declared, array: str, made: str) -> Iterator[str]:
    yield f"def {snake_name(declared.name)}("
    begun = False
    for place, (name, kind) in enumerate(zip(declared.names, declared.kinds, strict=True)):
        result = place in declared.results
        begun = begun or result or place in declared.optional
        text = {"t": array, "T": f"Sequence[{array} | None]"}.get(kind, ANNOTATIONS[kind])
        text = text.replace(NUMBER, "_Number")
        if result:
            text += {"t": " | Empty", "T": f" | Sequence[{array} | Empty | None]"}[kind]
        text += " | None" if kind in "tTIFBaAs" else ""
        yield f"    {name}: {text}{' = ...' if begun else ''},"
    yield "    *,"
    yield "    stream: StreamLike | None = None,"
    yield f") -> {_returned(declared, made)}: ..."


def _returned(declared: Declared, array: str) -> str:
    if declared.found_later:
        return "Any"
    kinds = [declared.kinds[place] for place in declared.written]
    words = [array if kind == "t" else f"tuple[{array} | _MaybeNone, ...]" for kind in kinds]
    if len(words) == 1:
        return words[0]
    return f"tuple[{', '.join(f'{word} | _MaybeNone' for word in words) or '()'}]"
