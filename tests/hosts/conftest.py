# SPDX-License-Identifier: Apache-2.0
"""llama.cpp with its CANN backend, built from the sources of `llama-cpp-python` beside these."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

SOURCES = "PYACLNN_TEST_HOSTS"
"""Variable: the folder of source archives, which `nox -s hosts` downloads."""
RELEASE = "9.1"
"""It calls an operator that CANN 8.1 lacks."""
OPTIONS = ("-DGGML_CANN=on", "-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_CURL=OFF")
TARGETS = ("ggml-cann", "ggml-cpu", "test-backend-ops", "llama-simple")


class Llama:
    """A build of llama.cpp.

    Attributes:
        home: The simulated installation that it was built for.
        folder: The folder of its programs.
    """

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder

    def run(self, program: str, *arguments: object, **variables: str) -> str:
        """Run one of its programs at the defaults of the installation.

        Args:
            program: The name of the program.
            arguments: Its arguments.
            variables: Environment variables.

        Returns:
            All that it prints, and its exit status in the last line.
        """
        command = (str(self.folder / program), *arguments)
        done = in_home(self.home, *command, seconds=3600, **variables)
        return f"{done.stdout}{done.stderr}\nexit status {done.returncode}\n"


def in_home(
    home: Path, *command: object, seconds: int, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell that has sourced an installation."""
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("PYACLNN_", "ASCEND"))}
    return subprocess.run(
        ["bash", "-euc", 'source "$0"; exec "$@"', str(home / "set_env.sh"), *map(str, command)],
        env=outside | variables,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this room."""
    item.add_marker(pytest.mark.hosts)


@pytest.fixture(scope="session")
def llama() -> Llama:
    """llama.cpp, configured as its documents say: with nothing but the installation.

    What an earlier run has built there is not built again.
    """
    folder = Path(os.environ.get(SOURCES, "/nonexistent"))
    archives = sorted(folder.glob("llama_cpp_python-*.tar.gz"))
    if not archives:
        pytest.fail(f"{SOURCES} names no folder with the sources; `nox -s hosts` sets it")
    for program in ("cmake", "ninja"):
        if shutil.which(program) is None:
            pytest.fail(f"{program} is not installed")
    unpacked = folder / archives[-1].name.removesuffix(".tar.gz")
    if not unpacked.exists():
        with tarfile.open(archives[-1]) as archive:
            archive.extractall(folder, filter="data")
    home = folder / "cann"
    shutil.rmtree(home, ignore_errors=True)
    made = ("pyaclnn", "mock", "home", "--cann", RELEASE, home)
    subprocess.run(list(map(str, made)), check=True)
    build = folder / "build"
    for command in (
        ("cmake", "-S", unpacked / "vendor/llama.cpp", "-B", build, "-G", "Ninja", *OPTIONS),
        ("ninja", "-C", build, "-j", os.cpu_count(), *TARGETS),
    ):
        done = in_home(home, *command, seconds=5400)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return Llama(home, build / "bin")
