# SPDX-License-Identifier: Apache-2.0
"""Code is loaded only from safe paths, or with a warning."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from pyaclnn.base.path_security import (
    UntrustedPathWarning,
    absolute_folders,
    made_absolute,
    warn_of_writers,
    writable_by_others,
)
from pyaclnn.cann.simulator import simulator
from pyaclnn.mock import libdir


def test_a_folder_that_only_its_owner_writes_to_is_silent(tmp_path: Path) -> None:
    file = tmp_path / "lib.so"
    file.touch(mode=0o644)
    assert writable_by_others(file) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_writers(file)


@pytest.mark.parametrize("opened", ["a/b/lib.so", "a/b", "a"])
def test_the_place_that_others_can_write_to_is_named(opened: str, tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "lib.so"
    file.parent.mkdir(parents=True)
    file.touch(mode=0o644)
    (tmp_path / opened).chmod(0o777)
    with pytest.warns(UntrustedPathWarning, match=rf"chmod o-w '{tmp_path / opened}'"):
        warn_of_writers(file)


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    common = tmp_path / "common"
    common.mkdir()
    common.chmod(0o777)
    (common / "lib.so").touch(mode=0o644)
    link = tmp_path / "lib.so"
    link.symlink_to(common / "lib.so")
    assert writable_by_others(link) == common


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_sticky_folder_protects_nothing_that_is_somebody_elses(tmp_path: Path) -> None:
    sticky = tmp_path / "tmp"
    sticky.mkdir()
    sticky.chmod(0o1777)
    file = sticky / "lib.so"
    file.touch(mode=0o644)
    assert writable_by_others(file) is None
    os.chown(file, 12345, 12345)
    assert writable_by_others(file) == sticky


def test_what_is_not_there_is_nobodys(tmp_path: Path) -> None:
    assert writable_by_others(tmp_path / "none") is None


def test_relative_folders_are_left_out_and_told() -> None:
    with pytest.warns(UntrustedPathWarning, match="OPP names 'packages/mine'"):
        found = absolute_folders("OPP", {"OPP": "/one:packages/mine::/two"})
    assert found == [Path("/one"), Path("/two")]


def test_a_relative_home_is_told_and_taken_for_what_it_is_now() -> None:
    with pytest.warns(UntrustedPathWarning, match="'Ascend' depends on the current folder"):
        assert made_absolute(Path("Ascend")) == Path.cwd() / "Ascend"


PROGRAM = "import pyaclnn; print(pyaclnn.device_count())"


def test_libraries_that_others_can_exchange_are_told_once_each(tmp_path: Path) -> None:
    folder = tmp_path / "lib64"
    folder.mkdir()
    for library in (simulator(), *libdir().glob("*.so")):
        (folder / library.name).write_bytes(library.read_bytes())
    folder.chmod(0o777)
    variables = {"PYACLNN_BACKEND": str(folder), "PYACLNN_MOCK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    told = [line for line in done.stderr.splitlines() if "UntrustedPathWarning" in line]
    assert [line.count(f"{folder}/libascendcl.so is loaded") for line in told] == [
        1,
        *[0] * (len(told) - 1),
    ]
    assert len(told) == len(set(told))


LOOK = """
from pyaclnn.mock.operators.finding import find_operator
from pyaclnn.mock.protocol.values import Call
find_operator(Call("aclnnNone"), "8.1")
"""


def test_a_package_by_a_relative_path_is_not_run(tmp_path: Path) -> None:
    package = tmp_path / "package" / "mock"
    package.mkdir(parents=True)
    (package / "operators.py").write_text("open('ran', 'w').close()\nOPERATORS = []\n")
    for entry, ran in (("package", False), (str(tmp_path / "package"), True)):
        done = subprocess.run(
            [sys.executable, "-c", LOOK],
            cwd=tmp_path,
            env={**os.environ, "ASCEND_CUSTOM_OPP_PATH": entry},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert ("which depends on the current folder" in done.stderr) is not ran
        assert (tmp_path / "ran").exists() is ran
