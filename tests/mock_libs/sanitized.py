# SPDX-License-Identifier: Apache-2.0
"""The mock libraries once more, built by Meson: with sanitizers, or by another compiler."""

from __future__ import annotations

import fcntl
import functools
import importlib.metadata
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import libdir

from .programs import COMPILER, HERE

if TYPE_CHECKING:
    from tests.kept import Keep

__all__ = [
    "KINDS",
    "OPTIONS",
    "build",
    "build_binding",
    "build_libraries",
    "build_recorder",
    "flags_of",
    "link_to",
    "preload",
    "start",
]

ROOT = HERE.parents[1]
KINDS = {"address": "address,undefined", "thread": "thread"}
"""Value of Meson's option b_sanitize."""

OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66",
}
"""The environment in which whatever a sanitizer finds ends the program with a failure."""


@functools.cache
def start() -> list[str]:
    """Command prefix that runs a program."""
    # The sanitizers of GCC before 14 end a program with "unexpected memory mapping" where the
    # kernel spreads addresses over more than 28 bits, as that of Ubuntu does.
    command = ["setarch", "-R"]
    if shutil.which(command[0]) is None:
        return []
    # A container may forbid it.
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if tried.returncode == 0 else []


def flags_of(kind: str) -> list[str]:
    """The compiler's arguments for a program that goes with the libraries of a kind."""
    return [f"-fsanitize={KINDS[kind]}", "-fno-omit-frame-pointer", "-g"]


def preload(kind: str) -> str:
    """Return LD_PRELOAD for a Python that loads sanitized libraries."""
    name = {"address": "libasan.so", "thread": "libtsan.so"}[kind]
    found = subprocess.run(
        [*COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip(f"{COMPILER[0]} has no {name} that can be loaded into Python")
    return found


def build_libraries(keep: Keep, kind: str) -> list[str]:
    """Build the libraries, or what has changed of them since they were built.

    Args:
        keep: Gives Meson's folder.
        kind: A key of `KINDS`.

    Returns:
        The linker's arguments of a program for them.
    """
    place = Path("mock_libs", libdir().name)
    return link_to(_build(keep, kind, f"mock_libs/libraries-{place.name}") / place)


def link_to(libraries: Path) -> list[str]:
    """Return the linker's arguments of a program for libraries, which lie in a folder."""
    names = sorted(path.stem.removeprefix("lib") for path in libdir().glob("lib*.so"))
    return [f"-L{libraries}", f"-Wl,-rpath,{libraries}", *(f"-l{name}" for name in names)]


def build_recorder(keep: Keep, kind: str) -> tuple[Path, Path]:
    """Build the libraries and the recorder of captures; return the folder and the file."""
    place = Path("mock_libs", libdir().name)
    recorder = "pyaclnn/capture/recorder"
    folder = _build(keep, kind, f"mock_libs/libraries-{place.name}", f"{recorder}/pyaclnn_capture")
    return folder / place, folder / recorder / "libpyaclnn_capture.so"


def build_binding(keep: Keep, kind: str) -> Path:
    """Build the compiled binding as well, and return Meson's folder, where it lies."""
    return _build(keep, kind)


def _build(keep: Keep, kind: str, *targets: str) -> Path:
    options = [f"-Db_sanitize={KINDS[kind]}", "-Db_lundef=false"]
    return build(keep, f"sanitized-{kind}", COMPILER, *options, targets=targets)


def build(
    keep: Keep, name: str, compiler: list[str], *options: str, targets: tuple[str, ...] = ()
) -> Path:
    """Build, or what has changed since, and return Meson's folder.

    Args:
        keep: Gives the folder that it stands in.
        name: The name of that folder.
        compiler: The C compiler.
        *options: Options of Meson.
        targets: What is built; all if none.
    """
    options = ("--buildtype=debug", *options)
    flags = [os.environ.get(name, "") for name in ("CFLAGS", "CPPFLAGS", "LDFLAGS")]
    # Inputs that ninja does not track: the tools themselves.
    told = subprocess.run([*compiler, "--version"], capture_output=True, check=True).stdout
    meson = importlib.metadata.version("meson")
    tools: list[str | bytes] = [
        told,
        shlex.join(compiler),
        *flags,
        sys.executable,
        sys.version,
        meson,
    ]
    folder = keep(name, str(ROOT), *options, *tools)
    configured = folder / "configured"
    with (folder / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not configured.exists():
            shutil.rmtree(folder / "build", ignore_errors=True)
            _meson(compiler, "setup", str(folder / "build"), str(ROOT), *options)
            configured.touch()
        _meson(compiler, "compile", "-C", str(folder / "build"), *targets)
    return folder / "build"


def _meson(compiler: list[str], *arguments: str) -> None:
    # Its ninja stands beside this Python, which need not be on the path.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    result = subprocess.run(
        [sys.executable, "-m", "mesonbuild.mesonmain", *arguments],
        env={**os.environ, "PATH": path, "CC": shlex.join(compiler)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
