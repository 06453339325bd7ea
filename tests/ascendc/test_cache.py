# SPDX-License-Identifier: Apache-2.0
"""Cache of built kernels: in the user's cache folder, protected from other users."""

from __future__ import annotations

import os
import stat
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import ascendc
from pyaclnn.base.folders import cache_folder

from .conftest import PLAIN, write

if TYPE_CHECKING:
    from pathlib import Path


class Kept:
    """A kernel that writes the value of a header, built in a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.header = write(folder, "#define VALUE 1\n", "value.h")
        self.source = write(folder, f'#include "value.h"\n{PLAIN}')
        self.cache = folder / "cache"

    def value(self, **options: Any) -> tuple[Path, int]:
        """Build it unless it is there, and tell the program and what it writes."""
        kernel = ascendc.compile(self.source, cache_dir=self.cache, **options)
        x = np.zeros(4, np.uint8)
        kernel.launch(1, x)
        return kernel.program, int(x[0])


@pytest.mark.exhaustive
def test_what_is_built_is_kept_until_something_changes(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    first, one = kept.value()
    built = first.stat().st_mtime_ns
    assert one == 1
    assert kept.value()[0] == first
    assert first.stat().st_mtime_ns == built, "it was not built again"

    kept.header.write_text("#define VALUE 2\n", encoding="utf-8")
    second, two = kept.value()
    assert (second != first, two) == (True, 2)
    assert {path.name for path in tmp_path.iterdir()} == {"kernel.cpp", "value.h", "cache"}


@pytest.mark.exhaustive
def test_another_chip_is_another_program_and_a_broken_cache_is_built_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    program, _ = kept.value()
    assert kept.value(soc="Ascend310P3")[0].parent != program.parent

    (program.parent / "manifest.json").write_text("{", encoding="utf-8")
    assert kept.value()[1] == 1
    assert {path.name for path in tmp_path.iterdir()} == {"kernel.cpp", "value.h", "cache"}


def test_the_default_cache_is_where_the_user_keeps_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_folder("ascendc") == tmp_path / "caches" / "pyaclnn" / "ascendc"
    blocked = write(tmp_path, "", "file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert cache_folder("ascendc").name == "ascendc"
    assert not cache_folder("ascendc").is_relative_to(blocked)


def build_plain(folder: Path) -> ascendc.Kernel:
    return ascendc.compile(write(folder, PLAIN), defines={"VALUE": 7})


class TestWhatOthersPlanted:
    """The cache below the folder for temporary files, whose name everybody can guess."""

    @pytest.fixture
    def own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(write(tmp_path, "", "file")))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        return tmp_path / f"pyaclnn-{os.getuid()}"

    @pytest.mark.exhaustive
    def test_the_folder_is_the_users_alone(self, own: Path, tmp_path: Path) -> None:
        program = build_plain(tmp_path).program
        assert program.is_relative_to(own)
        for folder in (own, program.parent):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    @pytest.mark.exhaustive
    @pytest.mark.skipif(os.getuid() != 0, reason="only root can act for somebody else")
    @pytest.mark.parametrize("which", ["the outermost", "the innermost"])
    def test_a_folder_of_another_user_is_refused(
        self, own: Path, tmp_path: Path, which: str
    ) -> None:
        program = build_plain(tmp_path).program
        theirs = own if which == "the outermost" else program.parent
        os.chown(theirs, 65534, 65534)
        with pytest.raises(PermissionError, match=f"{theirs} is user 65534's"):
            build_plain(tmp_path)

    def test_a_link_is_refused(self, own: Path, tmp_path: Path) -> None:
        target = tmp_path / "somewhere"
        target.mkdir()
        own.symlink_to(target)
        with pytest.raises(PermissionError, match="is no folder"):
            build_plain(tmp_path)
        assert list(target.iterdir()) == []

    @pytest.mark.exhaustive
    def test_what_others_could_have_written_is_built_again(self, own: Path, tmp_path: Path) -> None:
        program = build_plain(tmp_path).program
        program.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        program.parent.chmod(0o777)
        again = build_plain(tmp_path)
        assert again.program.is_relative_to(own)
        assert not again.program.read_bytes().startswith(b"#!")
        assert stat.S_IMODE(program.parent.stat().st_mode) == 0o700

    @pytest.mark.exhaustive
    def test_a_manifest_names_nothing_outside_its_folder(self, own: Path, tmp_path: Path) -> None:
        program = build_plain(tmp_path).program
        manifest = program.parent / "manifest.json"
        manifest.write_text('{"program": "/bin/true", "files": {}}', encoding="utf-8")
        assert build_plain(tmp_path).program.is_relative_to(own)
