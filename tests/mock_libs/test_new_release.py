# SPDX-License-Identifier: Apache-2.0
"""A release is added as CONTRIBUTING describes it: a row, and the differences of its operators."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from tests.releases import NEWEST

ROOT = Path(__file__).parents[2]
NEEDED = ("pyaclnn", "mock_libs", "include_stubs", "meson.build")
NAME = "9.2"
PROGRAM = """
import numpy as np, pyaclnn, sys
from pyaclnn import raw
x = np.float32([[1, 2], [3, 4]])
print(pyaclnn.__file__)
print(pyaclnn.layer_norm(x, (2,)).out.shape)
for name in ("aclnnHalve", "aclnnAcosh"):
    try:
        getattr(raw, name)
        print(name)
    except pyaclnn.MissingSymbolError as error:
        print("no", name, error.since)
if sys.argv[1:]:
    print(pyaclnn.aclnn.halve(x, out=pyaclnn.Empty((2, 2), x.dtype)).tolist())
"""
KERNELS = """
import pyaclnn.mock
@pyaclnn.mock.operator("aclnnHalve")
def halve(self):
    return self / 2
"""


def add_release(tree: Path) -> list[Path]:
    """Add the release to a copy of the sources and return the files that it changed."""
    releases = tree / "pyaclnn/facts/releases.json"
    rows = json.loads(releases.read_text(encoding="utf-8"))
    rows.append({**rows[-1], "name": NAME, "version": f"{NAME}.0", "headers": 902})
    releases.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    catalogue = tree / "pyaclnn/facts/operators/catalogue.txt"
    lines = catalogue.read_text(encoding="utf-8").splitlines()
    [place] = [i for i, line in enumerate(lines) if line.startswith("aclnnAcosh ")]
    lines[place] = lines[place].replace(" 8.1,9 ", f" 8.1,9,-{NAME} ")
    lines.append(f"aclnnHalve aclnn_halve.h {NAME} math documented self:t out:t*>")
    catalogue.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [releases, catalogue]


def build(tree: Path) -> Path:
    """Build and install the sources, and return the folder of the package."""
    folder = tree / "build"
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    for command in (
        ["setup", "--buildtype=debug", str(folder), str(tree)],
        ["install", "-C", str(folder), "--destdir", str(tree / "installed")],
    ):
        subprocess.run(
            [sys.executable, "-m", "mesonbuild.mesonmain", *command],
            env={**os.environ, "PATH": tools},
            stdout=subprocess.DEVNULL,
            timeout=900,
            check=True,
        )
    [package] = (tree / "installed").rglob("pyaclnn/mock/lib")
    return package.parents[2]


@pytest.mark.exhaustive
def test_a_release_with_a_new_and_a_removed_operator_is_two_files(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree)
    assert len(add_release(tree)) == 2
    package = build(tree)
    # Without site, the package under test is found before an editable installation.
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    (tmp_path / "kernels.py").write_text(KERNELS, encoding="utf-8")

    def run(release: str, *arguments: str) -> list[str]:
        others = (str(Path(np.__file__).parents[1]), sysconfig.get_path("purelib"))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(package), *others)),
            "PYACLNN_BACKEND": "mock",
            "PYACLNN_MOCK_CANN": release,
            "PYACLNN_MOCK_OPERATORS": str(tmp_path / "kernels.py"),
            "PYACLNN_MOCK_PYTHON": str(python),
        }
        command = [str(python), "-c", PROGRAM, *arguments]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    where = str(package / "pyaclnn/__init__.py")
    halved = "[[0.5, 1.0], [1.5, 2.0]]"
    assert run(NAME, "halve") == [where, "(2, 2)", "aclnnHalve", "no aclnnAcosh 8.1", halved]
    assert run(NEWEST) == [where, "(2, 2)", f"no aclnnHalve {NAME}", "aclnnAcosh"]
