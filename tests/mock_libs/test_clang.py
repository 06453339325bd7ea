# SPDX-License-Identifier: Apache-2.0
"""Clang, by which the wheels are built, accepts every C source with the flags of the build."""

from __future__ import annotations

import importlib.util
import json
import platform
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .sanitized import ROOT, build

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kept import Keep

pytestmark = pytest.mark.exhaustive

SILENT_IN_GCC = """
enum stage { FIRST, SECOND };
int number_of(enum stage stage);
int number_of(enum stage stage) { return stage; }
"""


@pytest.fixture(scope="module")
def clang() -> list[str]:
    """The command of clang, or of the compiler of the wheels, which contains it."""
    if shutil.which("clang"):
        return ["clang"]
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("neither clang nor ziglang is installed")
    return [sys.executable, str(ROOT / ".ci/zig.py"), f"{platform.machine()}-linux-gnu"]


def test_every_source_compiles(clang: list[str], keep: Keep) -> None:
    build(keep, "clang", clang)


def test_what_it_alone_refuses_would_be_seen(clang: list[str], keep: Keep, tmp_path: Path) -> None:
    built, source = build(keep, "clang", clang), tmp_path / "stage.c"
    commands = json.loads((built / "compile_commands.json").read_text(encoding="utf-8"))
    own = [one for one in commands if "mock_libs" in one["file"] and one["file"].endswith(".c")]
    for entry in (own[0], own[-1]):
        words = shlex.split(entry["command"])
        words[words.index(entry["file"])] = str(source)
        words[words.index("-o") + 1] = str(tmp_path / "stage.o")
        for text, refused in ((SILENT_IN_GCC, True), ("extern int number;\n", False)):
            source.write_text(text, encoding="utf-8")
            done = subprocess.run(
                words, cwd=entry["directory"], capture_output=True, text=True, check=False
            )
            assert ("-Werror,-Wsign-conversion" in done.stderr) == refused, done.stderr
            assert (done.returncode != 0) == refused
