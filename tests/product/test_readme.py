# SPDX-License-Identifier: Apache-2.0
"""README and tour are true: they run, their commands exist, their links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import pyaclnn
from pyaclnn import mock
from pyaclnn.cann.simulator import simulator, writtendir

from .commands import ROOT, compile_program, run, silent_environment

README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "start" / "tour.md").read_text(encoding="utf-8")
EMBEDDING = (ROOT / "docs" / "how-to" / "embed.md").read_text(encoding="utf-8")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("page", "least"), [(README, 5), (TOUR, 10)], ids=["README", "tour"])
def test_the_tour_runs_as_one_script(page: str, least: int, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= least
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


@pytest.mark.exhaustive
def test_the_shell_lines_for_a_program_work(tmp_path: Path) -> None:
    source = ROOT / "examples" / "03_host_application.cpp"
    compile_program(source, tmp_path / "host")
    assert run(tmp_path / "host").returncode == 0


@pytest.mark.exhaustive
def test_the_flags_work_under_a_path_with_a_space(tmp_path: Path) -> None:
    packages = tmp_path / "with a space"
    package = packages / "pyaclnn"
    (package / "mock").mkdir(parents=True)
    # Where the libraries and headers lie is told by where the package lies, so it has to move.
    for source in Path(pyaclnn.__file__).parent.iterdir():
        if source.name not in {"mock", "include_stubs"} and not source.name.startswith("_binding"):
            (package / source.name).symlink_to(source)
    for source in (Path(pyaclnn.__file__).parent / "mock").iterdir():
        if source.name != "lib":
            (package / "mock" / source.name).symlink_to(source)
    shutil.copytree(mock.libdir(), package / "mock" / "lib" / mock.libdir().name)
    shutil.copy(simulator(), package / "mock" / "lib")
    (package / "include_stubs").symlink_to(writtendir())
    (tmp_path / "pyaclnn").write_text(f'#!/bin/sh\nexec {sys.executable} -S -m pyaclnn "$@"\n')
    (tmp_path / "pyaclnn").chmod(0o755)
    shutil.copy(ROOT / "examples" / "03_host_application.cpp", tmp_path / "host.cpp")
    [line] = re.findall(r"`(eval .*)`", EMBEDDING)
    site = [path for path in sys.path if path.endswith("-packages")]
    environment = silent_environment(
        PATH=f"{tmp_path}:{os.environ['PATH']}",
        PYTHONPATH=":".join([str(packages), *site]),
        PYACLNN_MOCK_PYTHON=sys.executable,
    )
    done = run("/bin/sh", "-ec", line, cwd=tmp_path, environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "with a space" in run("ldd", tmp_path / "host").stdout
    assert run(tmp_path / "host", environment=environment).returncode == 0


def test_links_lead_to_files() -> None:
    for document in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / target).exists(), f"{document}: {target}"


def test_it_reads_well_where_the_files_beside_it_are_not() -> None:
    assert re.findall(r"\]\((?!https?:)", README) == []
    assert len(README.splitlines()) < 160
    named = re.findall(r"`((?:docs|examples)/[\w/.-]*|[A-Z]+\.md)`", README)
    assert len(named) >= 6
    assert [name for name in named if not (ROOT / name).exists()] == []
