# SPDX-License-Identifier: Apache-2.0
"""A CANN that is in the process, or in LD_LIBRARY_PATH, wherever it came from."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann.simulator import simulator
from pyaclnn.mock import libdir

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]

HOST = """
import ctypes, re
from pathlib import Path

FOLDER = Path({folder!r})
runtime = ctypes.CDLL(str(FOLDER / "libascendcl.so"), mode={mode})
assert runtime.aclInit(None) == 0 and runtime.aclrtSetDevice(0) == 0

import numpy as np
import pyaclnn

def copies(name):
    maps = Path("/proc/self/maps").read_text()
    return set(re.findall(rf" (/.+/{{name}})$", maps, re.MULTILINE))

def use():
    x = pyaclnn.to_device(np.ones((2, 8), np.float32))
    y = pyaclnn.rms_norm(x, x[0]).y
    stream = pyaclnn.Stream.default()
    stream.synchronize()
    np.testing.assert_allclose(y.numpy(), 1, rtol=1e-3)
    x.close(), y.close(), stream.pool.trim(), stream.workspace.trim()

def end():
    assert runtime.aclrtResetDevice(0) == 0 and runtime.aclFinalize() == 0
"""
END = "\nend()\n"


def vendor(folder: Path) -> Path:
    """Make libraries that do not say that they are simulated."""
    folder.mkdir(parents=True)
    for path in (simulator(), *libdir().glob("lib*.so")):
        content = path.read_bytes().replace(b"pyaclnn_mock_marker", b"pyaclnn_none_marker")
        (folder / path.name).write_bytes(content)
    return folder


def simulated(folder: Path) -> Path:
    """Install the libraries of the simulated NPU elsewhere."""
    shutil.copytree(libdir(), folder / "mine")
    shutil.copy(simulator(), folder / "mine")
    return folder / "mine"


@pytest.fixture
def silent(tmp_path: Path) -> dict[str, str | None]:
    """An environment that names no CANN."""
    names = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_INSTALL_PATH", "LD_LIBRARY_PATH")
    return {
        **dict.fromkeys(names),
        "PYACLNN_BACKEND": None,
        "PYACLNN_MOCK_PYTHON": sys.executable,
        "HOME": str(tmp_path),
    }


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["ctypes.RTLD_LOCAL", "ctypes.RTLD_GLOBAL"])
def test_a_cann_that_the_host_has_loaded_from_anywhere_is_joined(
    run_python: Run, silent: dict[str, str | None], tmp_path: Path, mode: str
) -> None:
    folder = vendor(tmp_path / "any where")
    done = run_python(
        HOST.format(folder=str(folder), mode=mode) + "info = pyaclnn.select_backend('cann')\n"
        "assert (info.name, info.directory) == ('cann', FOLDER), info\n"
        "assert info.origin == 'in this process already'\n"
        "assert not pyaclnn.Device.current().owned\n"
        "use()\n"
        "assert copies('libascendcl.so') == {str(FOLDER / 'libascendcl.so')}\n" + END,
        **silent,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.exhaustive
def test_what_is_there_outranks_an_installation(
    run_python: Run, silent: dict[str, str | None], tmp_path: Path
) -> None:
    folder = vendor(tmp_path / "theirs")
    vendor(tmp_path / "Ascend/cann/lib64")
    done = run_python(
        HOST.format(folder=str(folder), mode=0) + "ctypes.CDLL(str(FOLDER / 'libopapi.so'))\n"
        "use()\n"
        "for path in FOLDER.iterdir():\n"
        "    assert copies(path.name) <= {str(path)}, path\n"
        "for name in ('libascendcl.so', 'libnnopbase.so', 'libopapi.so'):\n"
        "    assert copies(name), name\n" + END,
        **silent,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.exhaustive
def test_libraries_that_the_host_took_from_several_folders_are_taken_from_there(
    run_python: Run, silent: dict[str, str | None], tmp_path: Path
) -> None:
    folder, rest = vendor(tmp_path / "one"), tmp_path / "other"
    rest.mkdir()
    for name in ("libnnopbase.so", "libopapi.so"):
        shutil.move(folder / name, rest / name)
    vendor(tmp_path / "Ascend/cann/lib64")
    done = run_python(
        HOST.format(folder=str(folder), mode="ctypes.RTLD_GLOBAL")
        + "for name in ('libnnopbase.so', 'libopapi.so'):\n"
        f"    ctypes.CDLL({str(rest)!r} + '/' + name)\n"
        "use()\n"
        f"assert copies('libnnopbase.so') == {{{str(rest / 'libnnopbase.so')!r}}}\n"
        f"assert copies('libopapi.so') == {{{str(rest / 'libopapi.so')!r}}}\n"
        "assert copies('libascendcl.so') == {str(FOLDER / 'libascendcl.so')}\n" + END,
        **silent,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("choose", ["", "pyaclnn.select_backend('mock')"])
def test_a_simulated_npu_of_the_host_is_joined_without_a_choice(
    run_python: Run, silent: dict[str, str | None], tmp_path: Path, choose: str
) -> None:
    done = run_python(
        HOST.format(folder=str(simulated(tmp_path)), mode=0) + f"{choose}\n"
        "info = pyaclnn.backend()\n"
        "assert (info.name, info.directory) == ('mock', FOLDER), info\n"
        "pyaclnn.select_backend('mock')\n"
        "use()\n"
        "assert copies('libascendcl.so') == {str(FOLDER / 'libascendcl.so')}\n" + END,
        **silent,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_simulated_npu_that_was_refused_is_refused_again(
    run_python: Run, silent: dict[str, str | None], tmp_path: Path
) -> None:
    done = run_python(
        "import pyaclnn\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        print(pyaclnn.backend())\n"
        "    except pyaclnn.BackendNotFoundError as error:\n"
        "        print('chosen by name' in str(error))\n",
        **{**silent, "LD_LIBRARY_PATH": str(simulated(tmp_path))},
    )
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")


def test_a_simulated_npu_of_the_host_is_no_cann_that_is_chosen(
    run_python: Run, silent: dict[str, str | None], tmp_path: Path
) -> None:
    folder = simulated(tmp_path)
    done = run_python(
        HOST.format(folder=str(folder), mode=0) + "try:\n"
        "    pyaclnn.backend()\n"
        "except pyaclnn.BackendNotFoundError as error:\n"
        "    print(error)\n" + END,
        **{**silent, "PYACLNN_BACKEND": "cann"},
    )
    assert done.stdout == (
        "PYACLNN_BACKEND=cann found no installed CANN.\n"
        "Tried:\n"
        f"  {folder}/libascendcl.so: is the simulated NPU, which has to be chosen by name\n"
        f"Hint: {folder}/libascendcl.so is in this process already, and a second copy beside it "
        "would know nothing of its devices: leave the choice out to use it as it is there, choose "
        "'mock' if it is the simulated NPU, or start another process.\n"
    ), done.stderr
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("choice", ["mock", "{other}"])
def test_nothing_else_is_loaded_beside_it(
    run_python: Run, silent: dict[str, str | None], tmp_path: Path, choice: str
) -> None:
    folder, other = vendor(tmp_path / "theirs"), vendor(tmp_path / "other")
    done = run_python(
        HOST.format(folder=str(folder), mode=0) + "try:\n"
        f"    pyaclnn.select_backend({choice.format(other=other)!r})\n"
        "except pyaclnn.BackendNotFoundError as error:\n"
        "    print(error)\n"
        "assert copies('libascendcl.so') == {str(FOLDER / 'libascendcl.so')}\n"
        "assert pyaclnn.select_backend(FOLDER).directory == FOLDER\n"
        "use()\n" + END,
        **silent,
    )
    assert f"Hint: {folder}/libascendcl.so is in this process already" in done.stdout, done.stderr
    second = (libdir() if choice == "mock" else other) / "libascendcl.so"
    both = f"  {second}: would be a second runtime library beside {folder}/libascendcl.so\n"
    assert both in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.sampled(1)
def test_ld_library_path_is_searched_last(
    run_python: Run, silent: dict[str, str | None], tmp_path: Path
) -> None:
    stubs, path = vendor(tmp_path / "devlib"), vendor(tmp_path / "path")
    code = "import pyaclnn; info = pyaclnn.backend(); print(info.directory, info.origin)"
    where = {**silent, "LD_LIBRARY_PATH": f"{stubs}:relative:{path}"}
    done = run_python(code, **where)
    assert done.stdout == f"{path} in LD_LIBRARY_PATH\n", done.stderr
    installed = vendor(tmp_path / "Ascend/cann/lib64")
    done = run_python(code, **where)
    assert done.stdout == f"{installed} where CANN is installed\n", done.stderr
