# SPDX-License-Identifier: Apache-2.0
"""Programs that need a process of their own: lines of Python, or C built as a user builds it."""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.mock import cflags, includedir, ldflags
from tests.fork_server import run_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.kept import Keep

__all__ = ["BLEND", "COMPILER", "HERE", "Programs"]

HERE = Path(__file__).parent
BLEND = HERE / "blend.py"
"""The kernel of the operator of ``c/package.cpp``."""
COMPILER = os.environ.get("CC", "cc").split()
_HELD = HERE / "held.py"
_TIMEOUT = 300
_OWN = ("ASCEND_RT_VISIBLE_DEVICES", "PYACLNN_MOCK_DEVICES", "PYACLNN_MOCK_SOC")


class Programs:
    """Builds and runs programs.

    Args:
        folder: The working directory.
        keep: Gives folders for what is built.
    """

    def __init__(self, folder: Path, keep: Keep) -> None:
        self.folder = folder
        self.keep = keep

    def python(self, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run lines of Python that begin with everything of `npu` in view."""
        start = f"import sys; sys.path.append({str(HERE)!r}); from npu import *; load()\n"
        return self.run([sys.executable, "-c", start + code], environment)

    def holding(self, code: str) -> subprocess.CompletedProcess[str]:
        """Run such lines with the kernel of ``held``, which a pipe holds."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            pipe = f"{folder}/pipe"
            os.mkfifo(pipe)
            return self.python(code, PYACLNN_MOCK_OPERATORS=str(_HELD), HELD=pipe)

    def build(self, source: str, *flags: str, link: Sequence[str] | None = None) -> Path:
        """Build a program of the folder ``c``, unless that was done before."""
        if source.endswith(".cpp"):  # a linker for C has no library for them
            flags = ("-fno-exceptions", *flags)
        path = HERE / "c" / source
        before = [*COMPILER, *cflags(), *flags]
        after = ["-pthread", *(ldflags() if link is None else link)]
        beside = [file.read_bytes() for file in sorted(path.parent.glob("*.h"))]
        files = [path.read_bytes(), _digest(includedir()), *beside]
        folder = self.keep("program", _told(), shlex.join(before), shlex.join(after), *files)
        program = folder / path.stem
        if not program.exists():
            made = folder / f"{path.stem}-{os.getpid()}"  # another worker may build it, too
            command = [*before, str(path), "-o", str(made), *after]
            subprocess.run(command, check=True, timeout=_TIMEOUT)
            made.replace(program)
        return program

    def run(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        given: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run a program with an environment that says nothing of devices but what is given.

        Standard input is empty, or a text.
        """
        kept = {name: text for name, text in os.environ.items() if name not in _OWN}
        return run_program(command, {**kept, **(environment or {})}, self.folder, given)


@functools.cache
def _told() -> bytes:
    """Return an identification of the compiler."""
    return subprocess.run([*COMPILER, "--version"], capture_output=True, check=True).stdout


@functools.cache
def _digest(folder: Path) -> bytes:
    digest = sha256()
    for path in sorted(folder.rglob("*.h")):
        digest.update(sha256(path.read_bytes()).digest())
    return digest.digest()
