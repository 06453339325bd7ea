# SPDX-License-Identifier: Apache-2.0
"""Project files agree: version, checks, installed packages."""

from __future__ import annotations

import re
import runpy
import shlex
from importlib.metadata import version
from typing import TYPE_CHECKING
from unittest.mock import Mock

import nox.project
import pytest
import yaml

from .commands import ROOT, script

if TYPE_CHECKING:
    from pathlib import Path

PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def lint_commands() -> list[list[str]]:
    """Return the commands of a session, without installations."""
    session = Mock()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        script(ROOT / "noxfile.py").lint(session)
    return [list(call.args) for call in session.run.call_args_list]


def test_the_version_is_that_of_the_build_wherever_it_is_told() -> None:
    [built] = re.findall(r"^  version: '(.*)',$", text("meson.build"), re.MULTILINE)
    released, day = re.findall(r"^## \[(.*?)\] - (.*)$", text("CHANGELOG.md"), re.MULTILINE)[0]
    cited = yaml.safe_load(text("CITATION.cff"))
    assert version("pyaclnn") == built
    assert (cited["version"], str(cited["date-released"])) == (released, day) == (built, day)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)


def test_a_commit_is_checked_as_the_lint_session_checks() -> None:
    [repository] = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    hooks = [shlex.split(hook["entry"]) for hook in repository["hooks"]]
    assert hooks == lint_commands()
    assert not any(hook["pass_filenames"] for hook in repository["hooks"])


def test_what_a_developer_installs_has_its_versions_locked() -> None:
    locked = {line.partition("==")[0] for line in text("constraints.txt").splitlines()}
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["test"], *extras["dev"], *extras["docs"]]
    names = {re.split(r"[\[<>=;]", one)[0].lower().replace("_", "-") for one in wanted}
    assert names - locked == {"pyaclnn"}
    assert "://" not in text("constraints.txt")


# ---- the build ----------------------------------------------------------------------------------

BACKEND = runpy.run_path(str(ROOT / ".ci" / "build_backend.py"))


def test_a_build_without_headers_or_compiler_names_the_packages_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert BACKEND["missing"]() == []
    assert list(BACKEND["get_requires_for_build_wheel"]()) == list(BACKEND["REQUIRES"])
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler -O2")
    with pytest.raises(SystemExit) as refused:
        BACKEND["get_requires_for_build_editable"]()
    message = str(refused.value)
    assert f"the headers of Python ({tmp_path}/Python.h)" in message
    assert "a C compiler (no-such-compiler)" in message
    assert "python3-dev" in message
    assert "python3-devel" in message


def test_readme_names_the_packages_of_a_build() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(name in readme for name in ("python3-dev ", "python3-devel ", " gcc"))
