# SPDX-License-Identifier: Apache-2.0
"""The documentation is true: a page's Python runs as one script, its commands are understood."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from pyaclnn.cli import parser
from pyaclnn.variables import TOLD, VARIABLES

from .commands import ROOT, pyaclnn, run

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
RUN_ELSEWHERE = {"README.md", "docs/start/tour.md"}
COMMAND = re.compile(r"\bpyaclnn [^)|;&]+")
VARIABLE = re.compile(r"(PYACLNN|ASCEND|ACLNN_CACHE|DISABLE|XDG|LD)(_[A-Z0-9]+)+|CC|CXX")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """The command lines of ``pyaclnn`` in the shell blocks of a page, without the first word."""
    lines = "".join(blocks(text, "sh")).splitlines()
    found = [COMMAND.search(line.partition(" #")[0]) for line in lines]
    return [shlex.split(match[0])[1:] for match in found if match]


def understood(words: list[str]) -> bool:
    try:
        parser().parse_args(words)
    except SystemExit as done:
        return not done.code  # as after --help
    return True


SCRIPTS = {name: "\n".join(blocks(text, "python")) for name, text in PAGES.items()}
COMMANDS = {name: commands(text) for name, text in PAGES.items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "page", [name for name, script in SCRIPTS.items() if script and name not in RUN_ELSEWHERE]
)
def test_the_python_of_a_page_runs_as_one_script(page: str, tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(SCRIPTS[page], encoding="utf-8")
    done = run(sys.executable, "-W", "error", tmp_path / "page.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


@pytest.mark.parametrize("page", [name for name, found in COMMANDS.items() if found])
def test_the_commands_of_a_page_are_understood(page: str) -> None:
    assert [words for words in COMMANDS[page] if not understood(words)] == []


def test_a_command_that_does_not_exist_is_noticed() -> None:
    [words] = commands("```sh\nA=1 pyaclnn mock rule  # misspelt\n```\n")
    assert words == ["mock", "rule"]
    assert not understood(words)


def test_every_variable_that_is_read_is_in_the_table() -> None:
    package = (ROOT / "pyaclnn").rglob("*.py")
    read = {
        node.value
        for path in package
        if path.name != "variables.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if VARIABLE.fullmatch(node.value)
    }
    for path in [*(ROOT / "mock_libs").rglob("*.c"), *(ROOT / "pyaclnn").rglob("*.c")]:
        read |= set(re.findall(r'getenv\("(\w+)"\)', path.read_text(encoding="utf-8")))
    assert read | TOLD == set(VARIABLES)  # the doctor reads those that it tells


def test_the_table_of_variables_can_be_printed() -> None:
    said = pyaclnn("env", "--variables").stdout.splitlines()
    assert [line.split()[0] for line in said] == list(VARIABLES)


def test_the_site_is_complete_by_itself() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    # The theme's search in files asks for one from elsewhere unless there is one of this name.
    (worker,) = [name for name in config["extra"]["polyfills"] if "iframe-worker" in name]
    assert (ROOT / "docs" / worker).is_file()
    assert config["theme"]["font"] is False
