# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING is true: its own example goes from three files to a passing smoke test."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .commands import ROOT, run, silent_environment

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w/.]+)`\n\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


def test_the_example_is_three_files_that_are_not_there_yet() -> None:
    assert len(FILES) == 3
    assert not any((ROOT / path).exists() for path in FILES)


def test_every_file_and_folder_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"\b(?:pyaclnn|tests|operators)/[\w/.]*\w", PAGE)) - set(FILES)
    assert len(named) > 10
    places = (ROOT, ROOT / "pyaclnn")
    assert not [name for name in named if not any((place / name).exists() for place in places)]


@pytest.mark.exhaustive
def test_what_the_page_asks_of_the_tests_has_tests() -> None:
    asked = re.findall(r"^    pytest (-n0 \S+ -k .*?)  +#", PAGE, re.MULTILINE)
    assert asked
    for line in asked:
        words = [ROOT / word if (ROOT / word).exists() else word for word in shlex.split(line)]
        done = run(sys.executable, "-m", "pytest", "--collect-only", "-q", *words)
        assert done.returncode == 0, done.stdout


@pytest.mark.exhaustive
@pytest.mark.long
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to tell which files are ours")
def test_the_example_passes_its_table_and_smoke(tmp_path: Path) -> None:
    tree, build, prefix = (tmp_path / name for name in ("tree", "build", "prefix"))
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    for name in listed:
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    for name, text in FILES.items():
        (tree / name).write_text(text, encoding="utf-8")
    layout = f"-Dpython.platlibdir={prefix}"
    commands: list[list[str | Path]] = [
        ["setup", "--buildtype=debug", build, tree, f"--prefix={prefix}", layout],
        ["install", "-C", build, "--quiet"],
    ]
    for command in commands:
        done = run(sys.executable, "-m", "mesonbuild.mesonmain", *command, cwd=tree)
        assert done.returncode == 0, done.stdout + done.stderr
    # Ahead of an editable install, whose loader comes before every path.
    skipped = os.pathsep.join(str(path) for path in (ROOT / "build").glob("*"))
    environment = silent_environment(PYTHONPATH=str(prefix), MESONPY_EDITABLE_SKIP=skipped)

    def python(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run(sys.executable, *arguments, cwd=tmp_path, environment=environment)

    stub = python("-m", "pyaclnn.ops.stub")
    assert stub.returncode == 0, stub.stderr
    for room in ("operators", "reference", "api"):
        checked = python("-m", "pytest", "-q", "-n0", tree / "tests" / room, "-k", "Silu")
        assert checked.returncode == 0, checked.stdout
    of_all = (tree / "tests" / name for name in ("architecture", "product/test_docstrings.py"))
    checked = python("-m", "pytest", "-q", "-n0", *of_all)
    assert checked.returncode == 0, checked.stdout
    smoke = python("-m", "pyaclnn", "smoke", "--backend", "mock", "--operator", "silu", "--json")
    assert smoke.returncode == 0, smoke.stdout + smoke.stderr
    found = json.loads(smoke.stdout)["outcomes"]
    assert {(outcome["operator"], outcome["passed"]) for outcome in found} == {("silu", True)}
