# SPDX-License-Identifier: Apache-2.0
"""Arguments of an operator arrive unchanged behind the common entry of all operators.

The compiler is the judge: it calls each function by its own type.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pyaclnn.bindgen.operator_table import write_operators
from tests.bindgen.convention_cases import CASES, FULL, REAL

from .arrival_cases import functions_of, program

ROOT = Path(__file__).parents[2]
FOLDERS = ["mock_libs/api/operators", "mock_libs/api/base", "mock_libs/model/base"]
FOLDERS += ["mock_libs/model/core", "mock_libs/api/runtime", "include_stubs"]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-w", "-fvisibility=hidden", "-DACL_FUNC_VISIBILITY="]

OPERATORS = [kinds for kinds in CASES if kinds not in FULL]
"""Signatures of at most 64 parameters; operators with more are refused at the build."""

# The operators of CANN with the most parameters, and others of every mix.
FEW = sorted(REAL, key=len)[-6:] + random.Random(5).sample(OPERATORS, 40)
MACHINES = {
    "this machine": (shlex.split(os.environ.get("CC", "cc")), []),
    "clang": (["clang"], []),
    "aarch64": (["aarch64-linux-gnu-gcc", "-static"], ["qemu-aarch64-static"]),
}


def run(
    folder: Path,
    cases: list[str],
    *options: str,
    machine: str = "this machine",
    way: str = "entry.S",
    planted: bool = False,
) -> str:
    """Build and run a program; gives what it prints last."""
    compiler, emulator = MACHINES[machine]
    for tool in (compiler[0], *emulator):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    write_operators(functions_of(cases), folder / "operators.inc")
    source = folder / "main.c"
    source.write_text(program(cases, registers=way == "entry.S", planted=planted), encoding="utf-8")
    # Functions that send messages to the device are not called here.
    names = re.findall(
        r"\bvoid (mock_call_\w+)\(", (ROOT / FOLDERS[2] / "call.h").read_text("utf-8")
    )
    unused = folder / "unused.c"
    unused.write_text("".join(f"void {name}(void) {{}}\n" for name in names), encoding="utf-8")
    own = [str(ROOT / "mock_libs/api/operators" / name) for name in ("library.c", way)]
    words = str(ROOT / "mock_libs/model/base/registers.c")
    includes = [f"-I{folder}", *(f"-I{ROOT / name}" for name in FOLDERS)]
    options = ('-DOPERATORS="operators.inc"', *options)
    command = [*compiler, *FLAGS, *options, *includes, str(source), str(unused), *own, words]
    subprocess.run([*command, "-o", str(folder / "program")], check=True)
    done = subprocess.run(
        [*emulator, str(folder / "program")], capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("way", ["entry.S", "portable.c"])
def test_all_that_is_passed_arrives(way: str, tmp_path: Path) -> None:
    assert run(tmp_path, FEW, "-O1", way=way) == f"{2 * len(FEW)} called, 0 wrong"


def test_what_does_not_arrive_is_seen(tmp_path: Path) -> None:
    assert run(tmp_path, ["tqd"], planted=True) == "2 called, 1 wrong"


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["entry.S", "portable.c"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("machine", MACHINES)
def test_every_signature_arrives(machine: str, level: str, way: str, tmp_path: Path) -> None:
    assert len(REAL) > 350
    found = run(tmp_path, OPERATORS, level, machine=machine, way=way)
    assert found == f"{2 * len(OPERATORS)} called, 0 wrong"
