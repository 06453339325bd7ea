# SPDX-License-Identifier: Apache-2.0
"""``pyaclnn ascendc compile``: programs that launch kernels as samples of CANN do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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


BINARY = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void fill(__gm__ int32_t *y, int32_t value)
{
    y[GetBlockIdx()] = value + (int32_t)GetBlockIdx();
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
    assert found.parameters == ("void *x", "void *y", "int32_t n")
