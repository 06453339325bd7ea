# SPDX-License-Identifier: Apache-2.0
"""The README is true: its tour runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from .commands import ROOT, compile_program, run

if TYPE_CHECKING:
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_tour_runs_as_one_script(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    (tmp_path / "tour.py").write_text("\n".join(blocks), encoding="utf-8")
    done = run(sys.executable, "-W", "error", "-X", "dev", tmp_path / "tour.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_the_two_first_commands_are_the_promised_ones() -> None:
    commands = re.findall(r"^    (\S.*)$", README, re.MULTILINE)
    assert commands[:2] == [
        "pip install . && pyaclnn smoke --backend mock",
        "pip install '.[test]' && pytest",
    ]


def test_the_shell_lines_for_a_program_work(tmp_path: Path) -> None:
    source = ROOT / "examples" / "03_host_application.cpp"
    compile_program(source, tmp_path / "host")
    assert run(tmp_path / "host").returncode == 0


def test_links_lead_to_files() -> None:
    for document in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / target).exists(), f"{document}: {target}"
