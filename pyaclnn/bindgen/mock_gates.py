# SPDX-License-Identifier: Apache-2.0
"""Generates the gate of every function but operators that the mock libraries export.

The functions are written, or generated, under their own names; a header of macros turns those into
internal names, and what is exported is a wrapper that passes through one gate: there calls are
counted, faults are injected, and the caller is noted. So no exported function can forget it.
Operators need no gates of their own: all their calls arrive at one place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .declarations import GENERATED, RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from .declarations import Declarations, Function

__all__ = [
    "LIBRARIES",
    "NOTHING",
    "REFUSALS",
    "STATUS",
    "exported",
    "write_gates",
]

LIBRARIES = ("runtime", "base", "packages", "graph", "tasks", "ge", "collectives")
"""The kinds of library that the simulated NPU has, but for that of operators."""
REFUSALS = "mock_refusals"
"""The section of what is there to be linked and refuses."""
STATUS = frozenset({"aclError", "aclnnStatus", "HcclResult", "int32_t", "rtError_t"})
"""The types of a result that tells of failure by a code."""
NOTHING = {
    "aclDataType": "ACL_DT_UNDEFINED",
    "aclFormat": "ACL_FORMAT_UNDEFINED",
    "aclComplex64": "(aclComplex64){0}",
    "aclComplex128": "(aclComplex128){0}",
}
"""Type of another result -> what tells of failure, if it is not 0."""
_NEWER = frozenset({"aclrtBinaryLoadFromData"})
"""Exported by older releases too: programs that find their way without it link it."""
# The name of a type whose content nobody sees: a pointer to one is a handle.
_INCOMPLETE = re.compile(r"^typedef struct \w+ (\w+);", re.MULTILINE)


def exported(functions: Iterable[Function], library: str, release: str) -> list[Function]:
    """The functions of a release's library that have a gate: all it exports but variadic ones."""
    return [
        f
        for f in functions
        if f.library == library and not f.variadic and (f.is_in(release) or f.name in _NEWER)
    ]


def write_gates(declarations: Declarations, output: Path) -> None:
    """Write, for each library, the header of internal names and the gates of each release.

    The names are those of the newest release: what is compiled with them serves all, and what works
    behind the gates stands in a table for each library.
    """
    newest = next(reversed(RELEASES))
    work = [GENERATED, *(f'#include "{h}"' for h in _headers(declarations))]
    for library in LIBRARIES:
        functions = exported(declarations.functions, library, newest)
        renames = [GENERATED, *(f"#define {f.name} impl_{f.name}" for f in functions)]
        (output / f"{library}_names.h").write_text("\n".join(renames) + "\n", encoding="utf-8")
        numbers = {function.name: number for number, function in enumerate(functions)}
        work.append(f'\n__attribute__((visibility("default"))) {_table_of(library)} = {{')
        work += [f"    (void (*)(void))impl_{name}," for name in numbers] + ["};"]
        for release in RELEASES:
            functions = exported(declarations.functions, library, release)
            text = "\n".join(_gates(declarations, functions, library, numbers))
            path = output / f"{library}_gates_{release}.c"
            path.write_text(text + "\n", encoding="utf-8")
    (output / "work.c").write_text("\n".join(work) + "\n", encoding="utf-8")


def _headers(declarations: Declarations) -> list[str]:
    return [header for header in declarations.headers if not header.startswith("aclnnop/")]


def _table_of(library: str) -> str:
    return f"void (*const mock_{library}_work[])(void)"


def _gates(
    declarations: Declarations, functions: list[Function], library: str, numbers: dict[str, int]
) -> Iterator[str]:
    yield GENERATED
    yield from (f'#include "{header}"' for header in _headers(declarations))
    yield '#include "gate.h"'
    yield '#include "registry.h"'
    yield from (f"#undef {f.name}" for f in functions)
    handles = set(_INCOMPLETE.findall("\n".join(declarations.types)))
    yield f"\nextern {_table_of(library)};"
    yield "\nstatic struct mock_function functions[] = {"
    for f in functions:
        status = "true" if f.returns in STATUS else "false"
        yield f'    {{.name = "{f.name}", .status = {status}, .number = {numbers[f.name]}}},'
    yield "};"
    table = f"sizeof functions / sizeof functions[0], mock_{library}_work"
    yield "\n__attribute__((constructor)) static void add(void)\n{"
    yield f"    mock_functions_register(functions, {table});\n}}"
    yield "\n__attribute__((destructor)) static void drop(void)\n{"
    yield "    mock_functions_unregister(functions);\n}"
    for index, function in enumerate(functions):
        yield from _gate(index, function, handles)


def _gate(index: int, function: Function, handles: set[str]) -> Iterator[str]:
    names = ", ".join(parameter.name for parameter in function.parameters)
    call = f"((__typeof__(impl_{function.name}) *)functions[{index}].work)({names})"
    # The headers have declared the internal name.
    yield f"\n{function.signature(function.name)};"
    yield f'__attribute__((visibility("default"))) {function.signature(function.name)}\n{{'
    yield "    struct mock_frame frame;"
    opened = f"mock_gate_open(&frame, &functions[{index}], __builtin_return_address(0))"
    host = [p.name for p in function.parameters if _is_host_pointer(p.type, handles)]
    if host:
        yield "    const struct mock_pointer host[] = {"
        yield from (f'        {{"{name}", {name}}},' for name in host)
        yield "    };"
        opened += f" || mock_gate_refuse(&frame, host, {len(host)})"
    yield f"    if ({opened}) {{"
    if function.returns in STATUS:
        yield f"        return ({function.returns})frame.code;\n    }}"
        yield f"    return ({function.returns})mock_gate_close(&frame, (int){call});\n}}"
    elif function.returns == "void":
        yield "        return;\n    }"
        yield f"    {call};\n    mock_gate_close(&frame, 0);\n}}"
    else:
        yield f"        return {NOTHING.get(function.returns, '0')};\n    }}"
        yield f"    {function.returns} result = {call};"
        yield "    mock_gate_close(&frame, 0);\n    return result;\n}"


def _is_host_pointer(type_: str, handles: set[str]) -> bool:
    """Whether what a parameter points to must be memory of the host; ``void`` may be anything."""
    target = type_.removeprefix("const ").removesuffix("*").strip()
    return type_.endswith("*") and target != "void" and target not in handles
