# SPDX-License-Identifier: Apache-2.0
"""Folders of the user: where caches are, and that nobody else can write there."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.folders import cache_folder, make_private

if TYPE_CHECKING:
    from pathlib import Path


def test_a_cache_is_in_the_folder_that_the_variable_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new"))
    assert cache_folder("kernels") == tmp_path / "new/pyaclnn/kernels"
    assert (tmp_path / "new/pyaclnn/kernels").is_dir()


@pytest.mark.parametrize("named", ["", "relative/folder"])
def test_without_an_absolute_name_a_cache_is_in_the_home_folder(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder("kernels") == tmp_path / ".cache/pyaclnn/kernels"


def test_a_cache_that_cannot_be_made_is_in_a_private_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"pyaclnn-{os.getuid()}"
    assert cache_folder("kernels") == own / "kernels"
    assert own.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("mode", "trusted"), [(0o700, True), (0o755, True), (0o720, False), (0o702, False)]
)
def test_what_others_could_write_to_is_closed_and_not_trusted(
    mode: int, trusted: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    folder.chmod(mode)
    assert make_private(folder) is trusted
    assert folder.stat().st_mode & 0o777 == (mode if trusted else 0o700)


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_link_or_a_file_is_no_private_folder(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "own"
    if kind == "file":
        place.touch()
    else:
        place.symlink_to(tmp_path)
    with pytest.raises(PermissionError, match="is no folder"):
        make_private(place)
