# SPDX-License-Identifier: Apache-2.0
"""A simulated release: what compiles links, what links is there, and both are of that release."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.elf import read_library
from pyaclnn.cann.signatures import signatures
from pyaclnn.cann.simulator import simulator
from pyaclnn.facts.releases import RELEASES
from pyaclnn.mock import cflags, libdir
from tests.releases import NEWEST, VERSIONS

from .programs import COMPILER

if TYPE_CHECKING:
    from .programs import Programs

BY_RELEASE = {
    release: sorted(s.name for s in signatures().values() if s.since == release)
    for release in VERSIONS
}
LOOKED_UP = {"aclrtBinaryLoadFromData"}
"""Newer than 8.1, and linked by programs that find their way without it."""


@pytest.fixture(params=VERSIONS)
def release(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A release that everything here is of."""
    name: str = request.param
    monkeypatch.setenv("PYACLNN_MOCK_CANN", name)
    return name


def compiles(name: str) -> bool:
    headers = '#include "acl/acl.h"\n#include "aclnn/acl_meta.h"\n'
    source = headers + f"void *use(void) {{ return (void *)&{name}; }}\n"
    command = [*COMPILER, *cflags(), "-fsyntax-only", "-w", "-xc", "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    return done.returncode == 0


def test_the_table_of_releases_is_the_one_known_here() -> None:
    assert list(RELEASES) == list(BY_RELEASE) == list(VERSIONS)


def test_every_function_of_the_release_is_exported_and_no_newer_one(release: str) -> None:
    exported = set().union(*(read_library(p).exports for p in libdir().glob("lib*.so")))
    present = {name for since in BY_RELEASE if since <= release for name in BY_RELEASE[since]}
    assert len(present) > 1700
    assert present - exported == set()
    assert (exported & set(signatures())) - present <= LOOKED_UP


@pytest.mark.parametrize("since", BY_RELEASE)
def test_the_arguments_for_the_compiler_select_the_release(release: str, since: str) -> None:
    functions = [n for n in BY_RELEASE[since] if signatures()[n].library != "operators"]
    assert compiles(functions[0]) == (since <= release)
    assert compiles(functions[-1]) == (since <= release)


_TELL = """
import ctypes
from pyaclnn.mock import libdir
acl = ctypes.CDLL(f"{libdir()}/libascendcl.so")
numbers = (ctypes.c_int32 * 3)()
assert acl.aclrtGetVersion(*(ctypes.byref(numbers, 4 * i) for i in range(3))) == 0
texts = ctypes.create_string_buffer(128 + 4 * 64 + 128)
assert acl.aclsysGetCANNVersion(0, texts) == 0
parts = [texts[start:start + 64].rstrip(b"\\0").decode() for start in (0, 128, 192, 256)]
print(*numbers, *parts)
"""


def test_it_answers_with_its_versions(release: str, programs: Programs) -> None:
    done = programs.run([sys.executable, "-c", _TELL], {"PYACLNN_MOCK_CANN": release})
    assert done.stdout.strip() == VERSIONS[release], done.stderr


@pytest.mark.sampled(1)
def test_the_device_process_simulates_what_the_libraries_are_of(
    release: str, programs: Programs, tmp_path: Path
) -> None:
    # A kernel sees what the device process has been told.
    kernels = tmp_path / "kernels.py"
    kernels.write_text(
        "import os, pathlib, pyaclnn\n"
        '@pyaclnn.mock.operator("aclnnAbs")\n'
        "def absolute(self):\n"
        "    release = os.environ['PYACLNN_MOCK_CANN']\n"
        f"    pathlib.Path({str(tmp_path / 'told')!r}).write_text(release)\n"
        "    return abs(self)\n",
        encoding="utf-8",
    )
    code = (
        "import os, numpy, pyaclnn\n"
        f"pyaclnn.select_backend({str(libdir())!r})\n"
        "assert pyaclnn.aclnn.abs(numpy.float32([-2, 2])).tolist() == [2, 2]\n"
    )
    done = programs.run([sys.executable, "-c", code], {"PYACLNN_MOCK_OPERATORS": str(kernels)})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "told").read_text(encoding="utf-8") == release


@pytest.mark.parametrize(
    ("wanted", "told"), [(NEWEST, "those of CANN 8.1"), ("7", "'7', and the libraries")]
)
def test_libraries_of_another_release_than_is_asked_for_open_no_device(
    wanted: str, told: str, programs: Programs
) -> None:
    code = (
        "import ctypes\n"
        f"acl = ctypes.CDLL('{Path(libdir())}/libascendcl.so')\n"
        "acl.aclGetRecentErrMsg.restype = ctypes.c_char_p\n"
        "print(acl.aclrtSetDevice(0), acl.aclGetRecentErrMsg().decode())\n"
    )
    done = programs.run([sys.executable, "-c", code], {"PYACLNN_MOCK_CANN": wanted})
    assert done.stdout.startswith("507033 "), done.stderr
    assert f"PYACLNN_MOCK_CANN is '{wanted}'" in done.stdout
    assert told in done.stdout


_BOTH = """
import ctypes
first, second = (ctypes.CDLL(f"{folder}/libascendcl.so") for folder in %r)
for acl in (first, second):
    acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
    print(acl.aclrtSetDevice(0), acl.aclGetRecentErrMsg().decode())
ctypes.CDLL(None).dlclose(ctypes.c_void_p(second._handle))
assert first.aclrtSetDevice(0) == 0
"""


def test_a_process_simulates_one_release_and_another_one_beside_it_is_named(
    programs: Programs,
) -> None:
    folders = [str(libdir().parent / name) for name in BY_RELEASE]
    done = programs.run([sys.executable, "-c", _BOTH % folders])
    assert done.returncode == 0, done.stderr
    refused = (
        f"{folders[0]}/libascendcl.so is of CANN 8.1, and {folders[1]}/libascendcl.so of "
        "CANN 9.1: a process simulates one release; start another process for the other one"
    )
    answers = done.stdout.splitlines()
    assert [line.split()[0] for line in answers] == ["507033", "507033"]
    assert [line.partition("aclrtSetDevice: ")[2] for line in answers] == [refused, refused]


def test_a_folder_of_a_release_alone_does_not_load_and_says_what_it_lacks(
    programs: Programs, tmp_path: Path, release: str
) -> None:
    folder = tmp_path / "somewhere" / release
    shutil.copytree(libdir(), folder)
    load = f"import ctypes; ctypes.CDLL('{folder}/libopapi.so')"
    done = programs.run([sys.executable, "-c", load])
    assert f"OSError: {simulator().name}: cannot open shared object file" in done.stderr
    shutil.copy(simulator(), folder)
    assert programs.run([sys.executable, "-c", load]).returncode == 0


def test_a_release_that_is_not_simulated_is_refused_by_name() -> None:
    environment = {**os.environ, "PYACLNN_MOCK_CANN": "8.2", "PYACLNN_BACKEND": "mock"}
    code = "import pyaclnn; pyaclnn.backend()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, text=True, capture_output=True, check=False
    )
    assert done.stderr.splitlines()[-1] == (
        "pyaclnn.BackendNotFoundError: PYACLNN_MOCK_CANN is '8.2'; it must be 8.1 or 9.1, "
        "the releases that are simulated."
    )


@pytest.mark.parametrize(("release", "fields"), [("8.1", 5), ("9.1", 12)], indirect=["release"])
def test_all_fields_of_the_configuration_of_communicators_are_known(
    release: str, fields: int
) -> None:
    assert release
    program = (
        f"import ctypes; print(ctypes.CDLL({str(libdir() / 'libhccl.so')!r})"
        ".HcclGetCommConfigCapability())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (f"{fields}\n", "")
