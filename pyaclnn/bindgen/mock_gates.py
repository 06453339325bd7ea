# SPDX-License-Identifier: Apache-2.0
"""Generates the gate of every function that the mock libraries export.

The functions are written, or generated, under their own names; a header of macros turns those into
internal names, and what is exported is a wrapper that passes through one gate: there calls are
counted, faults are injected, and the caller is noted. So no exported function can forget it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from .declarations import Declarations, Function

__all__ = ["LIBRARIES", "NOTHING", "STATUS", "exported", "write_gates"]

LIBRARIES = ("runtime", "base", "operators", "graph", "tasks", "collectives")
"""The kinds of library that the simulated NPU has."""
_GENERATED = "/* Generated from include_stubs; edit the headers or the generator instead. */"
STATUS = frozenset({"aclError", "aclnnStatus", "HcclResult", "int32_t", "rtError_t"})
"""The types of a result that tells of failure by a code."""
NOTHING = {"aclDataType": "ACL_DT_UNDEFINED", "aclFormat": "ACL_FORMAT_UNDEFINED"}
"""Type of another result -> what tells of failure, if it is not 0."""
_NEWER = frozenset({"aclrtBinaryLoadFromData"})
"""Exported although it is newer than CANN 8.1: programs that find their way without it link it."""
# The name of a type whose content nobody sees: a pointer to one is a handle.
_INCOMPLETE = re.compile(r"^typedef struct \w+ (\w+);", re.MULTILINE)


def exported(functions: Iterable[Function], library: str) -> list[Function]:
    """The functions of a library that have a gate: all it exports but variadic ones."""
    return [
        f
        for f in functions
        if f.library == library
        and not f.variadic
        and (library == "operators" or f.since == "8.1" or f.name in _NEWER)
    ]


def write_gates(
    declarations: Declarations, output: Path, libraries: Sequence[str] = LIBRARIES
) -> None:
    """Write, for each library, the header of internal names and the source of the gates."""
    for library in libraries:
        functions = exported(declarations.functions, library)
        renames = [_GENERATED, *(f"#define {f.name} impl_{f.name}" for f in functions)]
        (output / f"{library}_names.h").write_text("\n".join(renames) + "\n", encoding="utf-8")
        text = "\n".join(_gates(declarations, library, functions))
        (output / f"{library}_gates.c").write_text(text + "\n", encoding="utf-8")


def _gates(declarations: Declarations, library: str, functions: list[Function]) -> Iterator[str]:
    yield _GENERATED
    yield from (f'#include "{header}"' for header in declarations.headers)
    # libopapi reaches the gate through libnnopbase, the only library it needs.
    gate = "operator_gate" if library == "operators" else "gate"
    yield f'#include "{gate}.h"'
    gate = f"mock_{gate}"
    yield from (f"#undef {f.name}" for f in functions)
    operators = {f.operator for f in functions if f.operator is not None}
    handles = set(_INCOMPLETE.findall("\n".join(declarations.types)))
    yield "\nstatic struct mock_function functions[] = {"
    for f in functions:
        runs = "true" if f.name in operators else "false"
        status = "true" if f.returns in STATUS else "false"
        yield f'    {{.name = "{f.name}", .status = {status}, .runs = {runs}}},'
    yield "};"
    yield "\n__attribute__((constructor)) static void add(void)\n{"
    yield f"    {gate}_register(functions, sizeof functions / sizeof functions[0]);\n}}"
    yield "\n__attribute__((destructor)) static void drop(void)\n{"
    yield f"    {gate}_unregister(functions);\n}}"
    for index, function in enumerate(functions):
        yield from _gate(index, function, gate, operators, handles)


def _gate(
    index: int, function: Function, gate: str, operators: set[str], handles: set[str]
) -> Iterator[str]:
    names = ", ".join(parameter.name for parameter in function.parameters)
    call = f"impl_{function.name}({names})"
    # The declaration comes again: a function may be declared for operators only.
    yield f"\n{function.signature(function.name)};"
    yield f'__attribute__((visibility("default"))) {function.signature(function.name)}\n{{'
    yield "    struct mock_frame frame;"
    opened = f"{gate}_open(&frame, &functions[{index}], __builtin_return_address(0))"
    host = [p.name for p in function.parameters if _is_host_pointer(p.type, handles)]
    if host:
        yield "    const struct mock_pointer host[] = {"
        yield from (f'        {{"{name}", {name}}},' for name in host)
        yield "    };"
        opened += f" || {gate}_refuse(&frame, host, {len(host)})"
    yield f"    if ({opened}) {{"
    if function.name in operators:
        # CANN consumes the executor also when phase 2 fails.
        yield f"        {gate}_abandon(executor);"
    if function.returns in STATUS:
        yield f"        return ({function.returns})frame.code;\n    }}"
        yield f"    return ({function.returns}){gate}_close(&frame, (int){call});\n}}"
    elif function.returns == "void":
        yield "        return;\n    }"
        yield f"    {call};\n    {gate}_close(&frame, 0);\n}}"
    else:
        yield f"        return {NOTHING.get(function.returns, '0')};\n    }}"
        yield f"    {function.returns} result = {call};"
        yield f"    {gate}_close(&frame, 0);\n    return result;\n}}"


def _is_host_pointer(type_: str, handles: set[str]) -> bool:
    """Whether what a parameter points to must be memory of the host; ``void`` may be anything."""
    target = type_.removeprefix("const ").removesuffix("*").strip()
    return type_.endswith("*") and target != "void" and target not in handles
