# SPDX-License-Identifier: Apache-2.0
"""Generator of the C source of the compiled binding, ``pyaclnn._binding``.

The module is never linked against CANN. Every declared function gets a slot, a function pointer
that ``binding_resolve`` fills from an opened library, and a trampoline of the function's own type
that calls through the slot. Python sees the trampoline under the function's C name, so a call
costs one indirection more than a linked one and the compiler checks every signature. Where calls
are traced, the slot holds the function's twin instead, which calls it and reports to Python.

Operators are no part of it: their signatures are read when they are called, and one launcher, which
is written by hand, calls them all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import cffi

from .declarations import BOUND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .declarations import Declarations, Function

__all__ = ["write_binding"]

_BY_HAND = (
    "loader.c",
    "faults.c",
    "timelines.c",
    "failures.c",
    "objects.c",
    "convention.h",
    "convention.c",
    "phases.c",
    "call.c",
    "plans.c",
    "launcher.c",
    "lending.c",
    "callers.c",
    "torch_tensors.c",
)
"""The C that is written by hand, in an order that compiles."""

_NAME = re.compile(r"^typedef[^{]*?\(\*(\w+)\)\(|(\w+);$|^(?:struct|union) (\w+)")
_IN_PYTHON = (
    # Calls phase 1 where the machine's calling convention is not known.
    (
        "int binding_in_python(const struct binding_operator *op, "
        "const union binding_value *values, uint64_t *size, void **executor);"
    ),
    # Callbacks of traced calls.
    "void binding_traced(const char *name, const void *const *arguments, const void *result);",
    (
        "void binding_traced_phase_1(const struct binding_operator *op, "
        "const union binding_value *values, const uint64_t *size, void *const *executor, "
        "int status);"
    ),
    # Callback of a stream that reaches a Python function.
    "void binding_reached(void *number);",
)
"""Functions that C calls."""


def write_binding(declarations: Declarations, sources: Path, output: Path) -> None:
    """Write the C source of the extension module.

    Args:
        declarations: The declarations of the headers.
        sources: The folder of the C that is written by hand, which an installation does not have.
        output: The file to write.
    """
    # A trampoline cannot forward "...": a variadic function is for C programs only.
    bound = BOUND - {"operators"}
    functions = [
        f
        for f in declarations.functions
        if f.library in bound and not f.variadic and not f.listed and f.until is None
    ]
    ffi = cffi.FFI()
    ffi.cdef("\n".join(_cdef(declarations, functions, sources)))
    source = "\n".join(_source(declarations, functions, sources))
    ffi.set_source("pyaclnn._binding", source)
    ffi.emit_c_code(str(output))


def _cdef(declarations: Declarations, functions: list[Function], sources: Path) -> Iterator[str]:
    yield from _types(declarations)
    listed = declarations.listed
    yield from (
        f"#define {c.name} {c.value}" for c in declarations.constants if c.name not in listed
    )
    yield from (f"{f.signature(f.name)};" for f in functions)
    yield (sources / "loader.h").read_text(encoding="utf-8")
    yield (sources / "launcher.h").read_text(encoding="utf-8")
    yield from (f'extern "Python" {declared}' for declared in _IN_PYTHON)


def _types(declarations: Declarations) -> Iterator[str]:
    """Write the types that Python can name; of the table's, enumerators cost more than the rest."""
    for text in declarations.types:
        found = _NAME.search(text)
        name = found and next(filter(None, found.groups()))
        header = declarations.listed.get(name or "")
        if header is None or header.startswith("acl/"):
            yield text if header is None else re.sub(r"enum\b[^}]*\}", "int", text)


def _source(declarations: Declarations, functions: list[Function], sources: Path) -> Iterator[str]:
    headers = (h for h in declarations.headers if not h.startswith("aclnnop/"))
    yield from (f'#include "{header}"' for header in headers)
    yield (sources / "launcher.h").read_text(encoding="utf-8")
    yield from (f"static {declared}" for declared in _IN_PYTHON)
    yield "static struct {"
    yield from (f"    {function.signature(f'(*{function.name})')};" for function in functions)
    yield "} slots, traced;"
    for function in functions:
        yield from _trampoline(function)
    yield (sources / "loader.h").read_text(encoding="utf-8")
    # The members of struct binding_function, of one function after the other. In a file a pointer
    # to each text takes as much as the text.
    yield "static const char binding_texts[] ="
    for f in functions:
        names = ",".join(p.name for p in f.parameters)
        members = (f.name, f.header, f.since, f.library, names)
        yield " ".join(f'"{text}\\0"' for text in members)
    yield "    ;"
    yield "static void (*const binding_twins[])(void) = {"
    yield from (f"    (void (*)(void))twin_{function.name}," for function in functions)
    yield "};"
    yield from ((sources / name).read_text(encoding="utf-8") for name in _BY_HAND)
    # From here on, in cffi's wrappers, each name means its trampoline.
    yield from (f"#define {f.name} call_{f.name}" for f in functions)
    # Half of the module would be wrappers if they were not made small: what they call takes longer.
    yield from (
        f"static __attribute__((cold)) PyObject *_cffi_f_{f.name}(PyObject *, PyObject *);"
        for f in functions
    )


def _trampoline(function: Function) -> Iterator[str]:
    """Write the trampoline of a function's slot, and its twin."""
    name = function.name
    given = ", ".join(p.name for p in function.parameters)
    places = ", ".join(f"&{p.name}" for p in function.parameters) or "0"
    void = function.returns == "void"
    yield f"static {function.signature(f'call_{name}')}"
    yield f"{{ {'' if void else 'return '}slots.{name}({given}); }}"
    yield f"static __attribute__((cold)) {function.signature(f'twin_{name}')}"
    result = "" if void else f"{function.returns} result = "
    yield f"{{ {result}traced.{name}({given}); const void *const binding_given[] = {{{places}}};"
    of = "NULL" if void else "&result"
    yield f'binding_traced("{name}", binding_given, {of});{"" if void else " return result;"} }}'
