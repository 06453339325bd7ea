# SPDX-License-Identifier: Apache-2.0
"""The tests that run a line of Python, which are tried before all tests of a room."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Covering"]

MOST = 60
"""Tests for a line at most: what so many of them run is found wrong by one of the first."""

SETTINGS = """
[run]
source = .
omit = tests/*
dynamic_context = test_function
[json]
show_contexts = true
"""


class Covering:
    """Tests by the lines that they run in their own process.

    A test that runs a line only in another process, or only as a module is imported, is not known.

    Args:
        root: The root of the tree.
        tests: The files and folders of tests, which must pass.
    """

    def __init__(self, root: Path, tests: Sequence[str]) -> None:
        self._root = root
        with TemporaryDirectory() as folder:
            settings, data, report = (Path(folder, name) for name in ("settings", "data", "report"))
            settings.write_text(SETTINGS, encoding="utf-8")
            options = (f"--rcfile={settings}", f"--data-file={data}")
            pytest = ("-m", "pytest", "-n0", "-x", "-q", *tests)
            for command in (
                ("run", *options, *pytest),
                ("json", *options, "-q", "-o", str(report)),
            ):
                ran = subprocess.run(
                    [sys.executable, "-m", "coverage", *command],
                    cwd=root,
                    capture_output=True,
                    stdin=subprocess.DEVNULL,
                    check=False,
                )
                if ran.returncode:
                    raise SystemExit(f"without a mutation, this fails:\n{ran.stdout.decode()}")
            self._files = json.loads(report.read_text(encoding="utf-8"))["files"]

    def of(self, file: str, line: int) -> list[str]:
        """Return the tests that run a line of a file, as pytest names them."""
        contexts = self._files.get(file, {}).get("contexts", {}).get(str(line), [])
        return [test for context in sorted(contexts)[:MOST] if (test := self._named(context))]

    def _named(self, context: str) -> str:
        """Return pytest's name of a function by its module's, or nothing if it has no file."""
        parts = context.split(".")
        for end in range(len(parts) - 1, 0, -1):
            file = Path(*parts[:end]).with_suffix(".py")
            # pytest fails for names that it has not, as for a mutation that a test notices.
            if file.name.startswith("test_") and (self._root / file).is_file():
                return "::".join((str(file), *parts[end:]))
        return ""
