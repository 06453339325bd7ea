# SPDX-License-Identifier: Apache-2.0
"""A runtime library that the process has already, and one of a folder: the same file, or a second.

A second copy would know nothing of the devices that the first has opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann.discovery import set_of
from pyaclnn.cann.loaded_libraries import Residents

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a runtime library, and beside it a link to that folder and a copy of it."""
    for name in ("one", "copy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "libascendcl.so").write_bytes(b"the same bytes")
    (tmp_path / "link").symlink_to("one")
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("loaded", "chosen", "agrees"),
    [
        ("one", "one", True),
        ("one", "link", True),
        ("link", "one", True),
        ("one", "copy", False),
        ("one", "empty", False),
        ("empty", "one", False),  # it was removed after it had been loaded
        ("empty", "empty", False),
    ],
)
def test_a_loaded_runtime_is_that_of_a_folder_if_it_is_the_same_file(
    folder: Path, loaded: str, chosen: str, agrees: bool
) -> None:
    there = Residents([folder / loaded / "libascendcl.so"])
    assert there.agree_with(set_of(folder / chosen)) is agrees


@pytest.mark.parametrize("libraries", [[], ["libnnopbase.so"], ["libc.so.6"]])
def test_a_process_without_a_runtime_agrees_with_every_folder(
    folder: Path, libraries: list[str]
) -> None:
    there = Residents(folder / "one" / name for name in libraries)
    assert there.agree_with(set_of(folder / "one"))
    assert there.agree_with(set_of(folder / "empty"))


def test_a_version_at_the_end_of_a_name_does_not_count(folder: Path) -> None:
    (folder / "one" / "libascendcl.so.8.1").hardlink_to(folder / "one" / "libascendcl.so")
    there = Residents([folder / "one" / "libascendcl.so.8.1"])
    assert there.agree_with(set_of(folder / "one"))
    assert not there.agree_with(set_of(folder / "copy"))
