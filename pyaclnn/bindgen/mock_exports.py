# SPDX-License-Identifier: Apache-2.0
"""Generates the C sources of the mock libraries that follow from declarations and data.

The table of a library of operators; a fallback for every runtime and base function that is not
written by hand; the table of simulated chips; what a simulated release says of itself.
"""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Final

from .catalogued import TAIL
from .mock_gates import GENERATED, NOTHING, REFUSALS, STATUS, exported
from .reader import HeaderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from .declarations import Declarations, Function, Parameter, Release

__all__ = ["KINDS", "write_chips", "write_fallbacks", "write_operators", "write_release"]

_REFUSING: Final = {"acl/rt/kernel.h": "mock_unimplemented_binary"}
"""Header -> what refuses its functions with a text of their own."""

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
"""Parameters that a mask can tell apart."""


def write_operators(functions: Iterable[Function], output: Path) -> None:
    """Write the table of a library of operators, a line each.

    A line is all that an operator needs: both of its phases are exported by what stands around the
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


def _kind(function: Function, parameter: Parameter) -> str:
    kind = KINDS.get(parameter.type.removeprefix("const "))
    if kind is None:
        raise HeaderError(
            f"{function.header}: {function.name} takes {parameter.name} as "
            f"{parameter.type!r}, which the mock cannot send to its device"
        )
    return kind


def write_fallbacks(declarations: Declarations, library: str, release: str, output: Path) -> None:
    """Write a weak definition of every function that a release's library exports.

    A hand-written definition overrides the weak one when the library is linked. What is left
    answers with a code of the mock's own and a text, never with success.
    """
    output.write_text(
        "\n".join(_fallbacks(declarations, library, release)) + "\n", encoding="utf-8"
    )


def _fallbacks(declarations: Declarations, library: str, release: str) -> Iterator[str]:
    yield GENERATED
    yield from (f'#include "{h}"' for h in declarations.headers if not h.startswith("aclnnop/"))
    yield '#include "message.h"'
    for function in exported(declarations.functions, library, release):
        yield f'\n__attribute__((weak, section("{REFUSALS}")))'
        yield f"{function.signature(function.name)}\n{{"
        yield from (f"    (void)({p.name});" for p in function.parameters)
        refuse = _REFUSING.get(function.header, "mock_unimplemented")
        result = f'{refuse}("{function.name}")'
        if function.returns in STATUS:
            yield f"    return ({function.returns}){result};\n}}"
        else:
            yield f"    {result};"
            nothing = NOTHING.get(function.returns, "0")
            yield "}" if function.returns == "void" else f"    return {nothing};\n}}"


def write_release(release: Release, output: Path) -> None:
    """Write what a release says of itself as a C initialiser."""
    major, minor, rest = release.version.split(".")
    texts = ", ".join(f'"{text}"' for text in (release.name, release.version, major, minor, rest))
    interface = ", ".join(map(str, release.interface))
    output.write_text(
        f"{GENERATED}\n{texts}, {{{interface}}}, {release.headers}\n", encoding="utf-8"
    )


def write_chips(chips: Path, output: Path) -> None:
    """Write the table of simulated chips as C initialisers, the one by default first.

    Args:
        chips: The module that reads the table; the package cannot be imported yet.
        output: The file to write.
    """
    known = runpy.run_path(str(chips), run_name="chips")
    rows = sorted(known["all_chips"](), key=lambda chip: chip.soc_name != known["DEFAULT_SOC_NAME"])
    lines = [GENERATED]
    for chip in rows:
        names = f'"{chip.soc_name}", "{chip.family}", {str(chip.bfloat16).lower()}'
        numbers = (chip.memory_bytes, chip.ai_cores, chip.vector_cores, chip.streams, chip.events)
        lines.append(f"{{{names}, {', '.join(map(str, numbers))}, {chip.l2_bytes}}},")
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")
