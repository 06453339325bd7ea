# SPDX-License-Identifier: Apache-2.0
"""Generates the C source of the compiled binding, ``pyaclnn._binding``.

The module is never linked against CANN. Every declared function gets a slot, a function pointer
that ``binding_resolve`` fills from an opened library, and a trampoline of the function's own type
that calls through the slot. Python sees the trampoline under the function's C name, so a call
costs one indirection more than a linked one and the compiler checks every signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cffi

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .declarations import Declarations, Function

__all__ = ["write_binding"]

# What the binding itself offers, beside the functions of the headers.
_LOADER_CDEF = """
struct binding_function {
    const char *name;
    const char *header;
    const char *since;
    const char *library;
    const char *parameters;
};
extern const struct binding_function binding_functions[];
extern const size_t binding_function_count;
void *binding_open(const char *path);
const char *binding_error(void);
int binding_resolve(const char *symbol, void *library);
int binding_resolved(const char *symbol);
int binding_has_symbol(void *library, const char *symbol);
"""


def write_binding(declarations: Declarations, loader: Path, output: Path) -> None:
    """Write the C source of the extension module.

    Args:
        declarations: What the headers declare.
        loader: The hand-written C part, which defines what ``_LOADER_CDEF`` declares.
        output: The file to write.
    """
    # A trampoline cannot forward "...": a variadic function is for C programs only.
    functions = [f for f in declarations.functions if not f.variadic]
    ffi = cffi.FFI()
    ffi.cdef("\n".join(_cdef(declarations, functions)))
    source = "\n".join(_source(declarations, functions, loader.read_text(encoding="utf-8")))
    ffi.set_source("pyaclnn._binding", source)
    ffi.emit_c_code(str(output))


def _cdef(declarations: Declarations, functions: list[Function]) -> Iterator[str]:
    yield from declarations.types
    yield from (f"#define {c.name} {c.value}" for c in declarations.constants)
    yield from (f"{f.signature(f.name)};" for f in functions)
    yield _LOADER_CDEF


def _source(declarations: Declarations, functions: list[Function], loader: str) -> Iterator[str]:
    yield from (f'#include "{header}"' for header in declarations.headers)
    for function in functions:
        arguments = ", ".join(p.name for p in function.parameters)
        call = f"slot_{function.name}({arguments});"
        yield f"static {function.signature(f'(*slot_{function.name})')};"
        yield f"static {function.signature(f'call_{function.name}')}"
        yield f"{{ {call if function.returns == 'void' else f'return {call}'} }}"
    yield "struct binding_function {"
    yield "    const char *name, *header, *since, *library, *parameters;"
    yield "};"
    yield "const struct binding_function binding_functions[] = {"
    for f in functions:
        names = ",".join(p.name for p in f.parameters)
        yield f'    {{"{f.name}", "{f.header}", "{f.since}", "{f.library}", "{names}"}},'
    yield "};"
    yield "static void *const binding_slots[] = {"
    yield from (f"    &slot_{f.name}," for f in functions)
    yield "};"
    yield loader
    # From here on, which is where cffi's wrappers stand, each name means its trampoline.
    yield from (f"#define {f.name} call_{f.name}" for f in functions)
