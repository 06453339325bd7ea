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
from pyaclnn.facts.variables import REPORTED, VARIABLES

from .commands import ROOT, pyaclnn, run
from .pages import PAGES, SCRIPTS, blocks, languages, outputs

if TYPE_CHECKING:
    from pathlib import Path

PERFORMANCE = "docs/explanation/performance.md"
RUN_ELSEWHERE = {"README.md", "docs/start/tour.md"}
COMMAND = re.compile(r"\bpyaclnn [^)|;&<>]+")
VARIABLE = re.compile(r"(PYACLNN|ASCEND|ACLNN_CACHE|DISABLE|XDG|LD)(_[A-Z0-9]+)+|CC|CXX")


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


COMMANDS = {name: commands(text) for name, text in PAGES.items()}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "page", [name for name, script in SCRIPTS.items() if script and name not in RUN_ELSEWHERE]
)
def test_the_python_of_a_page_runs_as_one_script(page: str, tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(SCRIPTS[page], encoding="utf-8")
    done = run(sys.executable, "-W", "error", tmp_path / "page.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert [line for line in outputs(PAGES[page]) if line not in done.stdout] == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "session", [block for text in PAGES.values() for block in blocks(text, "console")]
)
def test_a_command_prints_what_it_is_shown_to_print(session: str) -> None:
    command, *lines = session.splitlines()
    assert command.startswith("$ pyaclnn ")
    said = pyaclnn(*shlex.split(command)[2:]).stdout.splitlines()
    assert lines
    assert said[: len(lines)] == lines


def test_what_is_run_neither_here_nor_as_shell_is_run_by_a_test_that_names_the_page() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    others = {
        name
        for name, text in PAGES.items()
        if languages(text) - {"console", "python", "sh", "text"}
    }
    assert others
    assert [name for name in sorted(others) if f'"{name}"' not in tests] == []


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
    assert read | REPORTED == set(VARIABLES)  # the doctor reads those that it reports


def test_the_table_of_variables_can_be_printed() -> None:
    said = pyaclnn("env", "--variables").stdout.splitlines()
    assert [line.split()[0] for line in said] == list(VARIABLES)


def test_the_site_is_complete_by_itself() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    # The theme's search in files asks for one from elsewhere unless there is one of this name.
    (worker,) = [name for name in config["extra"]["polyfills"] if "iframe-worker" in name]
    assert (ROOT / "docs" / worker).is_file()
    assert config["theme"]["font"] is False


def test_the_picture_of_launch_costs_is_of_the_table() -> None:
    rows = re.findall(r"^\| (?:eager|plan).*?\| ([\d.]+) \|", PAGES[PERFORMANCE], re.MULTILINE)
    picture = (ROOT / "docs" / "pictures" / "launch-cost.svg").read_text(encoding="utf-8")
    [whole, *widths] = [int(width) for width in re.findall(r' width="(\d+)"', picture)]
    assert re.findall(r">([\d.]+)</text>", picture) == ["1", *rows]
    assert widths == [round(float(row) * whole) for row in rows]


def test_the_glossary_is_short_sorted_and_of_words_that_the_tree_uses() -> None:
    page = PAGES["docs/explanation/glossary.md"]
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", page, re.MULTILINE)
    assert 30 < len(terms) <= 60
    assert terms == sorted(terms, key=str.casefold)
    folders = [ROOT / name for name in ("pyaclnn", "mock_libs", "docs")]
    files = [path for folder in folders for path in folder.rglob("*.[pchm]*")]
    others = [path for path in files if path.is_file() and path.name != "glossary.md"]
    text = "".join(p.read_text("utf-8") for p in others if p.suffix in {".py", ".c", ".h", ".md"})
    words = text.casefold()
    names = {name for term in terms for name in re.sub(r"\(.*?\)", "", term).split(", ")}
    assert [name for name in names if name.strip().casefold() not in words] == []
