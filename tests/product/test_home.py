# SPDX-License-Identifier: Apache-2.0
"""``pyaclnn mock home`` and Python's ``acl``: what programs of others find by CANN's own ways."""

from __future__ import annotations

import errno
import json
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from pyaclnn import mock
from pyaclnn.cann.simulator import simulator
from pyaclnn.mock import build_home, includedir, libdir

from .commands import pyaclnn, run, silent_environment


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_home(tmp_path_factory.mktemp("it's") / "home")


def test_every_library_and_header_is_where_an_installation_has_it(home: Path) -> None:
    real = {path.name: path for path in (simulator(), *libdir().glob("lib*.so"))}
    assert {"libascendcl.so", "libopapi.so", "libhccl.so"} < set(real)
    for lib64 in (home / "lib64", home / "runtime" / "lib64", home / "compiler" / "lib64"):
        libraries = {path.name: path.resolve() for path in lib64.iterdir() if path.suffix == ".so"}
        assert {name: libraries.pop(name) for name in real} == real
        for name in ("libfmk_onnx_parser.so", "libllm_datadist.so", "libmetadef.so"):
            assert libraries.pop(name) == real["libgraph.so"]
        assert set(libraries.values()) == {real["libascendcl.so"], real["libgraph.so"]}
    for include in (home / "include", home / "runtime" / "include"):
        # Files of its own: the folder that compilers are given is a cache, and may be cleared.
        own = {p.relative_to(include): p for p in include.rglob("*") if p.is_file()}
        given = {p.relative_to(includedir()): p for p in includedir().rglob("*") if p.is_file()}
        assert {name: p.read_bytes() for name, p in own.items()} == {
            name: p.read_bytes() for name, p in given.items()
        }
        assert not any(path.is_symlink() for path in include.rglob("*"))
    assert (home / "opp" / "vendors").is_dir()


def test_it_tells_its_version(home: Path) -> None:
    text = (home / "ascend_toolkit_install.info").read_text(encoding="utf-8")
    assert re.search(r"^version=8\.1\.RC1$", text, re.MULTILINE)
    assert f"path={home}\n" in text


def test_the_doctor_calls_it_the_simulated_npu_and_faults_nothing_else(home: Path) -> None:
    command = '. "$1/set_env.sh"; unset PYACLNN_BACKEND; exec "$2" -m pyaclnn doctor --json -'
    arguments = ("sh", "-c", command, "sh", str(home), sys.executable)
    done = run(*arguments, environment=silent_environment())
    report = json.loads(done.stdout)
    wrong = [r["id"] for r in report["results"] if r["status"] not in {"PASS", "SKIP", "NOT_RUN"}]
    assert (wrong, done.returncode) == (["MOCK-001"], 1)
    assert report["results"][0]["summary"] == f"the simulated NPU in {home}"


LOOKED_FOR = """
lib64/libascendcl.so lib64/stub/libascendcl.so runtime/lib64/stub/libascendcl.so
compiler/lib64/libopapi.so acllib/include/acl/acl.h acllib/lib64/stub/libascendcl.so
fwkacllib/lib64/libhccl.so fwkacllib/include/hccl/hccl.h atc/lib64/libnnopbase.so
latest/lib64/libascendcl.so latest/set_env.sh hccl/version.info toolkit/version.info
{machine}-linux/lib64/libascendcl.so {machine}-linux/include/acl/acl.h
{machine}-linux/devlib/libascendcl.so {machine}-linux/ascend_toolkit_install.info
lib64/libascend_hal.so lib64/libacl_dvpp.so lib64/libc_sec.so
lib64/libregister.so lib64/libplatform.so
lib64/libtiling_api.so share/cmake/pyaclnn/pyaclnn-config.cmake lib64/pkgconfig/pyaclnn.pc
tools/mstx/lib64/libms_tools_ext.so tools/mstx/include/mstx/ms_tools_ext.h
tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake
bin/npu-smi version.cfg opp/version.info bin/setenv.bash python/site-packages/acl/__init__.py
"""
"""Paths that build scripts of CANN's samples and of frameworks look for."""


@pytest.mark.parametrize("path", LOOKED_FOR.format(machine=platform.machine()).split())
def test_build_scripts_find_their_paths(home: Path, path: str) -> None:
    assert (home / path).is_file()


def test_version_cfg_has_every_package(home: Path) -> None:
    lines = (home / "version.cfg").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# version: 1.0"
    assert "runtime_running_version=[8.1.RC1:8.1.RC1]" in lines
    assert "opp_kernel_installed_version=[8.1.RC1:8.1.RC1]" in lines


def _smi(home: Path, *words: str, **extra: str) -> str:
    done = run(home / "bin" / "npu-smi", *words, environment=silent_environment(**extra))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_npu_smi_describes_the_simulated_chips(home: Path) -> None:
    # The line and the word that llama.cpp's build takes the chip from.
    assert _smi(home, "info").splitlines()[6].split()[2] == "910B3"
    assert "Card Count                     : 3" in _smi(
        home, "info", "-l", PYACLNN_MOCK_DEVICES="3"
    )
    chips = re.findall(r"^\t(\d) +0 +(\d) +Ascend 910B3 *$", _smi(home, "info", "-m"), re.MULTILINE)
    assert chips == [("0", "0"), ("1", "1")]
    for page, line in {
        "board": "Compatibility +: OK",
        "common": "Aicore Count +: 20",
        "health": "Health +: OK",
        "memory": r"HBM Capacity\(MB\) +: 65536",
        "usages": r"Aicore Usage Rate\(%\) +: 0",
    }.items():
        assert re.search(rf"^\t{line}$", _smi(home, "info", "-t", page, "-i", "1"), re.MULTILINE)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("soc", "named"),
    [
        ("Ascend910B3", {"Chip Type": "Ascend", "Chip Name": "910B3"}),
        ("Ascend910_9391", {"Chip Name": "Ascend910", "NPU Name": "9391"}),
        ("Ascend310P3", {"Chip Name": "310P3"}),
    ],
)
def test_npu_smi_names_the_chip_of_a_board(home: Path, soc: str, named: dict[str, str]) -> None:
    # The steps of vllm-ascend's build.
    listed = _smi(home, "info", "-l", PYACLNN_MOCK_SOC=soc).strip().split("\n")
    device = listed[2].split(":")[1].strip()
    board = _smi(home, "info", "-t", "board", "-i", device, "-c", "0", PYACLNN_MOCK_SOC=soc)
    pairs = (line.split(":", 1) for line in board.splitlines())
    rows = {name.strip(): value.strip() for name, value in pairs}
    assert named.items() <= rows.items()


def test_npu_smi_ends_quietly_when_no_one_reads_on(home: Path) -> None:
    done = run("bash", "-c", '"$0" info | true; "$0" info -m | true', home / "bin" / "npu-smi")
    assert (done.returncode, done.stderr) == (0, "")


def test_npu_smi_refuses_devices_that_do_not_exist(home: Path) -> None:
    done = run(home / "bin" / "npu-smi", "info", "-t", "health", "-i", "2")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "npu-smi: no device 2; 2 are simulated, each of one chip\n"


MAIN_C = """
#include "acl/acl.h"
#include "aclnn_add.h"
int main(void) { return aclInit(0) + (aclnnAdd == 0) + aclFinalize(); }
"""
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(host C)
find_package(pyaclnn 8.1 REQUIRED)
add_executable(host main.c)
target_link_libraries(host PRIVATE pyaclnn::pyaclnn)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("of_home", [False, True])
def test_cmake_finds_the_package(home: Path, tmp_path: Path, of_home: bool) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    (tmp_path / "main.c").write_text(MAIN_C, encoding="utf-8")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    folder = home / "lib64/cmake/pyaclnn" if of_home else mock.cmakedir()
    for command in (
        ("cmake", f"-Dpyaclnn_DIR={folder}", "-B", "build"),
        ("cmake", "--build", "build"),
        ("build/host",),
    ):
        done = run(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("of_home", [False, True])
def test_pkg_config_finds_the_package(home: Path, tmp_path: Path, of_home: bool) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    (tmp_path / "main.c").write_text(MAIN_C, encoding="utf-8")
    folder = home / "lib64/pkgconfig" if of_home else mock.pkgconfigdir()
    script = 'eval "cc main.c $(pkg-config --cflags --libs pyaclnn) -o host"; ./host'
    done = run(
        "sh",
        "-euc",
        script,
        cwd=tmp_path,
        environment=silent_environment(PKG_CONFIG_PATH=str(folder)),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


RUN_SH = """
source "$1/bin/setenv.bash"
cat > main.cpp <<'END'
#include "acl/acl.h"
#include "aclnn_add.h"
#include "hccl/hccl.h"
int main() { return aclInit(nullptr) + aclFinalize(); }
END
c++ main.cpp -I"$ASCEND_HOME_PATH/include" -I"$ASCEND_HOME_PATH/include/aclnnop" \\
    -L"$TOOLCHAIN_HOME/lib64/stub" -lascendcl -lnnopbase -lopapi -o main
./main
"""
"""The steps of a sample's ``run.sh``."""


def test_a_sample_builds_and_runs_by_its_script(home: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-euc", RUN_SH, "run.sh", str(home)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=silent_environment(),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("", encoding="utf-8")
    done = pyaclnn("mock", "home", tmp_path)
    assert done.returncode == 2
    assert f"'{tmp_path}' is not empty; name a folder that does not exist yet" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(errno.ENOSPC, "disk full")])
def test_a_home_that_could_not_be_finished_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    def fail(*_: object) -> NoReturn:
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(Path, "chmod", fail)  # the last step
        with pytest.raises(type(failure)):
            build_home(tmp_path / "home")
    assert not list((tmp_path / "home").iterdir())
    assert (build_home(tmp_path / "home") / "set_env.sh").is_file()


def test_the_command_says_what_to_source(tmp_path: Path) -> None:
    done = pyaclnn("mock", "home", tmp_path / "new home")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"source '{tmp_path}/new home/set_env.sh'\n"
    assert (tmp_path / "new home" / "lib64" / "libopapi.so").exists()


_ACL = """
import acl, ctypes
assert acl.init() == 0 and acl.init() == 100002
count, status = acl.rt.get_device_count()
assert (count, status) == (2, 0)
assert acl.rt.get_device() == (0, 107002)
assert acl.rt.set_device(1) == 0 and acl.rt.get_device() == (1, 0)
assert acl.get_version() == (1, 13, 0, 0)
assert acl.get_soc_name() == 'Ascend910B3'
assert acl.get_device_capability(1, 0) == (20, 0)
assert acl.get_device_capability(1, 9)[1] == 100000
assert 'does not know deviceInfo 9' in acl.get_recent_err_msg() and acl.get_recent_err_msg() == ''
assert [acl.data_type_size(kind) for kind in (0, 1, 9)] == [4, 2, 8]
assert acl.rt.get_run_mode() == (1, 0)
context, status = acl.rt.create_context(0)
assert status == 0 and acl.rt.get_device() == (0, 0)
stream, status = acl.rt.create_stream()
memory, status = acl.rt.malloc(16, 0)
pinned, status = acl.rt.malloc_host(16)
assert status == 0 and acl.rt.memset(memory, 16, 7, 16) == 0
assert acl.rt.memcpy_async(pinned, 16, memory, 16, 2, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0 and ctypes.string_at(pinned, 16) == b'\\x07' * 16
there = ctypes.create_string_buffer(b'sixteen  letters', 16)
assert acl.rt.memcpy(memory, 16, ctypes.addressof(there), 16, 1) == 0
assert acl.rt.memcpy(pinned, 16, memory, 16, 2) == 0
assert ctypes.string_at(pinned, 16) == b'sixteen  letters'
free, total, status = acl.rt.get_mem_info(1)
assert 0 < free < total and status == 0
assert acl.rt.free(memory) == acl.rt.free_host(pinned) == acl.rt.destroy_stream(stream) == 0
assert acl.rt.free(memory) == 107000
assert acl.rt.synchronize_device() == acl.rt.destroy_context(context) == 0
assert acl.rt.set_context(context) == 107002 and acl.rt.reset_device(1) == 0
assert acl.rt.set_device(0) == acl.rt.reset_device_force(0) == 0
acl.app_log(1, 'a line with %s')
assert acl.finalize() == 0
print('right')
"""


@pytest.mark.exhaustive
def test_programs_for_pyacl_find_a_stand_in() -> None:
    done = pyaclnn("mock", "run", "--", "python", "-c", _ACL)
    assert done.stdout == "right\n", done.stderr


def test_a_shell_that_sourced_the_home_has_it_too(home: Path) -> None:
    program = "import acl; print(acl.rt.get_device_count())"
    line = f'. "{home}/set_env.sh"; echo "$ASCEND_OPP_PATH"; python -c "{program}"'
    done = run("sh", "-euc", line)
    assert done.stdout == f"{home}/opp\n(2, 0)\n", done.stderr
