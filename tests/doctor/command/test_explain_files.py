# SPDX-License-Identifier: Apache-2.0
"""Files that users name to ``pyaclnn explain``, as they are written and as they are mistyped."""

from __future__ import annotations

import bz2
import gzip
import io
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cli import main
from pyaclnn.health.explain.ranks import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAILURE = "EI0006: Getting socket times out."
TURN = "epoch 1:  42%|####      | 421/1000 [00:10<00:14, 39.99it/s]"


LINES = {
    "line ends of Unix": (b"a\nb\n", ["a", "b"]),
    "line ends of Windows": (b"a\r\nb\r\n", ["a", "b"]),
    "turns of a progress bar": (b"\r 1%\r 2%\r100%\nb", ["", " 1%", " 2%", "100%", "b"]),
    "blank lines": (b"a\n\n\nb", ["a", "", "", "b"]),
    "no end": (b"a\rb", ["a", "b"]),
    "a turn that ends the file": (b"a\r", ["a"]),
}


@pytest.mark.parametrize(("content", "lines"), LINES.values(), ids=LINES)
def test_a_carriage_return_ends_a_line_like_a_line_feed(content: bytes, lines: list[str]) -> None:
    assert [line.rstrip("\r\n") for line in lines_of(io.BytesIO(content))] == lines


def test_no_line_of_a_long_progress_bar_is_cut() -> None:
    turns = [f"{turn} {TURN}" for turn in range(20_000)]
    content = "\r".join([*turns, FAILURE]).encode()
    assert list(lines_of(io.BytesIO(content))) == [*turns, FAILURE]


def test_a_failure_behind_a_progress_bar_is_explained_in_its_own_words(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.log"
    path.write_text(f"{TURN}\r" * 3000 + FAILURE, encoding="utf-8")
    assert main(["explain", str(path)]) == 0
    out = capfd.readouterr().out
    assert "connect timeout" in out
    assert "epoch" not in out


PACKED: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("gzip", gzip.compress, "gzip -dc"),
    ("bzip2", bz2.compress, "bzip2 -dc"),
    ("xz", lambda data: b"\xfd7zXZ\0" + data[::-1], "xz -dc"),
    ("zstd", lambda data: b"\x28\xb5\x2f\xfd" + data[::-1], "zstd -dc"),
    ("zip", lambda data: b"PK\x03\x04" + data[::-1], "unzip -p"),
    ("UTF-16", lambda data: data.decode().encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
]


@pytest.mark.parametrize(("name", "packed", "command"), PACKED, ids=[row[0] for row in PACKED])
def test_a_log_that_cannot_be_read_as_text_names_the_program_that_makes_text_of_it(
    name: str,
    packed: Callable[[bytes], bytes],
    command: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "old train.log"
    path.write_bytes(packed(FAILURE.encode()))
    assert main(["explain", str(path)]) == 1
    wanted = f"it is in {name}: {command} '{path}' | pyaclnn explain\n"
    assert wanted in capfd.readouterr().err


def test_a_file_that_is_not_there_is_named_with_its_neighbour(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.log"
    path.write_text(FAILURE, encoding="utf-8")
    assert main(["explain", str(tmp_path / "trian.log")]) == 1
    wanted = f"there is no file '{tmp_path / 'trian.log'}'; did you mean '{path}'?\n"
    assert wanted in capfd.readouterr().err


def test_a_neighbour_is_near_by_its_own_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README").touch()
    assert main(["explain", str(tmp_path / "train.log")]) == 1
    wanted = f"there is no file '{tmp_path / 'train.log'}'.\n"
    assert wanted in capfd.readouterr().err


def test_of_several_files_the_one_that_is_not_there_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rank0.log"
    path.write_text(FAILURE, encoding="utf-8")
    assert main(["explain", str(path), str(tmp_path / "of-another")]) == 1
    assert f"there is no file '{tmp_path / 'of-another'}'" in capfd.readouterr().err


@pytest.mark.parametrize("asked", ["qqqq", "no such thing 12", "a/b of c"])
def test_a_text_is_no_name_of_a_file(asked: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", asked]) == 1
    assert "there is no file" not in capfd.readouterr().err


def test_words_of_a_text_beside_a_file_of_that_name_are_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thing").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "no", "such", "thing"]) == 1
    assert "there is no file" not in capfd.readouterr().err


def test_an_empty_argument_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.log").write_text(FAILURE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["explain", ""])
    assert ended.value.code == 2
    assert "a code, a name, a text or a log is missing" in capfd.readouterr().err


@pytest.mark.parametrize("asked", ["9" * 5000, f"-{'9' * 5000}", "gr\udcc3\udcb6sse", "größe"])
def test_what_no_code_can_be_is_unknown(asked: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", asked]) == 1
    assert "nothing is known about" in capfd.readouterr().err
