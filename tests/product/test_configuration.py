# SPDX-License-Identifier: Apache-2.0
"""Description of an installation, for bug reports."""

from __future__ import annotations

import json
import platform
import re
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from pyaclnn import mock
from pyaclnn.facts.chips import all_chips
from pyaclnn.runtime import configuration

from .commands import pyaclnn, run, silent_environment

if TYPE_CHECKING:
    from pathlib import Path


def test_the_version_is_a_line_with_what_belongs_to_it() -> None:
    done = pyaclnn("--version", environment=silent_environment(PYACLNN_BACKEND="mock"))
    assert re.fullmatch(
        rf"pyaclnn {re.escape(version('pyaclnn'))}( \(commit [0-9a-f]{{12}}\))?, "
        rf"Python {re.escape(platform.python_version())}, NumPy {re.escape(version('numpy'))}, "
        r"backend mock \(PYACLNN_BACKEND\)\n",
        done.stdout,
    ), done.stdout
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, ""),
        ({"url": "https://example.org/it.whl", "archive_info": {}}, ""),
        ({"vcs_info": {"vcs": "git", "commit_id": "0123456789abc"}}, "0123456789ab"),
        ({"url": "file:///nonexistent", "dir_info": {"editable": True}}, ""),
    ],
)  # fmt: skip
def test_the_commit_is_what_the_installation_knows(
    monkeypatch: pytest.MonkeyPatch, origin: object, expected: str
) -> None:
    class Installed:
        @staticmethod
        def read_text(name: str) -> str | None:
            assert name == "direct_url.json"
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr(configuration, "distribution", lambda _: Installed)
    assert configuration.commit() == expected
    monkeypatch.setenv("PATH", "")  # where there is no git
    assert configuration.commit() == expected


@pytest.mark.parametrize("folder", ["usr/local/Ascend", "opt/npu"])
def test_driver_and_firmware_are_named_where_their_installer_put_them(
    folder: str, tmp_path: Path
) -> None:
    for name, text in (("driver", "Version=25.2.0\n"), ("firmware", "Version = 7.7.0\n")):
        (tmp_path / folder / name).mkdir(parents=True)
        (tmp_path / folder / name / "version.info").write_text(text)
    if folder.startswith("opt"):
        (tmp_path / "etc").mkdir()
        noted = f"UserName=HwHiAiUser\nDriver_Install_Path_Param=/{folder}\n"
        (tmp_path / "etc/ascend_install.info").write_text(noted)
        (tmp_path / ".dockerenv").touch()
    assert dict(configuration._machine(tmp_path)) == {
        "container": "yes" if folder.startswith("opt") else "no",
        "driver": "25.2.0",
        "firmware": "7.7.0",
    }


def test_env_prints_one_block() -> None:
    chip = all_chips()[-1].soc_name
    environment = silent_environment(
        PYACLNN_BACKEND="mock", PYACLNN_MOCK_SOC=chip, ASCEND_OPP_PATH="/o", OTHER="s3cret"
    )
    done = pyaclnn("env", environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    said = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert ["variable", "ASCEND_OPP_PATH=/o"] in said
    assert ["chip", f"{chip} (simulated), 2 devices"] in said
    assert ["backend", "mock, the simulated NPU, as chosen"] in said
    assert ["numpy", version("numpy")] in said
    for name in ("libascendcl.so", "libnnopbase.so"):
        path = str(mock.libdir() / name)
        assert sum(path in line for line in done.stdout.splitlines()) == 2, "found and loaded"
    assert "s3cret" not in done.stdout


def test_env_prints_the_same_as_json() -> None:
    environment = silent_environment(PYACLNN_BACKEND="mock", ASCEND_OPP_PATH="/o")
    said = pyaclnn("env", environment=environment).stdout.splitlines()
    found = json.loads(pyaclnn("env", "--json", environment=environment).stdout)
    assert found["variable"]["ASCEND_OPP_PATH"] == "/o"
    assert str(mock.libdir() / "libascendcl.so") in found["loaded"]
    assert {line.split()[0] for line in said} == set(found)
    assert "PYACLNN_BACKEND" in json.loads(pyaclnn("env", "--variables", "--json").stdout)


def test_env_without_cann_says_what_was_tried() -> None:
    done = pyaclnn("env")
    assert (done.returncode, done.stderr) == (0, "")
    assert "No backend was chosen, and no installed CANN was found." in done.stdout
    assert "none of CANN's libraries is in this process" in done.stdout


def test_a_program_that_shows_it_loads_nothing_for_that() -> None:
    code = "import pyaclnn; pyaclnn.show_config(); print(pyaclnn.select_backend('mock').name)"
    done = run(sys.executable, "-c", code)
    assert "none is loaded; not chosen: an installed CANN" in done.stdout
    assert (done.stdout.splitlines()[-1], done.stderr) == ("mock", "")


def test_the_home_folder_is_not_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("somebody")
    environment = silent_environment(HOME=str(home), PYACLNN_BACKEND=f"{home}/libraries")
    done = pyaclnn("env", environment=environment)
    assert "variable      PYACLNN_BACKEND=~/libraries" in done.stdout
    assert "somebody" not in done.stdout
