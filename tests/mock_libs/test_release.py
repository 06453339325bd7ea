# SPDX-License-Identifier: Apache-2.0
"""What a program for the simulated NPU may call it can link: the functions of one release."""

from __future__ import annotations

import ctypes
import subprocess

import pytest

from pyaclnn.cann.signatures import signatures
from pyaclnn.mock import cflags, libdir

from .programs import COMPILER

BY_RELEASE = {
    release: sorted(s.name for s in signatures().values() if s.since == release)
    for release in ("8.1", "9.1")
}


def compiles(name: str) -> bool:
    headers = '#include "acl/acl.h"\n#include "aclnn/acl_meta.h"\n'
    source = headers + f"void *use(void) {{ return (void *)&{name}; }}\n"
    command = [*COMPILER, *cflags(), "-fsyntax-only", "-w", "-xc", "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    return done.returncode == 0


def test_every_function_of_the_release_is_exported() -> None:
    libraries = [ctypes.CDLL(str(path)) for path in libdir().glob("lib*.so")]
    missing = [n for n in BY_RELEASE["8.1"] if not any(hasattr(lib, n) for lib in libraries)]
    assert len(BY_RELEASE["8.1"]) > 100
    assert missing == []


@pytest.mark.parametrize(("release", "declared"), [("8.1", True), ("9.1", False)])
def test_the_arguments_for_the_compiler_select_the_release(release: str, declared: bool) -> None:
    functions = [name for name in BY_RELEASE[release] if not name.startswith("aclnn")]
    assert compiles(functions[0]) == declared
    assert compiles(functions[-1]) == declared
