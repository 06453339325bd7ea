# SPDX-License-Identifier: Apache-2.0
"""Writes the types of an installation's operators, for editors and type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.calling.declared import Declared, snake_name
from pyaclnn.calling.operator import kind_of
from pyaclnn.calling.undescribed_function import ANNOTATIONS, NUMBER
from pyaclnn.facts.operators.directions import directions_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyaclnn.cann.signatures import Signature

__all__ = ["typed_stub"]

_HEAD: Final = '''\
"""The operators of CANN by name. Written by "pyaclnn ops stub".

    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        import NAME_OF_THIS_FILE as aclnn
    else:
        from pyaclnn import aclnn
"""
# ruff: noqa
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pyaclnn import DeviceArray, Empty, StreamLike

_A = TypeVar("_A", NDArray[Any], DeviceArray)
_Number: TypeAlias = complex | np.number[Any] | np.bool_
'''


def typed_stub(declared: Mapping[str, Signature]) -> str:
    """Return the text of a stub file.

    Args:
        declared: The first phases of operators, by the C name of the second. Those that take what
            Python cannot give are left out.
    """
    lines = [_HEAD]
    for name, found in declared.items():
        kinds = [kind_of(c_type) for c_type in found.types[:-2]]
        if all(kinds):
            names, types = found.parameters[:-2], found.types[:-2]
            directions = directions_of(name, names, types)
            lines += _function(Declared(name, found, directions, "".join(kinds)))
    return "\n".join(lines) + "\n"


def _function(declared: Declared) -> Iterator[str]:
    # Without an array that must be given nothing tells the kind of arrays.
    given = [
        p for p in declared.tensors if p not in declared.results and p not in declared.optional
    ]
    array = "_A" if given else "NDArray[Any] | DeviceArray"
    yield f"def {snake_name(declared.name)}("
    begun = False
    for place, (name, kind) in enumerate(zip(declared.names, declared.kinds, strict=True)):
        result = place in declared.results
        begun = begun or result or place in declared.optional
        text = {"t": array, "T": f"Sequence[{array} | None]"}.get(kind, ANNOTATIONS[kind])
        text = text.replace(NUMBER, "_Number")  # an operator is called complex
        if result:
            text += {"t": " | Empty", "T": f" | Sequence[{array} | Empty | None]"}[kind]
        text += " | None" if kind in "tTIFBaAs" else ""
        yield f"    {name}: {text}{' = ...' if begun else ''},"
    yield "    *,"
    yield "    stream: StreamLike | None = None,"
    yield f") -> {_returned(declared, array)}: ..."


def _returned(declared: Declared, array: str) -> str:
    if declared.found_later:
        return "Any"
    kinds = [declared.kinds[place] for place in declared.written]
    words = [array if kind == "t" else f"tuple[{array} | None, ...]" for kind in kinds]
    if len(words) == 1:
        return words[0]
    return f"tuple[{', '.join(f'{word} | None' for word in words) or '()'}]"
