# SPDX-License-Identifier: Apache-2.0
"""Shared libraries, read without loading them."""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from pyaclnn.base.elf import (
    ElfError,
    exported_symbols,
    fault_of_library,
    needed_libraries,
    read_library,
)
from pyaclnn.mock import libdir


def test_a_library_is_read_as_the_loader_sees_it() -> None:
    library = read_library(libdir() / "libnnopbase.so")
    assert library.soname == "libnnopbase.so"
    assert "libascendcl.so" in library.needed
    assert "aclCreateTensor" in library.exports
    assert "aclrtMalloc" not in library.exports


def test_a_library_stripped_of_its_section_headers_is_read_all_the_same(tmp_path: Path) -> None:
    image = bytearray((libdir() / "libopapi.so").read_bytes())
    image[40:48] = bytes(8)
    image[60:62] = bytes(2)
    stripped = tmp_path / "libopapi.so"
    stripped.write_bytes(image)
    whole = read_library(libdir() / "libopapi.so")
    assert read_library(stripped).exports == whole.exports


@given(st.integers(0, 20000), st.binary(min_size=1, max_size=64))
def test_a_damaged_library_is_refused_and_nothing_else_happens(offset: int, noise: bytes) -> None:
    image = bytearray((libdir() / "libopapi.so").read_bytes())
    image[offset : offset + len(noise)] = noise
    with tempfile.NamedTemporaryFile(suffix=".so") as file, contextlib.suppress(ElfError):
        file.write(image)
        file.flush()
        read_library(Path(file.name))


def test_a_pipe_for_a_library_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "libascendcl.so")
    with pytest.raises(ElfError, match="no ordinary file"):
        read_library(tmp_path / "libascendcl.so")


def test_a_file_too_large_for_a_library_is_refused(tmp_path: Path) -> None:
    library = tmp_path / "libascendcl.so"
    library.touch()
    os.truncate(library, 1 << 40)
    with pytest.raises(ElfError, match="too large"):
        read_library(library)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of our libraries that says it is for another processor."""
    image = bytearray((libdir() / "libnnopbase.so").read_bytes())
    (machine,) = struct.unpack_from("<H", image, 18)
    struct.pack_into("<H", image, 18, 183 if machine != 183 else 62)
    path = tmp_path_factory.mktemp("foreign") / "libnnopbase.so"
    path.write_bytes(image)
    return path


def test_a_library_of_another_processor_is_read_unless_one_is_asked_for(foreign: Path) -> None:
    ours = read_library(libdir() / "libnnopbase.so")
    other = read_library(foreign)
    assert {ours.machine, other.machine} == {"x86_64", "aarch64"}
    assert other.exports == ours.exports
    assert read_library(foreign, machine=other.machine) == other
    with pytest.raises(ElfError, match=f"for {other.machine}, this machine is {ours.machine}"):
        read_library(foreign, machine=ours.machine)


@pytest.mark.parametrize("name", ["libascendcl.so", "libnnopbase.so", "libopapi.so"])
def test_exports_are_those_that_the_toolchain_sees(name: str) -> None:
    path = libdir() / name
    seen = subprocess.run(
        ["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True
    )
    assert read_library(path).exports == {line.split()[-1] for line in seen.stdout.splitlines()}


def test_the_place_of_a_symbol_is_where_its_name_begins() -> None:
    image = (libdir() / "libnnopbase.so").read_bytes()
    places = {name: place for place, name in exported_symbols(image)}
    assert len(set(places.values())) == len(places) > 10
    offsets = {struct.unpack_from("<I", image, place)[0] for place in places.values()}
    assert len(offsets) == len(places)


def test_the_place_of_what_is_needed_is_that_of_its_entry() -> None:
    image = (libdir() / "libopapi.so").read_bytes()
    entries = list(needed_libraries(image))
    assert [name for _, name in entries] == list(read_library(libdir() / "libopapi.so").needed)
    dt_needed = 1
    assert {struct.unpack_from("<Q", image, place)[0] for place, _ in entries} == {dt_needed}


def test_what_is_no_library_is_refused() -> None:
    with pytest.raises(ElfError, match="no ELF library"):
        exported_symbols(b"#!/bin/sh")


def test_the_fault_of_a_library_is_why_no_loader_loads_it(tmp_path: Path) -> None:
    text = tmp_path / "libtext.so"
    text.write_text("no library")
    assert fault_of_library(libdir() / "libopapi.so") == ""
    assert fault_of_library(text) == "the file is no ELF library"
    assert fault_of_library(tmp_path / "missing.so") == "No such file or directory"
