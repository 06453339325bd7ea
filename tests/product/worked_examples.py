# SPDX-License-Identifier: Apache-2.0
"""C++ programs that call operators on the numbers of worked examples, written of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.facts.operators.catalogue import catalogue
from tests.operators.npu import numpy_type
from tests.operators.table import UNTOUCHED, Case, Table
from tests.operators.tables import TABLES
from tests.operators.words import (
    A2,
    FORMATS,
    P310,
    P950,
    TYPES,
    Argument,
    Array,
    Bools,
    Dtype,
    Ints,
    Scalar,
    apply,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Example", "examples", "program_text"]

_TOP = """\
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
#include "acl/acl.h"
{includes}

namespace {{

struct Tensor {{
    Tensor(int type, int format, std::vector<int64_t> dims, std::vector<uint8_t> bytes)
        : bytes_(bytes)
    {{
        const size_t size = bytes_.size();
        aclrtMalloc(&memory_, size + 1, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemcpy(memory_, size, bytes_.data(), size, ACL_MEMCPY_HOST_TO_DEVICE);
        tensor_ = aclCreateTensor(dims.data(), dims.size(), static_cast<aclDataType>(type), nullptr,
            0, static_cast<aclFormat>(format), dims.data(), dims.size(), memory_);
    }}
    void print(const char *operator_name, const char *name)
    {{
        const size_t size = bytes_.size();
        aclrtMemcpy(bytes_.data(), size, memory_, size, ACL_MEMCPY_DEVICE_TO_HOST);
        std::printf("%s %s ", operator_name, name);
        for (const uint8_t byte : bytes_) {{
            std::printf("%02x", byte);
        }}
        std::printf("\\n");
    }}
    const aclTensorList *listed()
    {{
        return list_ = aclCreateTensorList(&tensor_, 1);
    }}
    ~Tensor()
    {{
        if (list_ == nullptr) {{
            aclDestroyTensor(tensor_);
        }} else {{
            aclDestroyTensorList(list_); // and what is in it
        }}
        aclrtFree(memory_);
    }}
    std::vector<uint8_t> bytes_;
    void *memory_ = nullptr;
    aclTensor *tensor_ = nullptr;
    aclTensorList *list_ = nullptr;
}};

template <typename Phase2>
int finish(aclnnStatus status, Phase2 phase2, uint64_t size, aclOpExecutor *executor)
{{
    void *workspace = nullptr;
    if (status == 0 && size > 0) {{
        status = aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
    }}
    if (status == 0) {{
        status = phase2(workspace, size, executor, nullptr);
    }}
    if (status == 0) {{
        status = aclrtSynchronizeStream(nullptr);
    }}
    if (status != 0) {{
        std::printf("%d %s\\n", status, aclGetRecentErrMsg());
    }}
    aclrtFree(workspace);
    return status;
}}
"""
_BOTTOM = """
}} // namespace

int main(int count, char **names)
{{
    int failed = aclInit(nullptr) | aclrtSetDevice(0);
    for (int place = 1; place < count; ++place) {{
{calls}
    }}
    aclrtResetDevice(0);
    aclFinalize();
    return failed != 0;
}}
"""


_KINDS = {Ints: "IntArray", Bools: "BoolArray", Scalar: "Scalar"}


@dataclass(frozen=True)
class Example:
    """A worked example of an operator.

    Attributes:
        table: The operator.
        case: The example.
        chip: The family of chips that it is run on.
    """

    table: Table
    case: Case
    chip: str

    @property
    def arguments(self) -> dict[str, Argument]:
        """The arguments in the order of C."""
        return apply(self.table.base, self.case.changes)

    @property
    def printed(self) -> list[str]:
        """The tensors that are looked at afterwards."""
        return [name for name, wanted in self.case.gives.items() if wanted is not UNTOUCHED]


def examples(release: str) -> list[Example]:
    """Find a worked example for every operator of a release that has one.

    Args:
        release: The release, such as ``9.1``.
    """
    found = (_example(table) for table in TABLES if table.is_in(release))
    return [example for example in found if example is not None]


def _example(table: Table) -> Example | None:
    for chip in (A2, P950, P310):
        for case in table.cases:
            example = Example(table, case, chip)
            there = chip in table.chips and chip in case.chips and case.code == 0
            if there and example.printed and all(map(_is_given, *_read(example))):
                return example
    return None


def _read(example: Example) -> tuple[list[Argument], list[bool]]:
    results = set(example.table.results) - set(example.table.updated)
    pairs = example.arguments.items()
    return [value for _, value in pairs], [name in results for name, _ in pairs]


def _is_given(argument: Argument, written: bool) -> bool:
    return written or not isinstance(argument, Array) or argument.values is not None


def program_text(chosen: Sequence[Example]) -> str:
    """Write a program that calls those operators whose names it is given, and prints results."""
    headers = {catalogue()[example.table.name].header for example in chosen}
    includes = "\n".join(f'#include "aclnnop/{header}"' for header in sorted(headers))
    functions = "\n".join("\n".join(_function(example)) for example in chosen)
    calls = "\n".join(
        f'        if (std::strcmp(names[place], "{e.table.name}") == 0) '
        f"{{ failed |= call_{e.table.name}(); }}"
        for e in chosen
    )
    return _TOP.format(includes=includes) + functions + _BOTTOM.format(calls=calls)


def _function(example: Example) -> Iterator[str]:
    name = example.table.name
    yield f"\nint call_{name}()\n{{"
    passed = []
    for place, argument in enumerate(example.arguments.values()):
        made = _made(argument)
        if made:
            yield f"    {made.format(name=f'a{place}')}"
        passed.append(_passed(argument, f"a{place}", listed=example.table.each))
    yield "    uint64_t size = 0;\n    aclOpExecutor *executor = nullptr;"
    yield f"    const aclnnStatus status = {name}GetWorkspaceSize("
    yield f"        {', '.join(passed)}, &size, &executor);"
    yield f"    const int failed = finish(status, {name}, size, executor);"
    for place, tensor in enumerate(example.arguments):
        if tensor in example.printed:
            yield f'    a{place}.print("{name}", "{tensor}");'
        kind = _KINDS.get(type(example.arguments[tensor]))
        if kind:
            yield f"    aclDestroy{kind}(a{place});"
    yield "    return failed;\n}"


def _made(argument: Argument) -> str:
    """The declaration of an object; nothing for what is written where it is passed."""
    if isinstance(argument, Array):
        dtype = numpy_type(argument.dtype)
        values = np.array(argument.values or [0.0] * argument.size, np.float64).astype(dtype)
        listed = ", ".join(map(str, values.tobytes()))
        dims = ", ".join(map(str, argument.shape))
        numbers = f"{TYPES[argument.dtype]}, {FORMATS[argument.format]}"
        return f"Tensor {{name}}({numbers}, {{{{{dims}}}}}, {{{{{listed}}}}});"
    if isinstance(argument, Ints):
        values_ = ", ".join(map(str, argument.values))
        size = len(argument.values)
        text = f"const std::vector<int64_t> {{name}}_v{{{{{values_}}}}}; "
        return text + f"const aclIntArray *{{name}} = aclCreateIntArray({{name}}_v.data(), {size});"
    if isinstance(argument, Bools):
        flags = ", ".join(str(value).lower() for value in argument.values)
        text = f"const bool {{name}}_v[] = {{{{{flags}}}}}; "
        many = len(argument.values)
        return text + f"const aclBoolArray *{{name}} = aclCreateBoolArray({{name}}_v, {many});"
    if isinstance(argument, Scalar):
        listed = ", ".join(map(str, np.array(argument.value, numpy_type(argument.dtype)).tobytes()))
        text = f"alignas(8) unsigned char {{name}}_v[] = {{{{{listed}}}}}; "
        kind = f"static_cast<aclDataType>({TYPES[argument.dtype]})"
        return text + f"const aclScalar *{{name}} = aclCreateScalar({{name}}_v, {kind});"
    return ""


def _passed(argument: Argument, name: str, *, listed: bool) -> str:
    if argument is None:
        return "nullptr"
    if isinstance(argument, Array):
        return f"{name}.{'listed()' if listed else 'tensor_'}"
    if isinstance(argument, Dtype):
        return f"static_cast<aclDataType>({TYPES[argument.name]})"
    if isinstance(argument, bool):
        return str(argument).lower()
    if isinstance(argument, str):
        return f'const_cast<char *>("{argument}")'
    return repr(argument) if isinstance(argument, (int, float)) else name
