# SPDX-License-Identifier: Apache-2.0
"""Two users of one machine on the simulated NPU at the same time."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn import _binding
from pyaclnn.facts.releases import RELEASES, VARIABLE

from .programs import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("own_processes")

OTHER = 65534
BUILD = tuple(Path(_binding.__file__).parents)
BEGIN = "from npu import *; load()\n"
COMPUTE = """
import ctypes
from pyaclnn.mock import libdir
call('aclrtSetDevice', 0)
hccl = ctypes.CDLL(str(libdir() / "libhccl.so"))
root = ctypes.create_string_buffer(4108)
def compute():
    problem = RmsNormGrad(rows=2); problem.launch(); call('aclrtSynchronizeStream', NULL)
    return problem.dx == bytes(64)
"""
OWNER = f"""{BEGIN}{COMPUTE}
import json, os
secret, key = device_memory(4096), ffi.new('char[65]')
write(secret, b'secret')
call('aclrtIpcMemGetExportKey', secret, 4096, key, 65, 1)
assert hccl.HcclGetRootInfo(root) == 0
print(json.dumps([os.getpid(), children(), ffi.string(key).decode(), root.raw.hex()]),
      flush=True)
input()
print(json.dumps([compute(), read(secret, 6).decode()]))
"""
INTRUDER = f"""{BEGIN}{COMPUTE}
import json, os, signal
pid, devices, key, place = json.loads(input())
root.raw = bytes.fromhex(place)
got = ffi.new('void **')
imported = lib.aclrtIpcMemImportByKey(got, key.encode(), 0), message()
comm = ctypes.c_void_p()
joined = hccl.HcclCommInitRootInfo(1, root, 0, ctypes.byref(comm)), message()
denied = 0
for process in (pid, *devices):
    for attempt in (lambda: os.kill(process, signal.SIGKILL),
                    lambda: os.listdir(f'/proc/{{process}}/fd'),
                    lambda: open(f'/proc/{{process}}/mem', 'rb')):
        try:
            attempt()
        except PermissionError:
            denied += 1
print(json.dumps([os.getuid(), imported, joined, denied, compute()]))
"""
CACHE = """
import json
from pyaclnn.base.folders import cache_folder
print(json.dumps(str(cache_folder("ascendc"))))
"""


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """A folder with a copy of the package that all users may read."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # all may enter it
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copy(HERE / "npu.py", folder)
        plans = (path / "meson-info/intro-install_plan.json" for path in BUILD)
        plan = next((path for path in plans if path.exists()), None)
        if plan is None:
            shutil.copytree(Path(_binding.__file__).parent, folder / "pyaclnn")
        else:
            copy_built(json.loads(plan.read_text(encoding="utf-8")), folder)
        yield folder


def copy_built(plan: dict[str, dict[str, dict[str, str]]], folder: Path) -> None:
    """Copy what an editable installation would install."""
    for files in plan.values():
        for source, told in files.items():
            root, _, place = told["destination"].partition("/")
            if root.startswith("{py_") and Path(source).is_file():
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, folder / place)
            elif root.startswith("{py_"):
                shutil.copytree(source, folder / place, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def other_user(installed: Path) -> list[str]:
    """Command prefix that starts this Python as another user."""
    if os.getuid() != 0:
        pytest.skip("only root can act for somebody else")
    become = f'exec setpriv --reuid {OTHER} --regid {OTHER} --clear-groups "$@"'
    base = Path(sys.base_prefix)
    closed = [path for path in reversed(base.parents) if not path.stat().st_mode & stat.S_IXOTH]
    if closed:  # in a namespace of mounts, a folder that all may enter takes its place
        python, hidden = shlex.quote(str(base)), shlex.quote(str(closed[0]))
        become = (
            f"mount --bind {python} /mnt && mount -t tmpfs -o mode=755 tmpfs {hidden} && "
            f"mkdir -p {python} && mount --bind /mnt {python} && {become}"
        )
    command = ["unshare", "--mount", "/bin/sh", "-c", become, "sh"]
    if any(shutil.which(name) is None for name in ("unshare", "setpriv")):
        pytest.skip("this machine has no unshare and setpriv")
    # A device process is started by the other user, who must reach this Python without root.
    tried = begin(
        command, "import sys, os, pyaclnn._binding, numpy; os.stat(sys.executable)", installed
    )
    wrong = tried.communicate(timeout=900)[1]
    if tried.returncode:
        pytest.skip(f"another user cannot run this Python: {wrong.strip()[-200:]}")
    return command


def begin(command: list[str], code: str, installed: Path, **more: str) -> subprocess.Popen[str]:
    environment = {
        "PYTHONPATH": str(installed),
        # An editable installation would be built again, which takes its owner.
        "MESONPY_EDITABLE_SKIP": os.pathsep.join(map(str, BUILD)),
        "PYACLNN_BACKEND": "mock",
        "PYACLNN_MOCK_PYTHON": sys.executable,
        VARIABLE: list(RELEASES)[-1],
        "HCCL_CONNECT_TIMEOUT": "1",
    }
    return subprocess.Popen(
        [*command, sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **environment, **more},
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], given: str = "") -> Any:
    said, wrong = process.communicate(given, timeout=900)
    assert process.returncode == 0, wrong
    return json.loads(said)


@pytest.fixture
def temporary() -> Iterator[str]:
    """A folder for temporary files that all users share, as /tmp is."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # all may enter it
        Path(folder).chmod(0o1777)
        yield folder


@pytest.mark.exhaustive
def test_neither_reads_nor_breaks_what_the_other_has(
    other_user: list[str], installed: Path, temporary: str
) -> None:
    owner = begin([], OWNER, installed, TMPDIR=temporary)
    assert owner.stdout is not None
    known = owner.stdout.readline()
    assert known, owner.communicate()[1]
    user, imported, joined, denied, computed = ended(
        begin(other_user, INTRUDER, installed, TMPDIR=temporary, HOME="/nonexistent"), known
    )
    assert (user, computed) == (OTHER, True)
    assert imported[0] == 107000
    assert "another user's" in imported[1]
    assert joined[0] != 0
    assert denied == 3 * (1 + len(json.loads(known)[1]))
    assert ended(owner, "\n") == [True, "secret"]


def test_each_has_a_cache_of_its_own(
    other_user: list[str], installed: Path, temporary: str
) -> None:
    """Although HOME names the same folder, as after ``sudo``."""
    (Path(temporary) / "home").mkdir()
    shared = {"HOME": f"{temporary}/home", "XDG_CACHE_HOME": "", "TMPDIR": temporary}
    mine = Path(ended(begin([], CACHE, installed, **shared)))
    theirs = Path(ended(begin(other_user, CACHE, installed, **shared)))
    assert mine.is_relative_to(f"{temporary}/home")
    assert theirs.parent == Path(temporary, f"pyaclnn-{OTHER}")
    found = theirs.parent.stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (OTHER, 0o700)
