# SPDX-License-Identifier: Apache-2.0
"""The shell blocks of a page run from top to bottom, on a machine without CANN."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from .commands import ROOT, compile_program, run, silent_environment
from .pages import PAGES, SCRIPTS, blocks

if TYPE_CHECKING:
    from pathlib import Path

NOT_HERE = {
    r"pip install": "takes the network",
    r"python -m tests\.benchmarks": "takes minutes",
    r"--level long|--soak": "takes minutes to hours",
    r"pyaclnn fleet": "takes Ray",
    r"torchrun|ALLOW=alive-at-finalize": "takes PyTorch",
    r"/usr/local/Ascend|/opt/cann|/mnt/": "takes an installation",
}
"""Commands that are parsed but not run, with the reason."""
ENDS = {r"aclrtMalloc:2=207001": 1, r"pyaclnn doctor": 4, r"pyaclnn abi": 2}
"""Expected exit statuses other than 0: with a fault, and without CANN."""


def commands(text: str) -> list[str]:
    """The commands of a page, each with all of its lines."""
    found, begun = [], ""
    for line in "".join(blocks(text, "sh")).splitlines():
        begun += f"{line}\n"
        try:
            words = shlex.split(begun, comments=True)
        except ValueError:  # a quotation goes on
            continue
        if words:
            found.append(begun)
        begun = ""
    assert not begun
    return found


def kept(command: str, table: dict[str, str]) -> bool:
    return not any(re.search(pattern, command) for pattern in table)


def status(command: str) -> int:
    return next((ends for pattern, ends in ENDS.items() if re.search(pattern, command)), 0)


def script(commands: list[str]) -> str:
    """A script that ends at the first command which does not end as it should."""
    text = "".join(
        f"{{ {command}}} > said 2>&1\n[ $? -eq {status(command)} ] || {{ cat said; exit 1; }}\n"
        for command in commands
    )
    return f"set -u -o pipefail\n{text}"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("program") / "host"
    compile_program(ROOT / "examples" / "03_host_application.cpp", program)
    return program


@pytest.fixture
def folder(tmp_path: Path, host: Path) -> Path:
    """A folder with the files that the pages speak of, and the two commands in PATH."""
    programs = {"python": "", "pyaclnn": "-m pyaclnn"}
    (tmp_path / "bin").mkdir()
    for name, options in programs.items():
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {sys.executable} {options} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    shutil.copy(ROOT / "examples" / "03_host_application.cpp", tmp_path / "host.cpp")
    for name in ("host", "linked-elsewhere"):
        shutil.copy(host, tmp_path / name)
    (tmp_path / "train.py").write_text(SCRIPTS["docs/index.md"], encoding="utf-8")
    [kernels, *_] = blocks(PAGES["docs/how-to/teach.md"], "py")
    (tmp_path / "kernels.py").write_text(kernels, encoding="utf-8")
    return tmp_path


def shell(text: str, folder: Path) -> tuple[int, str]:
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = run(
        *("bash", "-c", text),
        cwd=folder,
        environment=silent_environment(PATH=path, HOME=str(folder)),
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if commands(text)])
def test_the_commands_of_a_page_run(page: str, folder: Path) -> None:
    here = [command for command in commands(PAGES[page]) if kept(command, NOT_HERE)]
    assert shell(script(here), folder) == (0, "")


@pytest.mark.exhaustive
def test_each_reason_not_to_run_a_command_is_needed() -> None:
    every = [command for text in PAGES.values() for command in commands(text)]
    for pattern in {**NOT_HERE, **ENDS}:
        assert [command for command in every if re.search(pattern, command)], pattern


@pytest.mark.exhaustive
@pytest.mark.parametrize("wrong", ["pyaclnn mock rule", "./no-such-program", "./host | false"])
def test_a_command_that_ends_otherwise_is_noticed(wrong: str, folder: Path) -> None:
    [command] = commands(f"```sh\n{wrong}  # a mistake\n```\n")
    ended, said = shell(script(["true\n", command]), folder)
    assert ended == 1, said
