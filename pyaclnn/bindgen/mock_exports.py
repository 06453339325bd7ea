# SPDX-License-Identifier: Apache-2.0
"""Generates the C sources of the mock libraries that follow from declarations and data.

Three files: both phases of every operator; a fallback for every runtime and base function that
is not written by hand; the table of simulated chips.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .mock_gates import NOTHING, STATUS, exported
from .reader import HeaderError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .declarations import Declarations, Function, Parameter

__all__ = ["write_chips", "write_fallbacks", "write_operators"]

# C type of a phase-1 argument -> the call that puts it into the message to the device.
_ENCODER = {
    "aclTensor *": "tensor",
    "aclTensorList *": "tensor_list",
    "aclScalar *": "scalar",
    "aclScalarList *": "scalar_list",
    "aclIntArray *": "int_array",
    "aclFloatArray *": "float_array",
    "aclBoolArray *": "bool_array",
    "char *": "string",
    "bool": "bool",
    "double": "double",
    "float": "double",
    "int8_t": "int",
    "int": "int",
    "int32_t": "int",
    "int64_t": "int",
    "aclDataType": "int",
    "uint64_t": "uint",
}
_GENERATED = "/* Generated from include_stubs; edit the headers or the generator instead. */"


def write_operators(declarations: Declarations, output: Path) -> None:
    """Write the exported operator functions of ``libopapi.so``."""
    names = {f.name for f in declarations.functions}
    output.write_text("\n".join(_operators(declarations, names)) + "\n", encoding="utf-8")


def _operators(declarations: Declarations, names: set[str]) -> Iterator[str]:
    yield _GENERATED
    yield from (f'#include "{h}"' for h in declarations.headers if h.startswith("aclnnop/"))
    yield '#include "phase1.h"'
    yield '#include "phase2.h"'
    for function in declarations.functions:
        if function.operator is None:
            continue
        if function.operator not in names:
            raise HeaderError(f"{function.header}: {function.name} has no second phase")
        yield from _phase_1(function)
        yield from _phase_2(function.operator)


def _phase_1(function: Function) -> Iterator[str]:
    *arguments, workspace_size, executor = function.parameters
    yield f"\n{function.signature(function.name)}\n{{"
    yield "    struct mock_call call;"
    yield f'    mock_call_begin(&call, "{function.operator}");'
    yield from (f"    {_encode(function, p)}" for p in arguments)
    yield f"    return mock_phase1(&call, {workspace_size.name}, {executor.name});\n}}"


def _encode(function: Function, parameter: Parameter) -> str:
    kind = _ENCODER.get(parameter.type.removeprefix("const "))
    if kind is None:
        raise HeaderError(
            f"{function.header}: {function.name} takes {parameter.name} as "
            f"{parameter.type!r}, which the mock cannot send to its device"
        )
    return f'mock_call_{kind}(&call, "{parameter.name}", {parameter.name});'


def _phase_2(operator: str) -> Iterator[str]:
    yield (
        f"\naclnnStatus {operator}(void *workspace, uint64_t workspaceSize, "
        "aclOpExecutor *executor, aclrtStream stream)\n{"
    )
    yield f'    return mock_phase2("{operator}", workspace, workspaceSize, executor, stream);'
    yield "}"


def write_fallbacks(declarations: Declarations, library: str, output: Path) -> None:
    """Write a weak definition of every function that a library exports.

    A hand-written definition overrides the weak one when the library is linked. What is left
    answers with a code of the mock's own and a text, never with success.
    """
    output.write_text("\n".join(_fallbacks(declarations, library)) + "\n", encoding="utf-8")


def _fallbacks(declarations: Declarations, library: str) -> Iterator[str]:
    yield _GENERATED
    yield from (f'#include "{h}"' for h in declarations.headers if not h.startswith("aclnnop/"))
    yield '#include "message.h"'
    for function in exported(declarations.functions, library):
        yield f"\n__attribute__((weak)) {function.signature(function.name)}\n{{"
        yield from (f"    (void)({p.name});" for p in function.parameters)
        result = f'mock_unimplemented("{function.name}")'
        if function.returns in STATUS:
            yield f"    return ({function.returns}){result};\n}}"
        else:
            yield f"    {result};"
            nothing = NOTHING.get(function.returns, "0")
            yield "}" if function.returns == "void" else f"    return {nothing};\n}}"


def write_chips(chips: Path, output: Path) -> None:
    """Write the table of simulated chips as C initialisers."""
    rows = json.loads(chips.read_text(encoding="utf-8"))
    fields = ("memory_bytes", "ai_cores", "vector_cores", "streams", "events", "l2_bytes")
    lines = [_GENERATED]
    for row in rows:
        values = ", ".join(str(row[field]) for field in fields)
        lines.append(f'{{"{row["soc_name"]}", "{row["family"]}", {values}}},')
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")
