# SPDX-License-Identifier: Apache-2.0
"""``pyaclnn ascendc compile``: programs that launch kernels as samples of CANN do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pyaclnn.ascendc.launch_source import find_signatures, rewrite_launches
from tests.product import commands

HERE = Path(__file__).parent
COMPILER = (sys.executable, "-m", "pyaclnn", "ascendc", "compile")


def run(*command: str | Path, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    environment = commands.silent_environment(PYACLNN_BACKEND="mock", **extra)
    return commands.run(*command, cwd=cwd, environment=environment)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("launches")
    done = run(*COMPILER, "-Wall", HERE / "launches.asc", "-o", folder / "program", cwd=folder)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return folder / "program"


def test_launches_run_in_the_order_of_their_stream(program: Path) -> None:
    done = run(program, cwd=program.parent, PYACLNN_MOCK_STRICT="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "before <<<",
        "none 100000",
        "block 0 of 2",
        "block 1 of 2",
        "launched 0, status 0, results 3 7",
    ]


def test_captured_launches_run_with_their_graph(program: Path) -> None:
    """First 1.5 + 1.5, of which the last is doubled and 1 is added; then 1.5 + 3 and 1.5 + 7."""
    done = run(program, "captured", cwd=program.parent, PYACLNN_MOCK_STRICT="1")
    assert (done.returncode, done.stderr) == (0, "")
    blocks = ["block 0 of 2", "block 1 of 2"]
    assert done.stdout.splitlines() == [
        *("before <<<", *blocks, *blocks, "none 100000"),
        "launched 0, status 0, results 4.5 18",
    ]


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (
            "bounds",
            "kernel add: buffer 0 of a VECIN queue: .*launches.asc:35: Add: src0: bytes 256",
        ),
        ("crash", r"kernel crash: it crashed by signal 11 \(Segmentation fault\)"),
    ],
)
def test_a_broken_rule_fails_the_stream(program: Path, mode: str, reason: str) -> None:
    done = run(program, mode, cwd=program.parent)
    assert done.returncode == 0, done.stderr
    assert "launched 0, status 507015" in done.stdout

    assert re.search(reason, done.stdout)


def test_a_kernel_that_never_ends_ends_with_its_program(program: Path) -> None:
    done = run(program, "forever", cwd=program.parent)
    assert done.stdout.splitlines()[-1] == "wait 507046"
    left = [
        path
        for path in Path("/proc").glob("[0-9]*/exe")
        if path.is_symlink() and _target(path) == str(program)
    ]
    for _ in range(50):
        left = [path for path in left if _target(path) == str(program)]
        if not left:
            break
        subprocess.run(["sleep", "0.1"], check=True)
    assert left == []


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


@pytest.mark.exhaustive
def test_the_host_computes_the_tiling_of_a_product(tmp_path: Path) -> None:
    done = run(*COMPILER, HERE / "matmul.asc", "-o", tmp_path / "program", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    output = tmp_path / "c"
    done = run("sh", "-c", f"./program > {output}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        0,
        "-1 -1 0 16 32 1, 10 24 16 3 3 1, 10 0, 4 10 9 4 16",
    )
    a, b = np.arange(100 * 48) % 7 - 3, np.arange(48 * 70) % 5 - 2
    expected = a.reshape(100, 48) @ b.reshape(48, 70) + np.arange(70) % 11 - 5
    np.testing.assert_array_equal(np.fromfile(output, np.float32).reshape(100, 70), expected)


BINARY = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void fill(__gm__ int32_t *y, int32_t value)
{
    y[GetBlockIdx()] = value + (int32_t)GetBlockIdx();
}
extern "C" __global__ __aicore__ void add_7(__gm__ int32_t *y, __gm__ const int32_t *values)
{
    y[GetBlockIdx()] += values[GetBlockIdx()];
}
"""
LOADER = """
#include <cstdio>
#include "acl/acl.h"
int main(int, char **words)
{
    aclrtBinHandle binary;
    aclrtFuncHandle fill, none;
    aclrtArgsHandle arguments;
    aclrtParamHandle parameter;
    void *y;
    int32_t value = 7, host[4] = {};
    aclInit(nullptr);
    aclrtSetDevice(0);
    std::printf("%d ", aclrtBinaryLoadFromFile(words[1], nullptr, &binary));
    std::printf("%d ", aclrtBinaryGetFunction(binary, "fill", &fill));
    std::printf("%d ", aclrtBinaryGetFunction(binary, "pour", &none));
    aclrtMalloc(&y, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtKernelArgsInit(fill, &arguments);
    aclrtKernelArgsAppend(arguments, &y, sizeof y, &parameter);
    aclrtKernelArgsAppend(arguments, &value, sizeof value, &parameter);
    value = 40;
    std::printf("%d ", aclrtKernelArgsParaUpdate(arguments, parameter, &value, sizeof value));
    std::printf("%d ", aclrtLaunchKernelWithConfig(fill, 4, nullptr, nullptr, arguments, nullptr));
    std::printf("%d ", aclrtKernelArgsFinalize(arguments));
    std::printf("%d ", aclrtLaunchKernelWithConfig(fill, 4, nullptr, nullptr, arguments, nullptr));
    std::printf("%d ", aclrtBinaryUnLoad(binary));
    std::printf("%d ", aclrtBinaryUnLoad(binary));
    std::printf("%d ", aclrtSynchronizeDevice());
    aclrtMemcpy(host, sizeof host, y, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    std::printf("%d %d %d %d\\n", host[0], host[1], host[2], host[3]);
    aclrtFree(y);
    aclrtResetDevice(0);
    return aclFinalize();
}
"""
QUERIES = """
#include <cstdio>
#include <cstdlib>
#include "acl/acl.h"
static void *y;
static void show(const char *what)
{
    int32_t host[4] = {};
    const int status = aclrtSynchronizeDevice();
    aclrtMemcpy(host, sizeof host, y, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    std::printf("%s %d: %d %d %d %d\\n", what, status, host[0], host[1], host[2], host[3]);
}
int main(int, char **words)
{
    aclrtBinHandle binary, of;
    aclrtFuncHandle fill, add, none;
    char name[8];
    void *code, *same;
    int64_t type;
    size_t count, offset, bytes, handle_bytes, block_bytes;
    int32_t value = 7, host[4] = {1, 2, 3, 4};
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtBinaryLoadFromFile(words[1], nullptr, &binary);
    aclrtBinaryGetFunction(binary, "fill", &fill);
    std::printf("%d ", aclrtBinaryGetFunctionByEntry(binary, 7, &add));
    std::printf("%d ", aclrtBinaryGetFunctionByEntry(binary, 8, &none));
    std::printf("%d ", aclrtGetFunctionName(add, 5, name));
    std::printf("%d ", aclrtGetFunctionName(add, sizeof name, name));
    std::printf("%s ", name);
    std::printf("%d ", aclrtFunctionGetBinary(add, &of));
    std::printf("%d ", of == binary);
    std::printf("%d ", aclrtFunctionGetBinary(words, &of));
    std::printf("%d ", aclrtGetFunctionAddr(add, &code, &same));
    std::printf("%d ", code == same);
    std::printf("%d ", aclrtGetFuncBySymbol(code, &none));
    std::printf("%d ", none == add);
    std::printf("%d ", aclrtGetFuncBySymbol(words, &none));
    std::printf("%d ", aclrtGetFunctionAttribute(add, ACL_FUNC_ATTR_KERNEL_TYPE, &type));
    std::printf("%d ", (int)type);
    std::printf("%d ", aclrtGetFunctionAttribute(add, ACL_FUNC_ATTR_KERNEL_RATIO, &type));
    std::printf("%d ", aclrtFunctionGetParamCount(fill, &count));
    std::printf("%zu ", count);
    std::printf("%d ", aclrtFunctionGetParamInfo(fill, 1, &offset, &bytes));
    std::printf("%zu %zu ", offset, bytes);
    std::printf("%d\\n", aclrtFunctionGetParamInfo(fill, 2, nullptr, nullptr));

    aclrtMalloc(&y, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
    void *given[] = {&y, &value};
    std::printf("%d ", aclrtLaunchKernelWithArgsArray(fill, 4, nullptr, nullptr, given));
    std::printf("%d ", aclrtLaunchKernelWithArgsArray(fill, 0, nullptr, nullptr, given));
    show("array");

    struct { void *y; const void *values; int32_t data[4]; } block = {y, nullptr, {1, 2, 3, 4}};
    aclrtPlaceHolderInfo holder = {8, 16};
    std::printf("%d ", aclrtLaunchKernelWithHostArgs(add, 4, nullptr, nullptr, &block, sizeof block,
                                                     &holder, 1));
    holder.addrOffset = sizeof block;
    std::printf("%d ", aclrtLaunchKernelWithHostArgs(add, 4, nullptr, nullptr, &block, sizeof block,
                                                     &holder, 1));
    show("holders");

    aclrtArgsHandle arguments;
    aclrtParamHandle first, second;
    void *buffer;
    std::printf("%d ", aclrtKernelArgsGetHandleMemSize(add, &handle_bytes));
    std::printf("%d ", aclrtKernelArgsGetMemSize(add, 32, &block_bytes));
    for (int own = 0; own < 2; own++) {
        void *handle = std::calloc(1, handle_bytes), *memory = std::malloc(block_bytes);
        if (own) {
            arguments = handle;
            std::printf("%d ", aclrtKernelArgsInitByUserMem(add, arguments, memory, block_bytes));
        } else {
            std::printf("%d ", aclrtKernelArgsInit(add, &arguments));
        }
        aclrtKernelArgsAppend(arguments, &y, sizeof y, &first);
        std::printf("%d ", aclrtKernelArgsAppendPlaceHolder(arguments, &second));
        std::printf("%d ", aclrtKernelArgsFinalize(arguments));
        std::printf("%d ", aclrtKernelArgsGetPlaceHolderBuffer(arguments, first, 16, &buffer));
        std::printf("%d ", aclrtKernelArgsGetPlaceHolderBuffer(arguments, second, 16, &buffer));
        for (int i = 0; i < 4; i++) {
            ((int32_t *)buffer)[i] = 10 * (i + 1);
        }
        std::printf("%d ", aclrtKernelArgsAppend(arguments, &y, sizeof y, &first));
        std::printf("%d ", aclrtKernelArgsFinalize(arguments));
        std::printf("%d ", aclrtLaunchKernelWithConfig(add, 4, nullptr, nullptr, arguments,
                                                       nullptr));
        show("args");
        std::free(memory);
        std::free(handle);
    }

    void *on_device, *values;
    aclrtMalloc(&on_device, 16, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&values, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(values, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE);
    void *pair[] = {y, values};
    aclrtMemcpy(on_device, sizeof pair, pair, sizeof pair, ACL_MEMCPY_HOST_TO_DEVICE);
    std::printf("%d ", aclrtLaunchKernel(add, 4, on_device, sizeof pair, nullptr));
    std::printf("%d ", aclrtLaunchKernelV2(add, 4, on_device, sizeof pair, nullptr, nullptr));
    std::printf("%d ", aclrtLaunchKernelV2(add, 4, pair, sizeof pair, nullptr, nullptr));
    show("device");
    aclrtFree(on_device);
    aclrtFree(values);
    aclrtFree(y);
    aclrtResetDevice(0);
    return aclFinalize();
}
"""


@pytest.mark.exhaustive
def test_a_binary_of_kernels_is_loaded_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "fill.cpp").write_text(BINARY, encoding="utf-8")
    (tmp_path / "main.cpp").write_text(LOADER, encoding="utf-8")
    for words in (("--binary", "fill.cpp", "-o", "fill.o"), ("main.cpp", "-o", "main")):
        done = run(*COMPILER, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    done = run("./main", "./fill.o", cwd=tmp_path)
    assert done.stdout == "0 0 107000 0 107000 0 0 0 107017 0 40 41 42 43\n", done.stderr
    refused = run("./main", "./main", cwd=tmp_path)
    assert refused.stdout.startswith("999001 ")


@pytest.mark.exhaustive
def test_kernels_are_queried_and_launched_with_arguments_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / "fill.cpp").write_text(BINARY, encoding="utf-8")
    (tmp_path / "main.cpp").write_text(QUERIES, encoding="utf-8")
    for words in (("--binary", "fill.cpp", "-o", "fill.o"), ("main.cpp", "-o", "main")):
        done = run(*COMPILER, *words, cwd=tmp_path, PYACLNN_MOCK_CANN="9.1")
        assert done.returncode == 0, done.stderr
    for mode in ("deferred", "eager", "shuffled:3"):
        done = run(
            "./main", "./fill.o", cwd=tmp_path, PYACLNN_MOCK_CANN="9.1", PYACLNN_MOCK_MODE=mode
        )
        assert done.stdout.splitlines() == [
            "0 107000 107000 0 add_7 0 1 107017 0 1 0 1 107000 0 0 207000 0 2 0 8 4 107000",
            "0 100000 array 0: 7 8 9 10",
            "0 107000 holders 0: 8 10 12 14",
            "0 0 0 0 107000 107000 0 207000 0 0 args 0: 18 30 42 54",
            "0 0 107000 107000 0 207000 0 0 args 0: 28 50 72 94",
            "0 0 107000 device 0: 30 54 78 102",
        ], done.stderr


def test_launches_are_rewritten_on_their_lines() -> None:
    text = 'a;\nreturn ns::k<T, 2><<<n(1, 2), /* , */ 0,\n s>>>(x); // k<<<1, 2, 3>>>()\nc("<<<");'
    assert rewrite_launches(text) == (
        'a;\nreturn PYACLNN_LAUNCH("ns::k<T,2>", (ns::k<T, 2>), (n(1, 2)), (/* , */ 0), (s))\n'
        '(x); // k<<<1, 2, 3>>>()\nc("<<<");'
    )


@pytest.mark.parametrize("text", ["k<<<1, 2>>>(x);", "k<<<1, 2, 3;", "<<<1, 2, 3>>>(x);"])
def test_a_launch_without_its_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line 2: a launch is kernel<<<blocks, l2, stream>>>"):
        rewrite_launches(f"\n{text}")


def test_signatures_of_several_branches_are_found_once() -> None:
    kernel = 'extern "C" __global__ __aicore__ void k(GM_ADDR x, const float *y, int32_t n) {}\n'
    (found,) = find_signatures(f"#if A\n{kernel}#else\n{kernel}#endif\n")
    assert found.parameters == ("void *x", "void *y", "PYACLNN_ARGUMENT(int32_t) n")
