# SPDX-License-Identifier: Apache-2.0
"""Start of the simulated NPU while the system refuses what it needs: the cause and its remedy."""

from __future__ import annotations

import fcntl
import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.mock_libs.programs import COMPILER, HERE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_processes")

START = """
import ctypes, sys
import pyaclnn
pyaclnn.select_backend("mock")
if sys.argv[1:]:
    library, call, error = sys.argv[1:]
    if ctypes.CDLL(library).refuse(call.encode(), int(error)):
        sys.exit("no seccomp")
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
    "pipe2": (293, 59),
    "fcntl": (f"72:1:65535:{fcntl.F_DUPFD_CLOEXEC}", f"25:1:65535:{fcntl.F_DUPFD_CLOEXEC}"),
    "mmap": ("9:3:16384:16384", "222:3:16384:16384"),
}
"""System calls of the host alone: their numbers on x86-64 and on aarch64, with a condition.

Python itself needs mmap and fcntl: refused are address space without swap, MAP_NORESERVE, and
duplicates above a number.
"""
ERRORS = {"EPERM": (1, "seccomp"), "ENOSYS": (38, "seccomp"), "EMFILE": (24, "ulimit -n")}


@pytest.fixture(scope="module")
def refuse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("refuse") / "refuse.so"
    command = [*COMPILER, "-shared", "-fPIC", str(HERE / "c/refuse.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    if "no seccomp" in started(arguments=(library, "9999", 1)):
        pytest.skip("this machine allows no seccomp filters")
    return library


def started(*command: object, arguments: Sequence[object] = ()) -> str:
    """Return what a program says that opens a device; its hint is not about hardware."""
    line = [*command, sys.executable, "-W", "ignore", "-c", START, *arguments]
    done = subprocess.run(
        [*map(str, line)], capture_output=True, text=True, timeout=900, check=False
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert "npu-smi" not in said
    return said


@pytest.mark.sampled(2)
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("call", CALLS)
def test_a_refused_call_is_named_with_its_remedy(call: str, error: str, refuse: Path) -> None:
    number = CALLS[call][platform.machine() == "aarch64"]
    code, remedy = ERRORS[error]
    said = started(arguments=(refuse, number, code))
    assert f"{call}: {os.strerror(code)}" in said
    assert remedy in said


DUP2 = "33" if platform.machine() == "x86_64" else "24"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("error", ["EPERM", "ENOSYS"])
def test_a_refused_dup2_is_no_missing_python(error: str, refuse: Path) -> None:
    """The new process calls it before it is Python; the start fails with its error."""
    code, remedy = ERRORS[error]
    said = started(arguments=(refuse, DUP2, code))
    assert f"posix_spawn: {os.strerror(code)}" in said
    assert remedy in said
    assert "PYACLNN_MOCK_PYTHON" not in said


def test_a_device_whose_end_cannot_be_awaited_ends(refuse: Path) -> None:
    """Without wait4: the device process is gone, but for its entry in the table."""
    wait4 = "61" if platform.machine() == "x86_64" else "260"
    code = """
import ctypes, pathlib, sys
import pyaclnn
pyaclnn.select_backend("mock")
device = pyaclnn.Device(0)
assert ctypes.CDLL(sys.argv[1]).refuse(sys.argv[2].encode(), 1) == 0
device.close()
for child in map(int, pathlib.Path("/proc/thread-self/children").read_text().split()):
    print(pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2][0])
"""
    command = [sys.executable, "-c", code, refuse, wait4]
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=900, check=True
    )
    assert (done.stdout, done.stderr) == ("Z\n", "")


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
    assert started(arguments=(refuse, OTHERS[call], 1))


@pytest.mark.sampled(1)
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
