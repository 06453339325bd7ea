# SPDX-License-Identifier: Apache-2.0
"""Writing reports: all or nothing, and errors that name the file."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from pyaclnn.health.command.output import WriteError, check_writable, write


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write(str(tmp_path / "a"), "grün\n")
    write(str(tmp_path / "b"), b"\x00\xff")
    assert (tmp_path / "a").read_bytes() == "grün\n".encode()
    assert (tmp_path / "b").read_bytes() == b"\x00\xff"


def test_a_report_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "ordinary").touch()
    write(str(tmp_path / "report"), "x")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write(str(tmp_path / "link"), "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize(("where", "step"), [(os, "fsync"), (Path, "replace")])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any, step: str
) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(where, step, full)
    with pytest.raises(WriteError, match=r"report\.json' could not be written: No space left"):
        write(str(target), "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_a_full_disk_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(WriteError) as caught:
        write("/dev/full", "x")
    assert str(caught.value) == (
        "'/dev/full' could not be written: No space left on device; "
        "free some space or name another place."
    )


def test_devices_and_pipes_are_written_to_and_not_replaced() -> None:
    write("/dev/null", "x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing/report.json", "there is no folder"), ("", "is a folder"), (".", "is a folder")],
)
def test_targets_that_cannot_work_are_refused_beforehand(
    tmp_path: Path, name: str, words: str
) -> None:
    with pytest.raises(WriteError, match=words):
        check_writable(str(tmp_path / name))


def test_a_folder_without_permission_is_refused_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # For root every folder is writable, so that what the system answers is replaced.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(WriteError, match="no permission in"):
        check_writable(str(tmp_path / "report.json"))


@pytest.mark.parametrize("name", ["-", "/dev/null"])
def test_targets_that_can_work_are_not(name: str) -> None:
    check_writable(name)
