# SPDX-License-Identifier: Apache-2.0
"""Programs that need a process of their own: lines of Python, or C built as a user builds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.mock import cflags, ldflags

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["BLEND", "COMPILER", "HERE", "Programs"]

HERE = Path(__file__).parent
BLEND = HERE / "blend.py"
"""The kernel of the operator of ``c/package.cpp``."""
COMPILER = os.environ.get("CC", "cc").split()
_TIMEOUT = 300
_OWN = ("ASCEND_RT_VISIBLE_DEVICES", "PYACLNN_MOCK_DEVICES", "PYACLNN_MOCK_SOC")


class Programs:
    """Builds and runs programs.

    Args:
        folder: Where what is built goes; also the working directory.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def python(self, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run lines of Python that begin with everything of `npu` in view."""
        start = f"import sys; sys.path.append({str(HERE)!r}); from npu import *; load()\n"
        return self.run([sys.executable, "-c", start + code], environment)

    def build(self, source: str, *flags: str, link: Sequence[str] | None = None) -> Path:
        """Build a program of the folder ``c``, unless that was done before."""
        program = self.folder / "".join([Path(source).stem, *flags])
        if program.exists():
            return program
        if source.endswith(".cpp"):  # a linker for C has no library for them
            flags = ("-fno-exceptions", *flags)
        arguments = [*cflags(), *flags, str(HERE / "c" / source), "-o", str(program)]
        subprocess.run(
            [*COMPILER, *arguments, "-pthread", *(ldflags() if link is None else link)],
            check=True,
            timeout=_TIMEOUT,
        )
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
        return subprocess.run(
            command,
            env={**kept, **(environment or {})},
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
