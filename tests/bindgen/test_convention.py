# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of any operator is called as its own type would be: what is passed arrives.

libffi is the judge on this machine, for calls into it and for calls out of it; the compiler is the
judge for its own functions, here and, where an emulator is installed, on aarch64.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn._binding import ffi, lib
from pyaclnn.calling import operator as operators

from .convention_cases import C_TYPES, CASES, REAL, checker, program, values_of
from .test_reader import SOURCES

if TYPE_CHECKING:
    from pathlib import Path

CONVENTION = SOURCES / "convention.c"
REACHED = [(n, kinds) for n, kinds in enumerate(CASES) if lib.binding_reaches(kinds.encode())]


def packed(kinds: str, number: int) -> Any:
    """The values of a case as the launcher has them."""
    words = ffi.new("union binding_value[]", len(kinds) + 1)
    for word, kind, value in zip(words, kinds, values_of(kinds, number), strict=False):
        if kind in "df":
            word.real = value
        else:
            word.bits = int(value) % 2**64
    return words


def call(function: Any, kinds: str, number: int, way: Any) -> tuple[int, int, bool]:
    op, text = ffi.new("struct binding_operator *"), ffi.new("char[]", kinds.encode())
    op.phase1, op.kinds = ffi.cast("void *", function), text
    size, executor = ffi.new("uint64_t *"), ffi.new("void **")
    status = way(op, packed(kinds, number), size, executor)
    return status, size[0], executor[0] == size


def test_every_signature_of_canns_operators_is_reached() -> None:
    assert len(CASES) > 550
    assert len(REACHED) > 500
    assert [kinds for kinds in REAL if not lib.binding_reaches(kinds.encode())] == []
    assert not lib.binding_reaches(b"d" * 8 + b"q" * 100)


REGISTERS = {"x86_64": 6, "aarch64": 8}
"""For integers and pointers, of which the last two arguments of phase 1 take two."""


@pytest.mark.parametrize(("kinds", "more"), [("q", REGISTERS[platform.machine()] - 2), ("d", 8)])
def test_as_much_is_reached_as_the_stack_has_room_for(kinds: str, more: int) -> None:
    full = kinds * (more + 64)
    assert lib.binding_reaches(full.encode())
    assert not lib.binding_reaches((full + kinds).encode())


@pytest.mark.parametrize("part", range(4))
def test_libffi_receives_what_the_convention_passes(part: int) -> None:
    for number, kinds in REACHED[part::4]:
        received: list[Any] = []

        def receive(*values: Any, into: list[Any] = received) -> int:
            into += values[:-2]
            values[-2][0] = 77
            values[-1][0] = values[-2]
            return 5

        types = "".join(f"{C_TYPES.get(kind, 'uint64_t')}, " for kind in kinds)
        closure = ffi.callback(f"int({types}uint64_t *, void **)", receive)
        assert call(closure, kinds, number, lib.binding_by_convention) == (5, 77, True)
        assert received == values_of(kinds, number), kinds


@pytest.fixture(scope="module", params=["-O0", pytest.param("-O1", marks=pytest.mark.exhaustive)])
def checkers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("checkers")
    source = "\n".join(["#include <stdint.h>", *(checker(n, k) for n, k in enumerate(CASES))])
    (folder / "checkers.c").write_text(source, encoding="utf-8")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    library = folder / "libcheckers.so"
    command = [*compiler, request.param, "-w", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([*command, str(folder / "checkers.c")], check=True)
    return lib.binding_open(str(library).encode())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("way", ["by convention", "in Python, through libffi"])
def test_compiled_functions_receive_what_is_passed(way: str, checkers: Any) -> None:
    reached = REACHED if way == "by convention" else list(enumerate(CASES))
    caller = lib.binding_by_convention if way == "by convention" else operators._call
    for number, kinds in reached:
        function = lib.binding_symbol(checkers, f"check_{number}".encode())
        assert call(function, kinds, number, caller) == (0, number, True), kinds


def test_a_checker_sees_a_wrong_value(checkers: Any) -> None:
    number, kinds = next((n, k) for n, k in REACHED if set(k) >= {"d", "q", "t"})
    function = lib.binding_symbol(checkers, f"check_{number}".encode())
    assert call(function, kinds, number + 1, lib.binding_by_convention)[0] == 1


MACHINES = {
    "this machine": ([os.environ.get("CC", "cc")], []),
    "aarch64": (["aarch64-linux-gnu-gcc", "-static"], ["qemu-aarch64-static"]),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("machine", MACHINES)
def test_the_machines_convention_is_kept(machine: str, level: str, tmp_path: Path) -> None:
    compiler, emulator = MACHINES[machine]
    for tool in (compiler[0], *emulator):
        if shutil.which(shlex.split(tool)[0]) is None:
            pytest.skip(f"{tool} is not installed")
    source, runner = tmp_path / "program.c", tmp_path / "program"
    source.write_text(program(CONVENTION), encoding="utf-8")
    command = [*shlex.split(compiler[0]), *compiler[1:], "-std=c11", level, "-o", str(runner)]
    subprocess.run([*command, str(source)], check=True)
    done = subprocess.run([*emulator, str(runner)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    called, wrong = (int(word) for word in done.stdout.split() if word.isdigit())
    assert (called >= len(REACHED), wrong) == (True, 0)
