# SPDX-License-Identifier: Apache-2.0
"""The include folder is made when a compiler first wants it, whole, once, and by nobody else."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann.simulator import writtendir
from pyaclnn.facts.interface import interface
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock import includedir
from pyaclnn.mock.control import include_folder

if TYPE_CHECKING:
    from pathlib import Path

GENERATED = "aclnnop/aclnn_add.h"
FEW = {"acl/acl.h": b"#pragma once\n", GENERATED: b"int aclnnAdd(void);\n"}


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    include_folder._kept.cache_clear()
    return tmp_path / "pyaclnn" / "include"


@pytest.fixture
def few(caches: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As above; the files are two."""
    monkeypatch.setattr(include_folder, "_contents", lambda: FEW)
    return caches


def again() -> Path:
    """Return the folder that another process finds."""
    include_folder._kept.cache_clear()
    return includedir()


def names_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_it_has_what_is_written_by_hand_and_a_header_for_each_line_of_the_table(
    caches: Path,
) -> None:
    folder = includedir()
    assert folder.parent == caches
    table = {f"aclnnop/{entry.header}" for entry in catalogue().values()}
    listed = {row.header for row in interface()}
    copied = {name.replace("aclnnop/", "aclnnop/level2/") for name in table}
    collected = {f"aclnnop/aclnn_{name}.h" for name in ("math", "ops_infer", "ops_train", "rand")}
    assert names_in(folder) == names_in(writtendir()) | table | copied | collected | listed
    assert GENERATED not in names_in(writtendir())
    assert [path.name for path in caches.iterdir()] == [folder.name], "nothing is left over"


def test_what_is_there_is_not_made_again(few: Path) -> None:
    first = includedir()
    made = first.stat().st_ino
    assert again() == first
    assert again().stat().st_ino == made
    assert first.is_relative_to(few)


@pytest.mark.parametrize("damage", ["missing", "cut off"])
def test_what_is_not_whole_is_made_again(few: Path, damage: str) -> None:
    header = includedir() / GENERATED
    text = header.read_text(encoding="utf-8")
    if damage == "missing":
        header.unlink()
    else:
        os.truncate(header, 10)
    assert again() / GENERATED == header
    assert header.read_text(encoding="utf-8") == text
    assert len(list(few.iterdir())) == 1


def test_what_others_could_have_written_is_made_again(few: Path) -> None:
    header = includedir() / GENERATED
    text = header.read_text(encoding="utf-8")
    header.write_text("#error".ljust(len(text)), encoding="utf-8")
    few.chmod(0o777)
    assert (again() / GENERATED).read_text(encoding="utf-8") == text
    assert stat.S_IMODE(few.stat().st_mode) == 0o700


def test_many_that_make_it_at_once_make_one(few: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        # Each process also has a temporary folder, beside the cache.
        found = set(pool.map(include_folder._kept.__wrapped__, [few] * 2))
    (folder,) = found
    assert names_in(folder) == set(FEW)
    assert [path.name for path in few.iterdir()] == [folder.name]


@pytest.mark.usefixtures("few")
def test_without_a_home_it_lies_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert again().parent == tmp_path / f"pyaclnn-{os.getuid()}" / "include"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(OSError, match=r"neither .* can be made .* XDG_CACHE_HOME"):
        again()


@pytest.mark.exhaustive
def test_python_needs_none_of_it(tmp_path: Path) -> None:
    program = (
        "import numpy as np, pyaclnn\n"
        "from pyaclnn import raw\n"
        "x = np.ones((2, 4), np.float32)\n"
        "assert pyaclnn.rms_norm(x, np.ones(4, np.float32))[0].shape == (2, 4)\n"
        "assert raw.aclnnAdd.__doc__ and raw.aclnnRmsNorm.__doc__\n"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYACLNN_BACKEND": "mock"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert not (tmp_path / "pyaclnn").exists()
