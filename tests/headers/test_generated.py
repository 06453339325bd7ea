# SPDX-License-Identifier: Apache-2.0
"""The headers of operators that the build makes of the table, as programs for CANN see them."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock import cflags, includedir
from tests.releases import OLDEST

from .stub_tree import HEADERS, INCLUDE, LANGUAGES, LEVELS, compiler

if TYPE_CHECKING:
    from pathlib import Path

TABLE = sorted({f"aclnnop/{entry.header}" for entry in catalogue().values()})
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


def compiled(folder: Path, language: str, level: int, headers: list[str]) -> str:
    """Return the compiler's messages for a program that includes headers."""
    source = folder / "program.c"
    source.write_text("".join(f'#include "{header}"\n' for header in headers), encoding="utf-8")
    kind = ["-x", "c++" if language.startswith("c++") else "c", "-fsyntax-only"]
    chosen = ["-UACL_STUBS_CANN", f"-DACL_STUBS_CANN={level}"]
    command = [*compiler(language), *cflags(), *WARNINGS, *chosen, *kind]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
    return done.stderr


def test_every_operator_has_its_header_at_the_vendors_path() -> None:
    missing = [name for name in TABLE if not (includedir() / name).is_file()]
    assert missing == []
    assert len(TABLE) > 700


def test_headers_written_by_hand_are_there_as_they_are() -> None:
    for header in HEADERS:
        # Behind it may stand operators of the same header that nobody has written by hand.
        found = (includedir() / header).read_text(encoding="utf-8")
        assert found.startswith((INCLUDE / header).read_text(encoding="utf-8")), header


def test_every_operator_has_two_phases_of_the_one_shape() -> None:
    for name, entry in catalogue().items():
        text = (includedir() / "aclnnop" / entry.header).read_text(encoding="utf-8")
        first = re.search(rf"aclnnStatus {name}GetWorkspaceSize\((.*)\);", text)
        assert first, name
        assert first[1].endswith("uint64_t *workspaceSize, aclOpExecutor **executor"), name
        assert (
            f"aclnnStatus {name}(void *workspace, uint64_t workspaceSize, "
            "aclOpExecutor *executor, aclrtStream stream);"
        ) in text


def test_a_note_of_the_table_precedes_the_first_phase() -> None:
    noted = [entry for entry in catalogue().values() if entry.note]
    assert len(noted) > 20
    for entry in noted:
        text = (includedir() / "aclnnop" / entry.header).read_text(encoding="utf-8")
        declaration = f"ACL_STUBS_OPERATOR aclnnStatus {entry.name}GetWorkspaceSize("
        assert f"/* {entry.note} */\n{declaration}" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_can_include_them_all(language: str, tmp_path: Path) -> None:
    assert compiled(tmp_path, language, max(LEVELS), TABLE) == ""


def test_operators_of_a_newer_release_are_only_there_where_it_is_chosen(tmp_path: Path) -> None:
    newer = next(e for e in catalogue().values() if OLDEST not in e.releases)
    source = tmp_path / "program.c"
    source.write_text(
        f'#include "aclnnop/{newer.header}"\nvoid *here = (void *){newer.name};\n', encoding="utf-8"
    )
    for level, status in ((801, 1), (901, 0)):
        chosen = ["-UACL_STUBS_CANN", f"-DACL_STUBS_CANN={level}"]
        command = [*compiler("c11"), *cflags(), *chosen, "-fsyntax-only"]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr


def test_a_header_declares_an_operator_once() -> None:
    for header in TABLE:
        text = (includedir() / header).read_text(encoding="utf-8")
        names = re.findall(r"\b(\w+)GetWorkspaceSize\(", text)
        assert len(names) == len(set(names)), header


@pytest.mark.exhaustive
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_of_them_stands_alone(language: str, tmp_path: Path) -> None:
    # What a header includes is the same for each release.
    for header, level in zip(TABLE, itertools.cycle(LEVELS), strict=False):
        assert compiled(tmp_path, language, level, [header]) == "", header
