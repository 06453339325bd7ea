# SPDX-License-Identifier: Apache-2.0
"""Headers ``aclrtlaunch_NAME.h`` and the host functions of kernels that they declare."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.ascendc.compiler import write_launch_headers
from pyaclnn.mock.control.include_folder import cflags
from tests.product import commands

if TYPE_CHECKING:
    from pathlib import Path

TYPES = """
#include <stddef.h>
#include <stdint.h>
#include "acl/acl.h"
typedef unsigned int uint;
typedef struct TilingData { int64_t rows, columns; } TilingData;
typedef TilingData Tiling;
typedef Tiling TilingAgain;
typedef struct { int64_t rows; } Unnamed;
typedef uint32_t Count;
typedef volatile Count Counter;
union Either { int64_t whole; float part; };
enum Mode { FAST, EXACT };
"""
TYPES_OF_CXX = """
#include <cstddef>
using Data = ::Tiling;
using Length = Count;
enum class Level : uint8_t { LOW, HIGH };
struct Later;
struct float8_e4m3fn_t { uint8_t bits; operator float() const { return bits; } };
using Narrow = float8_e4m3fn_t;
namespace shapes { template <typename T> struct Shape { T rows; }; using Flat = Shape<int>; }
"""
IN_C = {
    "int32_t": "int32_t",
    "unsigned char": "unsigned char",
    "const size_t": "size_t",
    "uint": "unsigned int",
    "volatile int": "int",
    "Count": "uint32_t",
    "Counter": "uint32_t",
    "aclDataType": "aclDataType",
    "enum Mode": "enum Mode",
    "GM_ADDR": "void *",
    "__gm__ float *__restrict__": "void *",
    "TilingData": "TilingData *",
    "struct TilingData": "TilingData *",
    "Tiling": "TilingData *",
    "const TilingAgain": "const TilingData *",
    "Unnamed": "Unnamed *",
    "union Either": "union Either *",
}
"""Types of a kernel's parameters, and those of its host function."""
IN_CXX = {
    **IN_C,
    "Mode": "Mode",
    "Data": "TilingData *",
    "Length": "uint32_t",
    "Level": "Level",
    "char16_t": "char16_t",
    "std::size_t": "std::size_t",
    "float8_e4m3fn_t": "float8_e4m3fn_t",
    "const Narrow": "float8_e4m3fn_t",
    "Later": "Later *",
    "shapes::Flat": "shapes::Shape<int> *",
    "[[maybe_unused]] Tiling": "TilingData *",
}


@pytest.mark.parametrize("shared", [False, True], ids=["one text", "headers"])
@pytest.mark.parametrize(
    ("standard", "types", "table"),
    [
        ("c11", TYPES, IN_C),
        ("c++11", TYPES + TYPES_OF_CXX, IN_CXX),
        ("c++20", TYPES + TYPES_OF_CXX, IN_CXX),
    ],
)
def test_host_functions_take_structs_by_address_and_numbers_by_value(
    tmp_path: Path, standard: str, types: str, table: dict[str, str], *, shared: bool
) -> None:
    parameters = ", ".join(f"{kind} p{at}" for at, kind in enumerate(table))
    kernel = f'extern "C" __global__ __aicore__ void k({parameters}) {{}}\n'
    (tmp_path / "types.h").write_text(types, encoding="utf-8")
    source = tmp_path / "k.cpp"
    source.write_text(('#include "types.h"\n' if shared else types) + kernel, encoding="utf-8")
    write_launch_headers([source], tmp_path)
    # Both languages refuse a second declaration with other types.
    again = f"uint32_t aclrtlaunch_k(uint32_t, aclrtStream, {', '.join(table.values())});\n"
    linkage = "" if standard == "c11" else 'extern "C" '
    program = '#include "types.h"\n#include "aclrtlaunch_k.h"\n' + linkage + again
    (tmp_path / "main.txt").write_text(program, encoding="utf-8")
    language = "c" if standard == "c11" else "c++"
    options = ("-Wall", "-Werror", "-fsyntax-only", f"-std={standard}", "-x", language, *cflags())
    done = commands.run("cc", *options, "main.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


LAUNCHED_TYPES = """
#include "kernel_operator.h"
struct TilingData { int32_t rows, columns; };
using Tiling = TilingData;
typedef half Share;
enum class Level : uint8_t { LOW = 3 };
"""
LAUNCHED = (
    LAUNCHED_TYPES
    + """
extern "C" __global__ __aicore__ void show(
    GM_ADDR y, const Tiling t, volatile int v, Level level, Share share, TilingData again)
{
    const int32_t values[] = {t.rows, t.columns, v, (int32_t)level, (int32_t)share, again.columns};
    for (int i = 0; i < 6; i++) {
        ((__gm__ int32_t *)y)[i] = values[i];
    }
}
"""
)
LAUNCHING = (
    LAUNCHED_TYPES
    + """
#include <cstdio>
#include "aclrtlaunch_show.h"
int main()
{
    int32_t host[6] = {};
    void *y;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtMalloc(&y, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
    Tiling t = {1, 2}, again = {5, 6};
    ACLRT_LAUNCH_KERNEL(show)(1, nullptr, y, &t, -7, Level::LOW, half(4.0F), &again);
    t.rows = 100;
    aclrtSynchronizeDevice();
    aclrtMemcpy(host, sizeof host, y, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int32_t value : host) {
        std::printf("%d ", value);
    }
    aclrtFree(y);
    aclrtResetDevice(0);
    return aclFinalize();
}
"""
)


def test_a_kernel_gets_what_its_host_function_was_given(tmp_path: Path) -> None:
    (tmp_path / "show.cpp").write_text(LAUNCHED, encoding="utf-8")
    (tmp_path / "main.cpp").write_text(LAUNCHING, encoding="utf-8")
    write_launch_headers([tmp_path / "show.cpp"], tmp_path)
    environment = commands.silent_environment(PYACLNN_BACKEND="mock")
    words = ("show.cpp", "main.cpp", "-I.", "-o", "main")
    compiler = (sys.executable, "-m", "pyaclnn", "ascendc", "compile", *words)
    done = commands.run(*compiler, cwd=tmp_path, environment=environment)
    assert done.returncode == 0, done.stderr
    done = commands.run("./main", cwd=tmp_path, environment=environment)
    assert (done.stdout, done.stderr) == ("1 2 -7 3 4 6 ", "")
