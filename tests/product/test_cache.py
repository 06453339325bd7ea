# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn cache``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .commands import pyaclnn, silent_environment

if TYPE_CHECKING:
    from pathlib import Path


def test_cache_prints_and_removes_what_is_kept(tmp_path: Path) -> None:
    environment = silent_environment(XDG_CACHE_HOME=str(tmp_path), TMPDIR=str(tmp_path))
    own, foreign = tmp_path / "pyaclnn", tmp_path / "another"
    foreign.mkdir()
    assert pyaclnn("cache", environment=environment).stdout == "nothing is cached\n"
    assert pyaclnn("mock", "cflags", environment=environment).returncode == 0
    line = rf" +\d+\.\d MB  {own / 'include'}"
    assert re.fullmatch(f"{line}\n", pyaclnn("cache", environment=environment).stdout)
    assert (own / "include").exists()
    cleared = pyaclnn("cache", "--clear", environment=environment).stdout
    assert re.fullmatch(f"{line}  removed\n", cleared)
    assert [*own.iterdir()] == []
    assert foreign.exists()
    assert pyaclnn("cache", environment=environment).stdout == "nothing is cached\n"
