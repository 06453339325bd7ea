# SPDX-License-Identifier: Apache-2.0
"""Start of the simulated NPU while the system refuses what it needs: the cause and its remedy."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.mock_libs.programs import COMPILER, HERE

if TYPE_CHECKING:
    from pathlib import Path

START = """
import pyaclnn
pyaclnn.select_backend("mock")
try:
    pyaclnn.Device(0).close()
    print("started")
except pyaclnn.AclError as error:
    print(error)
"""
CALLS = {
    "memfd_create": (319, 279),
    "socketpair": (53, 199),
    "ftruncate": (77, 46),
}
"""System calls of the host alone: their numbers on x86-64 and on aarch64."""
ERRORS = {"EPERM": (1, "seccomp"), "ENOSYS": (38, "seccomp"), "EMFILE": (24, "ulimit -n")}


@pytest.fixture(scope="module")
def refuse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("refuse") / "refuse"
    subprocess.run([*COMPILER, str(HERE / "c/refuse.c"), "-o", str(program)], check=True)
    if subprocess.run([program, "9999", "1", "/bin/true"], check=False).returncode == 77:
        pytest.skip("this machine allows no seccomp filters")
    return program


def started(*command: object) -> str:
    """Return what a program says that opens a device; its hint is not about hardware."""
    done = subprocess.run(
        [*map(str, command), sys.executable, "-W", "ignore", "-c", START],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert "npu-smi" not in said
    return said


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("call", CALLS)
def test_a_refused_call_is_named_with_its_remedy(call: str, error: str, refuse: Path) -> None:
    number = CALLS[call][platform.machine() == "aarch64"]
    code, remedy = ERRORS[error]
    said = started(refuse, number, code)
    assert f"{call}: {os.strerror(code)}" in said
    assert remedy in said


OTHERS = {
    "poll": 7,
    "sendmsg": 46,
    "sendto": 44,
    "recvmsg": 47,
    "recvfrom": 45,
    "clone": 56,
    "vfork": 58,
    "clone3": 435,
    "kill": 62,
    "prctl": 157,
    "setpgid": 109,
    "getrandom": 318,
}
"""Other calls of a start, on x86-64; not those without which Python itself does not start."""


@pytest.mark.exhaustive
@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")
@pytest.mark.parametrize("call", OTHERS)
def test_any_refused_call_gets_an_answer(call: str, refuse: Path) -> None:
    assert started(refuse, OTHERS[call], 1)


@pytest.mark.parametrize("most", [6, 8, 10, 12])
def test_a_limit_of_open_files_is_named(most: int) -> None:
    said = started("/bin/sh", "-c", f'ulimit -n {most}; exec "$@"', "sh")
    assert "started" in said or "ulimit -n" in said
    if most <= 10:
        assert "ulimit -n" in said


def test_a_missing_dev_null_is_named(tmp_path: Path) -> None:
    """In a namespace in which a folder hides the device."""
    namespaces = ["unshare", "--map-root-user", "--mount"]
    hidden = f'mount --bind {tmp_path} /dev && exec "$@"'
    if subprocess.run([*namespaces, "mount", "--bind", tmp_path, "/dev"], check=False).returncode:
        pytest.skip("this machine allows no mount namespaces")
    said = started(*namespaces, "/bin/sh", "-c", hidden, "sh")
    assert "/dev/null cannot be opened: No such file" in said
    assert "mknod" in said
