# SPDX-License-Identifier: Apache-2.0
"""Versions that a library wants of another are found unmet where the loader refuses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from platform import machine as host
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.elf import SharedLibrary
from pyaclnn.health.checks.dependencies import (
    Closure,
    Missing,
    _close_over,
    _newest,
    close_over,
    program_of,
)
from pyaclnn.health.checks.machine import Machine
from pyaclnn.mock import libdir
from tests.doctor.parts import provider, shim

if TYPE_CHECKING:
    from collections.abc import Callable


USER = "int f(void); int g(void) { return f(); }"
PROGRAM = """
#include <dlfcn.h>
int main(int count, char **names) { return count == 2 && !dlopen(names[1], RTLD_NOW); }
"""


@pytest.mark.parametrize("available", [("V_1", "V_2"), ("V_1",), ("W_9",), ()])
def test_versions_are_wanted_as_the_loader_wants_them(
    tmp_path: Path, available: tuple[str, ...]
) -> None:
    library, user = tmp_path / "libprovider.so", tmp_path / "libuser.so"
    provider(library, "V_1", "V_2")
    shim(user, USER, str(library), "-Wl,-z,now")
    provider(library, *available)
    machine = Machine(environment={"LD_LIBRARY_PATH": str(tmp_path)})
    unmet = close_over(machine, user).unmet
    program = f"import ctypes; ctypes.CDLL({str(user)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **machine.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert [str(gap) in done.stderr for gap in unmet] == [True] * (done.returncode != 0)
    assert bool(unmet) == bool({"V_1", "W_9"} & set(available) and "V_2" not in available)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("libraries", ["", "-Wl,-rpath,$ORIGIN/none"])
@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("kind", ["-no-pie", "-pie"])
@pytest.mark.parametrize("tags", ["--disable-new-dtags", "--enable-new-dtags"])
@pytest.mark.parametrize("path", ["", "old"])
def test_a_program_has_libraries_of_its_own(
    tmp_path: Path, path: str, tags: str, kind: str, loaded: bool, libraries: str
) -> None:
    provider(tmp_path / "old/libprovider.so", "V_1")
    new, user = provider(tmp_path / "new/libprovider.so", "V_1", "V_2"), tmp_path / "libuser.so"
    ways = (libraries, "-Wl,--enable-new-dtags") if libraries else ()
    shim(user, USER, str(new), *ways)
    program = tmp_path / "program"
    linked = ("-Wl,--no-as-needed", str(new)) if loaded else ()
    shim(program, PROGRAM, f"-Wl,{tags},-rpath,$ORIGIN/new", *linked, kind=kind)
    environment = {"LD_LIBRARY_PATH": str(tmp_path / path)} if path else {}
    machine = Machine(environment=environment, executable=program)
    closure = close_over(machine, user, program_of(machine))
    done = subprocess.run([program, user], env=environment, capture_output=True, check=False)
    assert bool(closure.fault) == bool(done.returncode)


@pytest.mark.parametrize(("owner", "missing"), [("program", []), ("libother.so", ["libinner.so"])])
def test_only_the_programs_rpath_is_searched_for_the_libraries_of_others(
    tmp_path: Path, owner: str, missing: list[str]
) -> None:
    def binary(name: str, *needed: str) -> SharedLibrary:
        rpath = (str(tmp_path / "inner"),) if name == owner else ()
        return SharedLibrary(tmp_path / name, host(), name, needed, rpath, (), frozenset())

    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/libinner.so").symlink_to(libdir() / "libnnopbase.so")
    program = Closure((binary("program", "libother.so"), binary("libother.so")), ())
    user = binary("libuser.so", "libinner.so")
    closure = _close_over(Machine(environment={}), user.path, user, program)
    assert [gap.name for gap in closure.missing if gap.wanted_by == user.path] == missing


def _nothing(_: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("made", "why", "home", "named"),
    [
        (_nothing, "no such file", "folder", None),
        (_nothing, "Permission denied", "folder", "folder"),
        (_nothing, "Permission denied", "other", None),
        (Path.touch, "Permission denied", "other", "folder/liba.so"),
        (Path.touch, "the file is empty", "other", "folder/liba.so"),
        (lambda path: path.symlink_to("/x"), "a link to /x", "other", "folder/liba.so"),
    ],
)
def test_a_closed_folder_is_an_obstacle_to_a_library_of_its_package_only(
    tmp_path: Path, made: Callable[[Path], object], why: str, home: str, named: str | None
) -> None:
    library = tmp_path / "folder/liba.so"
    library.parent.mkdir()
    made(library)
    found = Missing("liba.so", tmp_path, ((library, why),)).obstacle(tmp_path / home)
    assert found == (named and (tmp_path / named, why))


def test_the_newest_version_has_a_number_behind_its_kind() -> None:
    versions = ["CXXABI_1.3", "CXXABI_1.3.9", "CXXABI_1.3.13", "CXXABI_TM_1", "CXXABI_FLOAT128"]
    assert _newest("CXXABI", versions) == "CXXABI_1.3.13"
    assert _newest("GLIBCXX", versions) == ""
