# SPDX-License-Identifier: Apache-2.0
"""The Python of the device process: one that is known, or the one that the user names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann.simulator import simulator
from pyaclnn.mock import libdir

if TYPE_CHECKING:
    from pathlib import Path

OPEN = """
import ctypes, sys
libascendcl = ctypes.CDLL(sys.argv[1] + "/libascendcl.so")
if len(sys.argv) > 2:
    libascendcl.pyaclnn_mock_python_set(sys.argv[2].encode())
libascendcl.aclGetRecentErrMsg.restype = ctypes.c_char_p
print(libascendcl.aclrtSetDevice(0), libascendcl.aclGetRecentErrMsg())
"""
ELSEWHERE = ["bin", "alice/bin", "alice/pkgs/bin", "alice/pkgs/pyaclnn/bin"]


def install(folder: Path) -> Path:
    """The libraries in a folder as an installation has them, without the file of the build."""
    libraries = folder / "pyaclnn" / "mock" / "lib" / libdir().name
    libraries.mkdir(parents=True)
    for name in ("ascendcl", "nnopbase", "opapi"):
        shutil.copy(libdir() / f"lib{name}.so", libraries)
    shutil.copy(simulator(), libraries.parent)
    return libraries


def plant(folder: Path, program: str = "python3") -> Path:
    """A program that says that it ran, and is then what it should be."""
    folder.mkdir(parents=True, exist_ok=True)
    planted = folder / program
    planted.write_text(f'#!/bin/sh\n: > {folder}/ran\nexec {sys.executable} "$@"\n')
    planted.chmod(0o755)
    return folder / "ran"


def open_device(libraries: Path, *told: str, path: str = "/nowhere") -> str:
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(libraries), *told],
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize("place", ELSEWHERE)
def test_a_python_in_a_folder_above_the_library_is_nobody_s(tmp_path: Path, place: str) -> None:
    ran = plant(tmp_path / place)
    said = open_device(install(tmp_path / "alice" / "pkgs"), path=str(tmp_path / "bin"))
    assert said.startswith("507033 ")
    assert "PYACLNN_MOCK_PYTHON" in said
    assert not ran.exists()


def test_a_host_program_in_python_tells_of_itself(tmp_path: Path) -> None:
    libraries = install(tmp_path / "alice" / "pkgs")
    assert open_device(libraries, sys.executable).startswith("0 ")


@pytest.mark.parametrize("packages", ["lib/python3.11/site-packages", "lib/python3/dist-packages"])
def test_the_environment_of_an_installed_library_is_known(tmp_path: Path, packages: str) -> None:
    ran = plant(tmp_path / "bin")
    assert open_device(install(tmp_path / packages)).startswith("0 ")
    assert ran.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_unless_somebody_else_put_it_there(tmp_path: Path) -> None:
    ran = plant(tmp_path / "bin")
    shutil.chown(tmp_path / "bin" / "python3", 65534)
    assert open_device(install(tmp_path / "lib/python3.11/site-packages")).startswith("507033 ")
    assert not ran.exists()
