# SPDX-License-Identifier: Apache-2.0
"""The recipes are true: workflows run, CMake projects build, both programs of a port agree."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from .commands import ROOT, pyaclnn, run, silent_environment
from .pages import PAGES, SCRIPTS, blocks

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

CI = PAGES["docs/how-to/ci.md"]
CMAKE = PAGES["docs/how-to/cmake.md"]
CTYPES = PAGES["docs/how-to/from-ctypes.md"]
TORCH = PAGES["docs/how-to/from-torch-npu.md"]
GITHUB, _REAL, GITLAB = (yaml.safe_load(text) for text in blocks(CI, "yaml"))


def combinations(matrix: dict[str, list[str]]) -> list[dict[str, str]]:
    return [
        dict(zip(matrix, chosen, strict=True)) for chosen in itertools.product(*matrix.values())
    ]


def filled(text: str, values: dict[str, str]) -> str:
    """Replace the expressions of a workflow by their values."""
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda name: values[name[1]], text)


def github_runs() -> Iterator[tuple[dict[str, str], list[str]]]:
    """Yield the environment and the commands of each job."""
    job = GITHUB["jobs"]["simulated"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    for chosen in combinations(job["strategy"]["matrix"]):
        values = {f"matrix.{name}": value for name, value in chosen.items()}
        values["github.workspace"] = "."
        yield {name: filled(value, values) for name, value in job["env"].items()}, commands


def gitlab_runs() -> Iterator[tuple[dict[str, str], list[str]]]:
    """Yield the environment and the commands of each job."""
    job = GITLAB["simulated npu"]
    variables = {
        name: value.replace("$CI_PROJECT_DIR", ".") for name, value in job["variables"].items()
    }
    [matrix] = job["parallel"]["matrix"]
    for chosen in combinations(matrix):
        yield {**variables, **chosen}, job["script"]


RUNS = [*github_runs(), *gitlab_runs()]


def in_shell(text: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script where ``python``, ``pyaclnn`` and ``pytest`` are those of this process."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, module in {"python": "", "pyaclnn": "-m pyaclnn", "pytest": "-m pytest"}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    environment = silent_environment(PATH=path, HOME=str(folder), **variables)
    return run("bash", "-euc", text, cwd=folder, environment=environment)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", range(len(RUNS)))
def test_the_commands_of_a_job_pass(case: int, tmp_path: Path) -> None:
    variables, commands = RUNS[case]
    (tmp_path / "tests").mkdir()
    [test] = blocks(CI, "py")
    (tmp_path / "tests" / "test_norm.py").write_text(test, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    assert commands[0] == "pip install pyaclnn pytest"
    done = in_shell("\n".join(commands[1:]), tmp_path, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert (tmp_path / "report.xml").exists()


def test_both_services_run_the_same_commands_on_the_same_chips() -> None:
    names = ("PYACLNN_MOCK_SOC", "PYACLNN_MOCK_CANN")
    github, gitlab = (
        [([environment[name] for name in names], commands) for environment, commands in runs()]
        for runs in (github_runs, gitlab_runs)
    )
    assert len(github) == 4
    assert github == gitlab


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_the_project_builds_and_its_test_passes(tmp_path: Path) -> None:
    _snippet, lines, with_flags, with_package = blocks(CMAKE, "cmake")
    commands, of_package = [text for text in blocks(CMAKE, "text") if text.startswith("cmake ")]
    shutil.copytree(ROOT / "examples" / "cmake", tmp_path / "examples" / "project")
    shutil.copy(ROOT / "examples" / "03_host_application.cpp", tmp_path / "examples")
    with (tmp_path / "examples/project/CMakeLists.txt").open("a", encoding="utf-8") as project:
        project.write(lines)
    home = "".join(blocks(CMAKE, "sh"))
    done = in_shell(f"set +u\n{home}\ncd examples/project\n{commands}", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed" in done.stdout
    of_flags = "cmake -S . -B build && cmake --build build"
    for name, text, built in (
        ("flags", with_flags, of_flags),
        ("package", with_package, of_package),
    ):
        other = tmp_path / name
        other.mkdir()
        shutil.copy(ROOT / "examples" / "03_host_application.cpp", other / "host.cpp")
        (other / "CMakeLists.txt").write_text(text, encoding="utf-8")
        done = in_shell(f"{built}\nbuild/host", other)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_project_of_the_page_is_the_one_of_the_examples() -> None:
    [name] = re.findall(r'^--8<-- "(.*)"$', CMAKE, re.MULTILINE)
    assert (ROOT / name).is_file()


@pytest.mark.exhaustive
def test_both_programs_of_a_port_from_ctypes_print_the_same(tmp_path: Path) -> None:
    before, after = blocks(CTYPES, "py")
    (tmp_path / "before.py").write_text(before, encoding="utf-8")
    (tmp_path / "after.py").write_text(after, encoding="utf-8")
    ctypes = pyaclnn("mock", "run", "--", sys.executable, tmp_path / "before.py")
    assert (ctypes.returncode, ctypes.stderr) == (0, "")
    environment = silent_environment(PYACLNN_BACKEND="mock")
    ported = run(sys.executable, tmp_path / "after.py", environment=environment)
    assert ported.returncode == 0, ported.stderr
    assert ctypes.stdout == ported.stdout


def named(page: str) -> list[str]:
    """Return the calls in the right column of the tables of a page."""
    rows = re.findall(r"^\| .*? \| `(?:\w+ = )?(?:pyaclnn\.)?(\w+(?:\.\w+)*)\(", page, re.MULTILINE)
    return [row for row in rows if row != "array.numpy"]


def test_the_functions_of_the_tables_exist() -> None:
    import pyaclnn as package  # noqa: PLC0415  # it has the name of the command here

    objects: dict[str, Any] = {"stream": package.Stream, "device": package.Device}
    names = named(TORCH)
    assert {"layer_norm", "to_device", "stream.pool.trim", "device.memory_info"} <= {*names}
    for name in names:
        first, *rest = name.split(".")
        assert hasattr(objects.get(first, package), rest[0] if rest else first), name


def test_the_calls_of_the_functions_bind() -> None:
    """Each operator of the table takes as many arguments as the table shows."""
    import inspect  # noqa: PLC0415

    import pyaclnn as package  # noqa: PLC0415

    calls = re.findall(r"^\| `[^`]*\)` \| `(\w+)\((.*)\)(?:\.\w+)?` \|$", TORCH, re.MULTILINE)
    operators = [call for call in calls if call[0].endswith("norm")]
    assert len(operators) >= 9
    for name, arguments in operators:
        inspect.signature(getattr(package, name)).bind(*arguments.split(", "))


def test_the_page_on_torch_npu_shows_both_programs() -> None:
    [before] = blocks(TORCH, "py")
    assert before.count("\n") < SCRIPTS["docs/how-to/from-torch-npu.md"].count("\n")
    assert "torch_npu.npu_rms_norm" in before
