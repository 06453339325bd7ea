# SPDX-License-Identifier: Apache-2.0
"""Build scripts of Ascend C samples, by the CMake modules and the compiler of the home."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import build_home

from .commands import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive

KERNEL = """
#include "kernel_operator.h"
#include "step.h"
extern "C" __global__ __aicore__ void fill(GM_ADDR y, int32_t value)
{
    ((__gm__ int32_t *)y)[block_idx] = value + STEP * FACTOR * (int32_t)block_idx;
}
"""
CHECKED = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void fill(GM_ADDR y, int32_t value)
{
    AscendC::GlobalTensor<int32_t> values;
    values.SetGlobalBuffer((__gm__ int32_t *)y);
    values.SetValue(AscendC::GetBlockIdx(), value);
}
"""
HOST = """
#include <cstdio>
#include "acl/acl.h"
#include "aclrtlaunch_fill.h"
#include "tiling/platform/platform_ascendc.h"
int main()
{
    if (platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreNumAiv() != 40) {
        return 1;
    }
    int32_t host[4];
    void *y;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtMalloc(&y, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
    ACLRT_LAUNCH_KERNEL(fill)(4, nullptr, y, 7);
    aclrtSynchronizeDevice();
    aclrtMemcpy(host, sizeof host, y, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    std::printf("%d %d %d %d", host[0], host[1], host[2], host[3]);
    aclrtFree(y);
    aclrtResetDevice(0);
    return aclFinalize();
}
"""
ONE_SOURCE = KERNEL + HOST.replace('#include "aclrtlaunch_fill.h"\n', "").replace(
    "ACLRT_LAUNCH_KERNEL(fill)(4, nullptr, y, 7)", "fill<<<4, nullptr, nullptr>>>((GM_ADDR)y, 7)"
)
ON_THE_CPU = """
#include <cstdio>
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void fill(GM_ADDR y, int32_t value);
int main(int count, char **)
{
    int32_t *y = (int32_t *)AscendC::GmAlloc(4 * sizeof *y);
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(fill, count == 1 ? 4 : 5, (GM_ADDR)y, 7);
    std::printf("%d %d %d %d", y[0], y[1], y[2], y[3]);
    AscendC::GmFree(y);
    return 0;
}
"""
LIBRARY = """
cmake_minimum_required(VERSION 3.16)
project(sample CXX)
set(SOC_VERSION "Ascend910B3")
set(ASCEND_CANN_PACKAGE_PATH $ENV{ASCEND_HOME_PATH})
include(${ASCEND_CANN_PACKAGE_PATH}/tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake)
ascendc_library(kernels SHARED kernel.cpp)
ascendc_include_directories(kernels PRIVATE include)
ascendc_compile_definitions(kernels PRIVATE $<$<BOOL:>:NEVER> $<$<BOOL:x>:FACTOR=5>)
ascendc_fatbin_library(binary kernel.cpp)
ascendc_include_directories(binary PRIVATE include)
ascendc_compile_definitions(binary PRIVATE FACTOR=5)
add_executable(sample main.cpp)
target_link_libraries(sample PRIVATE $<BUILD_INTERFACE:host_intf_pub> kernels)
install(TARGETS sample DESTINATION bin)
"""
LANGUAGE = """
cmake_minimum_required(VERSION 3.16)
find_package(ASC REQUIRED)
project(sample LANGUAGES ASC CXX)
add_executable(sample main.asc)
target_include_directories(sample PRIVATE include)
target_compile_definitions(sample PRIVATE FACTOR=5)
target_compile_options(sample PRIVATE $<$<COMPILE_LANGUAGE:ASC>:--npu-arch=dav-2201>)
target_link_libraries(sample PRIVATE tiling_api register platform m dl)
install(TARGETS sample DESTINATION bin)
"""
DEBUG = """
cmake_minimum_required(VERSION 3.16)
project(sample CXX)
set(CMAKE_PREFIX_PATH $ENV{ASCEND_HOME_PATH}/tools/tikicpulib/lib/cmake)
find_package(tikicpulib REQUIRED)
add_library(kernels SHARED kernel.cpp)
target_link_libraries(kernels PUBLIC tikicpulib::Ascend910B3)
target_include_directories(kernels PRIVATE include)
target_compile_definitions(kernels PRIVATE FACTOR=5)
add_executable(sample main.cpp)
target_link_libraries(sample PRIVATE tikicpulib::Ascend910B3 ascendcl c_sec kernels)
install(TARGETS kernels sample LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
"""
BUILDS = {
    "library": (LIBRARY, {"kernel.cpp": KERNEL, "main.cpp": HOST}),
    "language": (LANGUAGE, {"main.asc": ONE_SOURCE}),
    "debug": (DEBUG, {"kernel.cpp": KERNEL, "main.cpp": ON_THE_CPU}),
}
EXPECTED = "7 17 27 37"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_home(tmp_path_factory.mktemp("it's") / "home")


def build(home: Path, folder: Path, sources: dict[str, str], script: str) -> tuple[int, str, str]:
    (folder / "include").mkdir()
    for name, text in {**sources, "include/step.h": "#define STEP 2\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = run("bash", "-euc", f'. "$1/set_env.sh"; {script}', "run.sh", home, cwd=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("kind", BUILDS)
def test_cmake_builds_a_sample(kind: str, home: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    project, sources = BUILDS[kind]
    script = (
        "cmake -B build -DCMAKE_INSTALL_PREFIX=$PWD/out >&2; cmake --build build >&2; "
        "cmake --install build >&2; LD_LIBRARY_PATH=out/lib:$LD_LIBRARY_PATH out/bin/sample"
    )
    status, printed, errors = build(home, tmp_path, {"CMakeLists.txt": project, **sources}, script)
    assert (status, printed) == (0, EXPECTED), errors
    assert kind != "library" or list(tmp_path.rglob("fatbin/binary/binary.o"))


def test_a_broken_rule_ends_a_run_on_the_cpu(home: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    sources = {"kernel.cpp": CHECKED, "main.cpp": ON_THE_CPU, "CMakeLists.txt": DEBUG}
    script = "cmake -B build >&2; cmake --build build >&2; build/sample many"
    status, printed, errors = build(home, tmp_path, sources, script)
    assert (status, printed) == (1, "")
    assert "[rule: bounds; block 4]" in errors


def test_the_compiler_takes_the_words_of_bisheng(home: Path, tmp_path: Path) -> None:
    script = (
        "bisheng -x asc --npu-arch=dav-3510 -Iinclude -DFACTOR=5 -E main.cpp -o - "
        "| grep -q '^int of_the_chip = 3510;'; "
        "bisheng -x asc main.cpp -o sample -O1 -Iinclude -DFACTOR=5 --npu-arch=dav-2201 "
        "--run-mode=npu; ./sample; ! bisheng --npu-arch=dav-1 main.cpp"
    )
    source = f"{ONE_SOURCE}\nint of_the_chip = __NPU_ARCH__;\n"
    status, printed, errors = build(home, tmp_path, {"main.cpp": source}, script)
    assert (status, printed) == (0, EXPECTED), errors
    assert "no chip has the architecture 'dav-1'" in errors
