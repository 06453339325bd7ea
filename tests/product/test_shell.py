# SPDX-License-Identifier: Apache-2.0
"""The shell blocks of a page run from top to bottom, on a machine without CANN."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.base.command_tree import commands_of
from pyaclnn.cli import main, parser

from .commands import ROOT, compile_program, pyaclnn, run, silent_environment
from .pages import PAGES, SCRIPTS, blocks
from .test_spelling import every

if TYPE_CHECKING:
    from pathlib import Path

NOT_HERE = {
    r"completion fish": "takes fish",
    r"pip install": "takes the network",
    r"python -m tests\.benchmarks": "takes minutes",
    r"--level long|--soak": "takes minutes to hours",
    r"pyaclnn fleet": "takes Ray",
    r"torchrun|ALLOW=alive-at-finalize": "takes PyTorch",
    r"pyaclnn trace test": "takes a call of that number",
    r"/usr/local/Ascend|/opt/cann|/mnt/": "takes an installation",
}
"""Commands that are parsed but not run, with the reason."""
ENDS = {
    r"aclrtMalloc:2=207001": 1,
    r"pyaclnn doctor(?! --backend mock)|pyaclnn smoke$": 4,
    r"pyaclnn abi": 2,
}
"""Expected exit statuses other than 0: with a fault, and without CANN."""
SIMULATED = re.compile(r"(\w+=\S+ )*(pyaclnn (capture|trace|replay)|python train\.py)")
"""Commands that run on the simulated NPU, selected by its variable."""


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


def backend(command: str) -> str:
    return "PYACLNN_BACKEND=mock " if SIMULATED.match(command) else ""


def script(commands: list[str]) -> str:
    """A script that ends at the first command which does not end as it should."""
    text = "".join(
        f"{{ {backend(command)}{command}}} > said 2>&1\n"
        f"[ $? -eq {status(command)} ] || {{ cat said; exit 1; }}\n"
        for command in commands
    )
    return f"set -u -o pipefail\n{text}"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("program") / "host"
    compile_program(ROOT / "examples" / "03_host_application.cpp", program)
    return program


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, host: Path) -> Path:
    made = tmp_path_factory.mktemp("trace") / "host.trace"
    command = ("capture", "-o", made, "--contents", "full", "--", host)
    done = pyaclnn(*command, environment=silent_environment(PYACLNN_BACKEND="mock"))
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def folder(tmp_path: Path, host: Path, trace: Path) -> Path:
    """A folder with the files that the pages speak of, and the two commands in PATH."""
    programs = {"python": "", "pyaclnn": "-m pyaclnn"}
    (tmp_path / "bin").mkdir()
    for name, options in programs.items():
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {sys.executable} {options} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    shutil.copy(ROOT / "examples" / "03_host_application.cpp", tmp_path / "host.cpp")
    for name in ("host", "linked-elsewhere"):
        shutil.copy(host, tmp_path / name)
    for name in ("a.trace", "b.trace"):
        shutil.copy(trace, tmp_path / name)
    train = re.sub(r"^.*select_backend.*$", "", SCRIPTS["docs/index.md"], flags=re.MULTILINE)
    (tmp_path / "train.py").write_text(train, encoding="utf-8")
    [kernels, *_] = blocks(PAGES["docs/how-to/teach.md"], "py")
    (tmp_path / "kernels.py").write_text(kernels, encoding="utf-8")
    return tmp_path


def shell(text: str, folder: Path) -> tuple[int, str]:
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = run(
        *("bash", "-c", text),
        cwd=folder,
        environment=silent_environment(
            PATH=path, HOME=str(folder), XDG_CACHE_HOME=str(folder / ".cache")
        ),
    )
    return done.returncode, done.stdout + done.stderr


def examples() -> dict[str, str]:
    """The examples of each command's help, as a page."""
    helps = {command.prog: command.format_help() for command in every(parser())}
    return {
        name: "```sh\n"
        + "\n".join(re.findall(r"^  (\S.*?)(?:  .*)?$", found, re.MULTILINE))
        + "\n```\n"
        for name, text in helps.items()
        for _, _, found in [text.partition("\nexamples:\n")]
    }


KERNEL = """
extern "C" __global__ __aicore__ void load(GM_ADDR x, GM_ADDR y)
{
    Bench b(x, y);
    auto a = b.Read();
    b.in.FreeTensor(a);
}
"""


@pytest.fixture
def workshop(folder: Path) -> Path:
    """The folder with the files that the examples of the help name."""
    kernels = (ROOT / "tests" / "ascendc" / "kernels" / "faults.cpp").read_text(encoding="utf-8")
    kernels = kernels.partition("/* ---- queue")[0] + KERNEL
    (folder / "kernels.cpp").write_text(kernels, encoding="utf-8")
    np.save(folder / "x.npy", np.ones(64, np.float32))
    (folder / "train.log").write_text("EI0006: Getting socket times out.\n", encoding="utf-8")
    launches = ROOT / "tests" / "ascendc" / "launches.asc"
    for name in ("add.asc", "add.cpp"):
        (folder / name).write_text(launches.read_text(encoding="utf-8"), encoding="utf-8")
    project = (
        "cmake_minimum_required(VERSION 3.16)\nproject(user C)\nfind_package(pyaclnn REQUIRED)\n"
    )
    (folder / "CMakeLists.txt").write_text(project, encoding="utf-8")
    (folder / "reports").mkdir()
    assert shell("pyaclnn doctor --level quick --json reports/doctor.json", folder)[0] == 4
    return folder


def test_each_command_has_an_example_that_names_it() -> None:
    pages = examples()
    assert [name for name in pages if not re.search(rf"{name}\b", pages[name])] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "group", sorted({" ".join(name.split()[:2]) for name in examples()} - {"pyaclnn"})
)
def test_the_examples_of_the_help_run(group: str, workshop: Path) -> None:
    pages = [page for name, page in examples().items() if f"{name} ".startswith(f"{group} ")]
    here = [line for page in pages for line in commands(page) if kept(line, NOT_HERE)]
    assert here or group == "pyaclnn fleet"
    assert shell(script(here), workshop) == (0, "")


@pytest.mark.exhaustive
@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if blocks(text, "sh")])
def test_the_commands_of_a_page_run(page: str, folder: Path) -> None:
    here = [command for command in commands(PAGES[page]) if kept(command, NOT_HERE)]
    assert shell(script(here), folder) == (0, "")


@pytest.mark.exhaustive
def test_each_reason_not_to_run_a_command_is_needed() -> None:
    texts = [*PAGES.values(), *examples().values()]
    every = [command for text in texts for command in commands(text)]
    for pattern in {**NOT_HERE, **ENDS}:
        assert [command for command in every if re.search(pattern, command)], pattern


@pytest.mark.exhaustive
@pytest.mark.parametrize("wrong", ["pyaclnn mock rule", "./no-such-program", "./host | false"])
def test_a_command_that_ends_otherwise_is_noticed(wrong: str, folder: Path) -> None:
    [command] = commands(f"```sh\n{wrong}  # a mistake\n```\n")
    ended, said = shell(script(["true\n", command]), folder)
    assert ended == 1, said


def test_bash_completes_commands_options_and_files(tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").touch()
    typed = ["pyaclnn sm", "pyaclnn mock r", "pyaclnn smoke --op", "pyaclnn ascendc run ke"]
    script = f'eval "$({sys.executable} -m pyaclnn completion bash)"\n' + "".join(
        f"COMP_WORDS=({line}) COMP_CWORD={line.count(' ')} COMPREPLY=()\n"
        "_shtab_pyaclnn; echo ${COMPREPLY[@]}\n"
        for line in typed
    )
    found = run("bash", "-c", script, cwd=tmp_path)
    assert found.stdout.splitlines() == ["smoke", "rules run", "--operator", "kernel.cpp"], found


FISH = [
    ("pyaclnn sm", {"smoke"}),
    ("pyaclnn mock r", {"rules", "run"}),
    ("pyaclnn smoke --op", {"--operator"}),
    ("pyaclnn completion f", {"fish"}),
    ("pyaclnn doctor --level ", {"quick", "medium", "long"}),
    ("pyaclnn ascendc run ke", {"kernel.cpp"}),
]


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
@pytest.mark.parametrize(("line", "expected"), FISH)
def test_fish_completes_commands_options_and_files(
    line: str, expected: set[str], tmp_path: Path
) -> None:
    (tmp_path / "kernel.cpp").touch()
    script = f"{sys.executable} -m pyaclnn completion fish | source; complete -C '{line}'"
    found = run("fish", "-c", script, cwd=tmp_path)
    assert {row.split("\t")[0] for row in found.stdout.splitlines()} == expected, found


def test_every_command_has_its_lines_in_the_code_for_fish_and_in_the_manual_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands = [command for command in commands_of(parser()) if command.words]
    assert main(["completion", "fish"]) == 0
    fish = capsys.readouterr().out
    assert main(["manual"]) == 0
    page = capsys.readouterr().out
    for command in commands:
        above, name = " ".join(("__pyaclnn_at", *command.words[:-1])), command.words[-1]
        assert f"-n '{above}' -a {name} " in fish
        assert f"\n.SS pyaclnn {' '.join(command.words)}\n" in page
    flags = {flag for command in commands for one in command.arguments for flag in one.flags}
    assert [flag for flag in flags if flag.replace("-", "\\-") not in page] == []


@pytest.mark.skipif(shutil.which("man") is None, reason="there is no man here")
def test_man_reads_the_page_without_a_warning(tmp_path: Path) -> None:
    page = tmp_path / "pyaclnn.1"
    page.write_text(run(sys.executable, "-m", "pyaclnn", "manual").stdout, encoding="utf-8")
    read = run("man", "--warnings", "-l", str(page))
    assert read.returncode == 0
    assert read.stderr == ""
    assert "--level" in read.stdout
