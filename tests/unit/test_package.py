# SPDX-License-Identifier: Apache-2.0
"""The package itself: what is there after ``import pyaclnn``, and what if it was never built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyaclnn

ROOT = Path(__file__).parents[2]
MODULES = ["accuracy", "mock", "ops", "raw", "reference"]


def python(
    *arguments: str, cwd: Path | None = None, path: str = ""
) -> subprocess.CompletedProcess[str]:
    variables = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**variables, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_there_without_an_import_of_their_own(name: str) -> None:
    code = f"import pyaclnn; print(pyaclnn.{name}.__name__)"
    assert python("-c", code).stdout == f"pyaclnn.{name}\n"
    assert name in dir(pyaclnn)


def test_modules_are_loaded_when_they_are_asked_for_and_not_before() -> None:
    code = "import pyaclnn, sys; print([m for m in sys.modules if m.startswith('pyaclnn.')])"
    assert python("-c", code).stdout == "['pyaclnn.lazy']\n"


def test_there_is_nothing_else() -> None:
    with pytest.raises(AttributeError, match="module 'pyaclnn' has no attribute 'nothing'"):
        _ = pyaclnn.nothing


@pytest.mark.parametrize(
    "code",
    [
        "import pyaclnn; pyaclnn.rms_norm",
        "from pyaclnn import select_backend",
        "from pyaclnn.cann.library import backend",
        "import pyaclnn; pyaclnn.raw",
    ],
)
def test_the_source_tree_says_that_it_is_one(code: str) -> None:
    # Without the site's folders, so that no installation is found in its place.
    done = python("-S", "-c", code, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {ROOT}/pyaclnn is the source tree of pyaclnn, which lacks what is compiled "
        "when pyaclnn is installed. Run Python in another folder if it is installed, or install it "
        "with 'pip install .'; README.md says how to work on the source tree itself."
    )


def test_what_needs_no_binding_works_in_the_source_tree() -> None:
    assert python("-S", "-c", "import pyaclnn; pyaclnn.mock.libdir", cwd=ROOT).returncode == 0
