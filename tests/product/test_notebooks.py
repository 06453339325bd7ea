# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from top to bottom, and are kept as they are before they were run."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from .commands import ROOT, run, silent_environment

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
SAID = {
    "first_steps": ("gradient -0.0718, finite difference -0.0718", "'gamma' is of shape (5,)"),
    "broken_kernel": ("the vector unit reads it with nothing to order the two", "[ 0.  2.  4."),
}


def code_of(path: Path) -> list[dict[str, Any]]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["language_info"]["name"]) == (4, "python")
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_what_each_has_to_say_is_known() -> None:
    assert {path.stem for path in NOTEBOOKS} == {*SAID}


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_cells_run_in_one_process(path: Path, tmp_path: Path) -> None:
    script = "\n".join("".join(cell["source"]) for cell in code_of(path))
    done = run(
        *(sys.executable, "-W", "error", "-c", script),
        cwd=tmp_path,
        environment=silent_environment(XDG_CACHE_HOME=str(tmp_path)),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [words for words in SAID[path.stem] if words not in done.stdout] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_what_a_run_leaves(path: Path) -> None:
    left = [cell for cell in code_of(path) if cell["outputs"] or cell["execution_count"]]
    assert left == []
