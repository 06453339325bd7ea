# SPDX-License-Identifier: Apache-2.0
"""Commands print texts and paths that the encoding of standard output lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.product.commands import pyaclnn, silent_environment

if TYPE_CHECKING:
    from pathlib import Path

LOG = "EI0006: Größe 错误 Getting socket times out."
PLAIN = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
ENCODINGS = {
    "an encoding that is named": {"PYTHONIOENCODING": "ascii"},
    "the locale C": PLAIN,
    "UTF-8": {"PYTHONUTF8": "1"},
}


@pytest.mark.parametrize("settings", ENCODINGS.values(), ids=ENCODINGS)
def test_a_log_in_any_script_is_explained(tmp_path: Path, settings: dict[str, str]) -> None:
    path = tmp_path / "train.log"
    path.write_text(LOG, encoding="utf-8")
    done = pyaclnn("explain", path, environment=silent_environment(**settings))
    assert (done.returncode, done.stderr) == (0, "")
    assert "connect timeout" in done.stdout
    words = LOG if settings == ENCODINGS["UTF-8"] else ascii(LOG)[1:-1]
    assert words.removeprefix("EI0006: ") in done.stdout


HOMES = [("gr\udcc3\udcb6\udcc3\udc9fe", PLAIN), ("latin-\udcf6", ENCODINGS["UTF-8"])]


@pytest.mark.parametrize(("name", "settings"), HOMES, ids=["UTF-8", "Latin"])
def test_a_home_in_a_folder_of_any_name_is_made(
    tmp_path: Path, name: str, settings: dict[str, str]
) -> None:
    home = os.fsencode(tmp_path / name)
    command = [sys.executable, "-m", "pyaclnn", "mock", "home", os.fsdecode(home)]
    done = subprocess.run(
        command, env=silent_environment(**settings), capture_output=True, check=False, timeout=900
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert home in done.stdout  # a shell takes it from there
    with open(home + b"/set_env.sh", "rb") as script:  # noqa: PTH123  # its name is of bytes
        assert home in script.read()


def test_a_path_that_the_encoding_lacks_is_printed(tmp_path: Path) -> None:
    libraries = tmp_path / "größe"
    environment = silent_environment(PYTHONIOENCODING="ascii", ASCEND_HOME_PATH=str(libraries))
    done = pyaclnn("env", environment=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(libraries).encode("ascii", "backslashreplace").decode() in done.stdout
