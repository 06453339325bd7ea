# SPDX-License-Identifier: Apache-2.0
"""`pyaclnn mock functions`: the libraries tell what of them is there to be linked only."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from pyaclnn.base.elf import read_library
from pyaclnn.cann.simulator import libdir
from pyaclnn.facts.releases import RELEASES, VARIABLE
from pyaclnn.mock.control.functions import IMPLEMENTED, REFUSES
from tests.fork_server import run_program

STATES = {"implemented": IMPLEMENTED, "refuses": REFUSES}

# Calls each function with nothing; what refuses says so by its name.
CALL = """
import ctypes, sys
from pyaclnn.cann.simulator import libdir
libraries = {}
for line in sys.stdin:
    name, library = line.split()
    found = libraries.setdefault(library, ctypes.CDLL(str(libdir() / library)))
    getattr(found, name)(*[ctypes.c_void_p(0)] * 64)
    text = libraries.setdefault("libascendcl.so", ctypes.CDLL(str(libdir() / "libascendcl.so")))
    text.aclGetRecentErrMsg.restype = ctypes.c_char_p
    print(name, name.encode() in (text.aclGetRecentErrMsg() or b""))
"""


def listed(release: str, *more: str) -> list[tuple[str, str, str]]:
    command = [sys.executable, "-m", "pyaclnn", "mock", "functions", "--cann", release, *more]
    done = run_program(command, os.environ)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return [(words[0], words[1], STATES[words[-1]]) for words in lines]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("release", RELEASES)
def test_every_function_of_every_library_is_listed_once(
    release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, release)
    found = Counter((name, library) for name, library, _ in listed(release))
    assert set(found.values()) == {1}
    assert set(found) == {
        (name, path.name)
        for path in libdir().glob("*.so")
        for name in read_library(path).exports
        if not name.startswith("pyaclnn_")
    }


def test_what_is_told_to_refuse_does_so_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    release = next(iter(RELEASES))
    monkeypatch.setenv(VARIABLE, release)
    found = listed(release, "--state", "refuses")
    assert {state for _, _, state in found} == {REFUSES}
    assert ("aclmdlExecute", "libascendcl.so", REFUSES) in found
    asked = "".join(f"{name} {library}\n" for name, library, _ in found)
    done = subprocess.run(
        [sys.executable, "-c", CALL], input=asked, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [word for name, _, _ in found for word in (name, "True")]


def test_each_state_has_its_functions() -> None:
    states = {name: state for name, _, state in listed(next(iter(RELEASES)))}
    assert states["aclrtMalloc"] == states["aclAppLog"] == IMPLEMENTED
    assert states["aclnnLayerNorm"] == states["aclnnLayerNormGetWorkspaceSize"] == IMPLEMENTED
    assert states["aclnnBackgroundReplace"] == REFUSES
