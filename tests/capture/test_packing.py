# SPDX-License-Identifier: Apache-2.0
"""Packing of blocks on the recorder's own thread, while the program forks or memory runs out."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

RECORDER = Path(__file__).parents[2] / "pyaclnn" / "capture" / "recorder"
SOURCE = Path(__file__).parent / "c" / "packing.c"


@pytest.fixture(scope="module")
def packing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("programs") / "packing"
    compiler = [*shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-D_GNU_SOURCE", "-pthread"]

    def compile_to(made: Path, *words: str | Path) -> Path:
        subprocess.run([*compiler, *words, "-o", made], check=True)
        return made

    flag = "-Drealloc=realloc_for_recorder"
    objects = [
        compile_to(program.with_name(f"{name}.o"), flag, "-c", RECORDER / f"{name}.c")
        for name in ("handed_block", "blocks", "bytes", "locks")
    ]
    return compile_to(program, f"-I{RECORDER}", SOURCE, *objects, "-ldl")


@pytest.mark.parametrize(
    ("case", "kinds"),
    [
        pytest.param("fork", ["BLKz"] * 3, id="a-child-packs-while-the-parent-makes-room"),
        pytest.param("refuse", ["BLK-"], id="a-block-without-room-is-not-compressed"),
    ],
)
def test_a_block_is_packed_whole(case: str, kinds: list[str], packing: Path) -> None:
    done = subprocess.run([packing, case], capture_output=True, text=True, check=False, timeout=900)
    assert (done.returncode, done.stdout.split()) == (0, kinds)
