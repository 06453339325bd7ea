# SPDX-License-Identifier: Apache-2.0
"""A C program that calls the exported functions of the mock libraries at random.

It is made from the headers: a function that is added there is called without a line here. Only what
no library could stand is left out: pointers to host memory that is none, where the function itself
must follow them; waits for somebody who never comes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.releases import OLDEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.bindgen.declarations import CParameter, Declarations, Function

__all__ = ["WAITS_FOR_A_THREAD", "write_program"]

WAITS_FOR_A_THREAD = {"aclrtLaunchCallback", "aclrtProcessReport"}
"""A callback that no thread processes holds its stream up for ever, as it should."""

FLAGS_WITHOUT_A_WAIT = "ACL_EVENT_TIME_LINE"
"""A stream waits for an event of ACL_EVENT_SYNC until somebody records it."""

SELDOM = {
    *("aclrtSetDevice", "aclrtResetDevice", "aclrtResetDeviceForce", "aclrtCreateContext"),
    *("HcclGetRootInfo", "HcclCommInitAll", "HcclCommInitRootInfo", "HcclCommInitRootInfoConfig"),
}
"""Functions that may start or end a process, which takes 0.1 s."""

_OPAQUE = re.compile(r"typedef void \*(\w+);")
_FOR_EACH_RANK = re.compile(r"\w*(Counts|[dD]ispls)")
_SMALL_COUNT = re.compile(r"\w*Num|size")


def write_program(declarations: Declarations) -> str:
    """The source of the program.

    Its arguments are a seed, a number of calls a thread, and a number of threads; it prints how
    many calls succeeded.
    """
    functions = [f for f in declarations.functions if _can_be_called(f)]
    handles = frozenset(_OPAQUE.findall("\n".join(declarations.types)))
    lines = [f'#include "{header}"' for header in declarations.headers]
    lines += ['#include "fuzz.h"', "static void *call_at_random(void *given)", "{"]
    lines += ["    struct round *round = given;", "    long succeeded = 0;"]
    lines += ["    state = round->seed;", "    for (long i = round->calls; i > 0; i--) {"]
    # State that most calls need; a program that has lost it creates it again.
    lines += ["        if (dice(200) == 0) aclrtSetDevice(0);"]
    lines += [f"        switch (dice({len(functions)})) {{"]
    for index, function in enumerate(functions):
        lines += [
            f"        case {index}: {{",
            *_call(function, handles),
            "            break;",
            "        }",
        ]
    lines += ["        }", "    }", "    round->succeeded = succeeded;", "    return NULL;", "}"]
    lines += ["int main(int count, char **arguments)", "{", "    if (count != 4) return 2;"]
    lines += ["    const long succeeded = call_by_threads(arguments);"]
    lines += ["    for (int i = 0; i < 64; i++) aclrtResetDeviceForce(0);"]
    lines += ["    aclrtResetDeviceForce(1);", r'    printf("%ld\n", succeeded);']
    lines += ["    return 0;", "}"]
    return "\n".join(lines) + "\n"


def _can_be_called(function: Function) -> bool:
    return (
        function.library != "operators"
        and function.since == OLDEST
        and not function.variadic
        and function.name not in WAITS_FOR_A_THREAD
    )


def _call(function: Function, handles: frozenset[str]) -> Iterator[str]:
    given = []
    for parameter in function.parameters:
        name = f"a_{parameter.name}"
        type_ = parameter.type.removeprefix("const ") if "*" not in parameter.type else None
        yield f"            {type_ or 'void *'} {name} = {_argument(function, parameter, handles)};"
        given.append(name)
        if _gives(parameter, handles):
            yield f"            if ({name} != NULL) *(void **){name} = NULL;"
    call = f"{function.name}({', '.join(given)})"
    if function.returns in {"aclError", "aclnnStatus"}:
        call = f"succeeded += {call} == 0"
    if function.name in SELDOM:
        call = f"if (dice(20) == 0) {call}"
    if "*" in function.returns and "char" not in function.returns:
        yield f"            {_keeper(function)}((void *){call});"
    else:
        yield f"            {call};"
    for parameter, name in zip(function.parameters, given, strict=True):
        if _gives(parameter, handles):
            yield f"            if ({name} != NULL) {_keeper(function)}(*(void **){name});"


def _is_heaped(function: Function) -> bool:
    """Return whether a function allocates or frees on the heap of the process."""
    return any(word in function.name for word in ("StreamConfig", "MallocHost", "FreeHost"))


def _keeper(function: Function) -> str:
    return "keep_heaped" if _is_heaped(function) else "keep"


def _gives(parameter: CParameter, handles: frozenset[str]) -> bool:
    """Return whether a function writes a handle or an address through a parameter."""
    target = parameter.type.removesuffix("*").strip()
    if parameter.name == "space":
        return False  # of which only the library knows how much there is
    return parameter.type == "void **" or (
        parameter.type.endswith("*") and target in handles | {"aclOpExecutor *"}
    )


def _argument(  # noqa: C901, PLR0911 (a table)
    function: Function, parameter: CParameter, handles: frozenset[str]
) -> str:
    type_, name = parameter.type, parameter.name
    if name.startswith("flag") and function.name.startswith("aclrtCreateEvent"):
        return FLAGS_WITHOUT_A_WAIT
    if name == "timeout":
        return "(int)dice(4)"
    if name == "nRanks":
        return "dice(2)"  # others would never come
    if _is_heaped(function) and name in {"hostPtr", "handle"} and "**" not in type_:
        return "heap_pointer()"
    if name == "handle" and "StreamConfigHandle" in type_:
        return "heap_pointer()"
    if type_ in ("void *", "const void *"):
        followed = name in {"self", "value", "attrValue", "attrAddr"} or _FOR_EACH_RANK.fullmatch(
            name
        )
        return "readable()" if followed else "memory()"
    if type_ in {"const char **", "const int64_t * const *"}:
        return "pointers()"
    if (type_, name) == ("const int *", "numValues"):
        return "lengths()"
    if type_.endswith("*"):
        opaque = re.fullmatch(r"(const )?acl(Tensor|Scalar|\w+Array|\w+List|OpExecutor) \*", type_)
        return "anything()" if opaque else "readable()"
    if type_.startswith("aclrt") and ("Callback" in type_ or "Allocator" in type_):
        return "NULL"
    if type_ in handles:
        return "anything()"
    if type_.removeprefix("const ") in ("size_t", "uint64_t"):
        small = function.library == "base" and _SMALL_COUNT.fullmatch(name)
        return "few()" if small else "bytes()"
    return f"({type_.removeprefix('const ')})any_enum()"
