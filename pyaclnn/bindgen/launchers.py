# SPDX-License-Identifier: Apache-2.0
"""Generates one launcher for each operator: a whole call in one crossing from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .declarations import Declarations, Function, Parameter

__all__ = ["launcher_cdef", "launcher_sources"]

_TENSOR = "aclTensor *"
_ARRAYS = {
    "aclIntArray *": "MADE_INT_ARRAY",
    "aclFloatArray *": "MADE_FLOAT_ARRAY",
    "aclBoolArray *": "MADE_BOOL_ARRAY",
}
_NUMBERS = {
    "bool",
    "double",
    "float",
    "int8_t",
    "int",
    "int32_t",
    "int64_t",
    "uint64_t",
    "aclDataType",
    "char *",
}
_MOST_TENSORS = 48
_FIXED = "struct binding_timeline *timeline, struct binding_plan *plan, int first_output"


def _launched(declarations: Declarations) -> Iterator[tuple[str, Function]]:
    """The operators a launcher can call; those that take lists or scalars are not among them."""
    for function in declarations.functions:
        kinds = {_plain(parameter) for parameter in function.parameters[:-2]}
        if function.operator is not None and kinds <= {_TENSOR, *_ARRAYS, *_NUMBERS}:
            yield function.operator, function


def launcher_cdef(declarations: Declarations) -> Iterator[str]:
    """Declare the launchers, as ``launch_aclnnX``."""
    yield from (f"{_signature(operator, f)};" for operator, f in _launched(declarations))


def launcher_sources(declarations: Declarations) -> Iterator[str]:
    """Define the launchers; the shared part of ``launcher.c`` comes before."""
    for operator, function in _launched(declarations):
        yield from _define(operator, function)


def _plain(parameter: Parameter) -> str:
    return parameter.type.removeprefix("const ")


def _signature(operator: str, function: Function) -> str:
    arguments = ", ".join(_declare(p) for p in function.parameters[:-2])
    return f"int launch_{operator}({_FIXED}, {arguments})"


def _declare(parameter: Parameter) -> str:
    kind = _plain(parameter)
    if kind == _TENSOR:
        return f"const struct binding_tensor *{parameter.name}"
    if kind in _ARRAYS:
        return f"const struct binding_array *{parameter.name}"
    return f"{parameter.type} {parameter.name}"


def _define(operator: str, function: Function) -> Iterator[str]:
    *arguments, _, _ = function.parameters
    tensors = [p.name for p in arguments if _plain(p) == _TENSOR]
    made = [p for p in arguments if _plain(p) == _TENSOR or _plain(p) in _ARRAYS]
    passed = ", ".join(f"made_{p.name}" if p in made else p.name for p in arguments)
    yield f"static int phase2_{operator}"
    yield "(void *workspace, uint64_t size, void *executor, void *stream)"
    yield f"{{ return slot_{operator}(workspace, size, executor, stream); }}"
    yield f"{_signature(operator, function)}\n{{"
    yield f"    const struct binding_tensor *const tensors[] = {{{', '.join(tensors)}}};"
    yield "    struct launch launch;"
    yield "    uint64_t size = 0;"
    yield "    aclOpExecutor *executor = NULL;"
    yield "    const int refused ="
    yield f"        begin(&launch, timeline, tensors, {len(tensors)}, first_output);"
    yield "    if (refused != 0) {\n        return refused;\n    }"
    yield from (f"    {_make(p)}" for p in made)
    yield "    if (launch.status == 0) {"
    yield f"        const int status = slot_{function.name}({passed}, &size, &executor);"
    yield f'        launch.status = status == 0 ? 0 : fail(status, "{function.name}");'
    yield "    }"
    yield "    if (launch.status == 0) {"
    yield f'        proceed(&launch, plan, executor, size, "{operator}", phase2_{operator});'
    yield "    }"
    yield "    return end(&launch);\n}"


def _make(parameter: Parameter) -> str:
    kind = _plain(parameter)
    if kind == _TENSOR:
        return f"aclTensor *made_{parameter.name} = make_tensor(&launch, {parameter.name});"
    return f"{kind}made_{parameter.name} = make_array(&launch, {parameter.name}, {_ARRAYS[kind]});"
