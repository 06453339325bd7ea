# SPDX-License-Identifier: Apache-2.0
"""Files that a user or an installation names: kind, size and time are limited."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base import files
from pyaclnn.base.files import FileRefusedError, open_file, read_file, read_json, read_text, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(files, "_FOR_A_WRITER", 0.1)
    monkeypatch.setattr(files, "_FOR_A_STREAM", 30.0)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def writer() -> Iterator[int]:
    """The writing end of a pipe that ``/dev/fd`` names."""
    reading, writing = os.pipe()
    os.dup2(reading, 99)
    os.close(reading)
    yield writing
    os.close(99)


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a\r\nb\rc\n\xff")
    assert read_file(path) == read_file(str(path)) == b"a\r\nb\rc\n\xff"
    assert read_text(path, errors="replace") == "a\nb\nc\n\ufffd"
    with pytest.raises(UnicodeDecodeError):
        read_text(path)
    with open_file(path) as file:
        assert file.read(1) == b"a"
    assert refusal(path, "a header") is None


def test_a_file_of_the_kernel_states_no_size_and_is_read() -> None:
    assert b"Pid:" in read_file("/proc/self/status")
    with pytest.raises(FileRefusedError, match="larger than 0 MiB"):
        read_file("/proc/self/status", most=16)


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full", "pipe"])
def test_only_an_ordinary_file_is_opened(name: str, pipe: Path) -> None:
    path = pipe.parent / name
    for reader in (open_file, read_file, read_text, read_json):
        with pytest.raises(FileRefusedError, match="it is no ordinary file"):
            reader(path)
    assert refusal(path, "a header") == "it is no ordinary file"


def test_folders_and_absent_files_have_the_errors_of_the_system(tmp_path: Path) -> None:
    for path, kind in ((tmp_path, IsADirectoryError), (tmp_path / "none", FileNotFoundError)):
        with pytest.raises(kind):
            read_file(path, streams=True)
    with pytest.raises(OSError, match="File name too long"):
        read_file("x" * 5000)


def test_the_size_is_checked_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(FileRefusedError, match="it is too large for a header: 1099511627776 bytes"):
        read_file(path, "a header")


def test_a_pipe_is_read_until_its_writers_close_it(pipe: Path, writer: int) -> None:
    script = f"{{ printf a; sleep 0.2; head -c 100000 /dev/zero; }} > {pipe}"
    with subprocess.Popen(["/bin/sh", "-c", script]):
        content = read_file(pipe, streams=True)
    assert content == b"a" + bytes(100_000)
    with subprocess.Popen(["/bin/sh", "-c", "sleep 0.2; printf late"], stdout=writer):
        os.close(writer)
        assert read_file("/dev/fd/99", streams=True) == b"late"


def test_a_pipe_without_a_writer_or_an_end_is_refused(
    pipe: Path, writer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileRefusedError, match="it is a pipe that no program writes to"):
        read_file(pipe, streams=True)
    monkeypatch.setattr(files, "_FOR_A_STREAM", 0.1)
    with pytest.raises(FileRefusedError, match="it did not end within 0 seconds"):
        read_file("/dev/fd/99", streams=True)
    os.close(writer)


def test_a_device_may_be_a_stream() -> None:
    assert read_file("/dev/null", streams=True) == b""
    with pytest.raises(FileRefusedError, match="larger than 1 MiB"):
        read_file("/dev/zero", streams=True, most=1 << 20)


def test_json_has_a_limit_of_depth(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(json.dumps({"a": [1]}), encoding="utf-8")
    assert read_json(path) == {"a": [1]}
    path.write_text("[" * 1_000_000, encoding="utf-8")
    with pytest.raises(ValueError, match="it is nested too deeply"):
        read_json(path)
