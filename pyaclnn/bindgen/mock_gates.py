# SPDX-License-Identifier: Apache-2.0
"""Gates of the functions that the mock libraries export, operators excepted.

The functions are written under their own names. A header of macros turns these into internal names,
and the exported symbol is a wrapper that passes through one gate. The gate counts the call, injects
faults, records the caller, refuses NULL and device addresses, and takes the lock. The table
``entry_points.tsv`` lists the functions that are written, whether each runs under the lock, and
which of its pointers may not be NULL. A function without a row refuses; it is a line of another
table, for stubs of a few bytes. Operators need no gates: all their calls arrive at one function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .declarations import GENERATED, RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from .declarations import Declarations, Function

__all__ = [
    "LIBRARIES",
    "exported",
    "write_gates",
]

LIBRARIES = (
    *("runtime", "base", "packages", "graph", "tasks", "ge", "collectives", "msprofiler"),
    *("ascend_dump", "acl_tdt_channel", "acl_tdt_queue", "hcomm", "acl_cblas", "acl_retr"),
    "mspti",
)
"""The kinds of library that the simulated NPU has, but for that of operators."""
_TOGETHER = {"runtime": ("runtime", "graph"), "base": ("base", "packages")}
"""The kinds that are one library in a release, by the first of them."""
_STATUS = frozenset(
    {"aclError", "aclnnStatus", "HcclResult", "HcommResult", "HccnResult", "int32_t", "rtError_t"}
)
"""The result types that report failure by a code."""
_NOTHING = {
    "aclDataType": "ACL_DT_UNDEFINED",
    "aclFormat": "ACL_FORMAT_UNDEFINED",
    "aclComplex64": "(aclComplex64){0}",
    "aclComplex128": "(aclComplex128){0}",
}
"""Type of another result -> its value on failure, if it is not 0."""
NULL_CODES = {
    "base": "ACLNN_ERR_PARAM_NULLPTR",
    "packages": "ACLNN_ERR_PARAM_NULLPTR",
    "collectives": "HCCL_E_PTR",
}
"""Kind of library -> the code that its functions answer to a refused NULL or 0."""
_RUNTIME = "ACL_ERROR_RT_PARAM_INVALID"
_NEWER = frozenset({"aclrtBinaryLoadFromData"})
"""Exported by older releases as well, because programs link it without needing it."""
_INTEGERS = frozenset({"size_t", "uint32_t", "uint64_t"})
# The name of an incomplete type: a pointer to one is a handle.
_INCOMPLETE = re.compile(r"^typedef struct \w+ (\w+);", re.MULTILINE)


def exported(functions: Iterable[Function], library: str, release: str) -> list[Function]:
    """Return the functions of a release's library that have a gate: all but variadic ones."""
    return [
        f
        for f in functions
        if f.library == library and not f.variadic and (f.is_in(release) or f.name in _NEWER)
    ]


@dataclass(frozen=True)
class EntryPoint:
    """Preconditions of a function, as a row of ``entry_points.tsv`` has them.

    Attributes:
        locked: The function runs under the lock.
        refuses: It does nothing but refuse, and is written because a stub would not do.
        required: The names of the parameters that may not be NULL, or not 0.
        host: Those of type ``void *`` that must point to host memory.
        runtime: Those whose NULL or 0 the lower layer of the runtime refuses, with its own code.
    """

    locked: bool = False
    refuses: bool = False
    required: frozenset[str] = frozenset()
    host: frozenset[str] = frozenset()
    runtime: frozenset[str] = frozenset()


def read_entry_points(table: Path, functions: Iterable[Function]) -> dict[str, EntryPoint]:
    """Read the preconditions of functions.

    Args:
        table: The file, a function a line: its name, ``lock``, ``refuses`` or ``-``, and the
            parameters that may not be NULL or 0, or ``-``. ``@host`` marks a ``void *`` that must
            point to host memory, ``@runtime`` what answers the code of the runtime's lower layer.
        functions: The declared functions.

    Returns:
        A function's name -> its preconditions, if it is written.

    Raises:
        ValueError: A row names an unknown function or parameter, or a function has two rows.
    """
    declared = {function.name: function for function in functions}
    entry_points: dict[str, EntryPoint] = {}
    for line in table.read_text("utf-8").splitlines():
        name, lock, arguments = line.split("\t")
        marked = [word.partition("@")[::2] for word in arguments.strip("-").split()]
        host = frozenset(word for word, mark in marked if mark == "host")
        runtime = frozenset(word for word, mark in marked if mark == "runtime")
        required = frozenset(word for word, _ in marked)
        function = declared.get(name)
        if function is None or name in entry_points:
            message = f"{table.name}: {name} is not declared, or has two rows"
            raise ValueError(message)
        if unknown := required - {parameter.name for parameter in function.parameters}:
            message = f"{table.name}: {name} has no parameter {', '.join(sorted(unknown))}"
            raise ValueError(message)
        locked, refuses = lock == "lock", lock == "refuses"
        entry_points[name] = EntryPoint(locked, refuses, required, host, runtime)
    return entry_points


def write_gates(declarations: Declarations, table: Path, output: Path) -> None:
    """Write each library's header of internal names, and each release's gates and refusals.

    The names are those of the newest release: what is compiled with them serves all, and the
    functions behind the gates are listed in a table for each library.

    Args:
        declarations: The declarations of the headers.
        table: ``entry_points.tsv``.
        output: The folder to write into.
    """
    entry_points = read_entry_points(table, declarations.functions)
    newest = next(reversed(RELEASES))
    work = [GENERATED, *(f'#include "{h}"' for h in declarations.headers)]
    for library in LIBRARIES:
        functions = exported(declarations.functions, library, newest)
        numbers = {f.name: i for i, f in enumerate(f for f in functions if f.name in entry_points)}
        renames = [GENERATED, *(f"#define {name} impl_{name}" for name in numbers)]
        (output / f"{library}_names.h").write_text("\n".join(renames) + "\n", encoding="utf-8")
        if numbers:
            work.append(f'\n__attribute__((visibility("default"))) {_table_of(library)} = {{')
            work += [f"    (void (*)(void))impl_{name}," for name in numbers] + ["};"]
        for release in RELEASES:
            functions = exported(declarations.functions, library, release)
            written = [f for f in functions if f.name in entry_points]
            text = "\n".join(_gates(declarations, written, library, numbers, entry_points))
            path = output / f"{library}_gates_{release}.c"
            path.write_text(text + "\n", encoding="utf-8")
            lines = _refusals(declarations.functions, library, release, entry_points)
            path = output / f"{library}_refusals_{release}.inc"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (output / "work.c").write_text("\n".join(work) + "\n", encoding="utf-8")


def _refusals(
    functions: Iterable[Function], library: str, release: str, written: Iterable[str]
) -> Iterator[str]:
    """Write a line for each function that refuses: its name, and a letter for what it answers."""
    yield GENERATED
    for kind in _TOGETHER.get(library, (library,)):
        for f in exported(functions, kind, release):
            if f.name not in written:
                yield f'REFUSES({f.name}, "{_answer(f)}")'


def _answer(function: Function) -> str:
    """Return the letter of a refusal: a status, -1, the object that a C++ member is of, or 0."""
    if function.returns in _STATUS:
        return "s"
    if "UNDEFINED" in _NOTHING.get(function.returns, ""):
        return "-"
    first = function.parameters[0].name if function.parameters else ""
    return "o" if function.returns == "void *" and first == "self" else "0"


def _table_of(library: str) -> str:
    return f"void (*const mock_{library}_work[])(void)"


def _gates(
    declarations: Declarations,
    functions: list[Function],
    library: str,
    numbers: dict[str, int],
    entry_points: dict[str, EntryPoint],
) -> Iterator[str]:
    yield GENERATED
    yield from (f'#include "{header}"' for header in declarations.headers)
    yield '#include "gate.h"'
    yield '#include "registry.h"'
    yield from (f"#undef {f.name}" for f in functions)
    if not functions:
        return
    handles = set(_INCOMPLETE.findall("\n".join(declarations.types)))
    yield f"\nextern {_table_of(library)};"
    yield "\nstatic struct mock_function functions[] = {"
    for f in functions:
        flags = {
            "status": f.returns in _STATUS,
            "locked": entry_points[f.name].locked,
            "refuses": entry_points[f.name].refuses,
        }
        texts = "".join(f".{flag} = true, " for flag, value in flags.items() if value)
        yield f'    {{.name = "{f.name}", {texts}.number = {numbers[f.name]}}},'
    yield "};"
    table = f"sizeof functions / sizeof functions[0], mock_{library}_work"
    yield "\n__attribute__((constructor)) static void add(void)\n{"
    yield f"    mock_functions_register(functions, {table});\n}}"
    yield "\n__attribute__((destructor)) static void drop(void)\n{"
    yield "    mock_functions_unregister(functions);\n}"
    for index, function in enumerate(functions):
        yield from _gate(index, function, handles, entry_points[function.name])


def _gate(
    index: int, function: Function, handles: set[str], entry_point: EntryPoint
) -> Iterator[str]:
    names = ", ".join(parameter.name for parameter in function.parameters)
    call = f"((__typeof__(impl_{function.name}) *)functions[{index}].work)({names})"
    # The headers have declared the internal name.
    yield f"\n{function.signature(function.name)};"
    yield f'__attribute__((visibility("default"))) {function.signature(function.name)}\n{{'
    yield "    struct mock_frame frame;"
    checked = list(_checked(function, handles, entry_point))
    arguments, count = ("arguments", len(checked)) if checked else ("NULL", 0)
    if checked:
        yield "    const struct mock_argument arguments[] = {"
        yield from checked
        yield "    };"
    caller = "__builtin_return_address(0)"
    opened = f"mock_gate_open(&frame, &functions[{index}], {arguments}, {count}, {caller})"
    yield f"    if ({opened}) {{"
    if function.returns in _STATUS:
        yield f"        return ({function.returns})frame.code;\n    }}"
        yield f"    return ({function.returns})mock_gate_close(&frame, (int){call});\n}}"
    elif function.returns == "void":
        yield "        return;\n    }"
        yield f"    {call};\n    mock_gate_close(&frame, 0);\n}}"
    else:
        yield f"        return {_NOTHING.get(function.returns, '0')};\n    }}"
        yield f"    {function.returns} result = {call};"
        yield "    mock_gate_close(&frame, 0);\n    return result;\n}"


def _checked(function: Function, handles: set[str], entry_point: EntryPoint) -> Iterator[str]:
    """Write the C initialisers of the arguments that the gate checks."""
    for parameter in function.parameters:
        name, integer = parameter.name, parameter.type in _INTEGERS
        host = name in entry_point.host or _is_host_pointer(parameter.type, handles)
        required = name in entry_point.required
        if host or required:
            usual = NULL_CODES.get(function.library, "ACL_ERROR_INVALID_PARAM")
            code = _RUNTIME if name in entry_point.runtime else usual if required else 0
            # By way of an integer, as C has no other way from a pointer to a function.
            value = f"(const void *)(uintptr_t){name}"
            flags = f"{str(host).lower()}, {str(integer).lower()}"
            yield f'        {{"{name}", {value}, {flags}, {code}}},'


def _is_host_pointer(type_: str, handles: set[str]) -> bool:
    """Return whether a parameter must point to host memory; ``void`` may point to any."""
    target = type_.removeprefix("const ").removesuffix("*").strip()
    return type_.endswith("*") and target != "void" and target not in handles
