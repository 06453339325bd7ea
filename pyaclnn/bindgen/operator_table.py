# SPDX-License-Identifier: Apache-2.0
"""Generator of the operator table of a library: CANN's, or a package of custom operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .catalogued import TAIL
from .declarations import GENERATED
from .reader import HeaderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .declarations import CParameter, Function

__all__ = ["KINDS", "write_operators"]

KINDS: Final[Mapping[str, str]] = {
    "aclTensor *": "t",
    "aclTensorList *": "T",
    "aclScalar *": "a",
    "aclScalarList *": "A",
    "aclIntArray *": "I",
    "aclFloatArray *": "F",
    "aclBoolArray *": "B",
    "char *": "s",
    "bool": "b",
    "double": "d",
    "float": "f",
    "int8_t": "c",
    "int": "i",
    "int32_t": "i",
    "int64_t": "q",
    "uint64_t": "Q",
    "aclDataType": "y",
}
"""C type of a phase-1 argument, without const -> its letter in ``struct mock_operator``."""
_MOST = 64
"""Largest number of parameters in a mask."""


def write_operators(functions: Iterable[Function], output: Path) -> None:
    """Write the table of a library of operators, a line each.

    A line is all that an operator needs: both of its phases are exported by the code around the
    table, ``mock_libs/api/operators``.

    Args:
        functions: Functions; of those of operators the first phases are taken, whose last two
            parameters are the same for all.
        output: The file to write.

    Raises:
        HeaderError: An operator lacks its second phase, or takes what the mock cannot send.
    """
    functions = list(functions)
    names = {function.name for function in functions}
    lines = [GENERATED]
    for function in functions:
        if function.operator is None:
            continue
        if function.operator not in names:
            raise HeaderError(f"{function.header}: {function.name} has no second phase")
        lines.append(_line(function, function.operator))
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _line(function: Function, operator: str) -> str:
    *arguments, _, _ = function.parameters
    if len(arguments) > _MOST:
        raise HeaderError(f"{function.header}: {function.name} has more than {_MOST} parameters")
    kinds = "".join(_kind(function, parameter) for parameter in arguments)
    names = "\\0".join(parameter.name for parameter in arguments)
    types = [parameter.declaration for parameter in (*arguments, *TAIL)]
    words = [f"WORD({parameter.name})" for parameter in (*arguments, *TAIL)]
    return f'OPERATOR({operator}, "{kinds}", "{names}", ({", ".join(types)}), ({", ".join(words)}))'


def _kind(function: Function, parameter: CParameter) -> str:
    kind = KINDS.get(parameter.type.removeprefix("const "))
    if kind is None:
        raise HeaderError(
            f"{function.header}: {function.name} takes {parameter.name} as "
            f"{parameter.type!r}, which the mock cannot send to its device"
        )
    return kind
