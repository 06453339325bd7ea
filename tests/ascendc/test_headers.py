# SPDX-License-Identifier: Apache-2.0
"""The headers of the kernel interface: complete, clean, and of one mind with the tiling package."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import pytest

from pyaclnn.ascendc import tiling
from pyaclnn.ascendc.target import find_target

from .conftest import KERNELS

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "include_stubs"
HEADERS = sorted(
    path.relative_to(INCLUDE).as_posix()
    for place in ("kernel_operator.h", "ascendc", "lib", "kernel_tiling", "simt_api", "tiling")
    for path in [INCLUDE / place, *(INCLUDE / place).rglob("*.h")]
    if path.is_file()
)
STRUCTURES = (
    tiling.LayerNormTiling,
    tiling.LayerNormSeparateTiling,
    tiling.LayerNormGradTiling,
    tiling.LayerNormGradBetaTiling,
)


def compile_all(*sources: Path, options: tuple[str, ...] = ()) -> None:
    """Check sources in one call of the compiler, warnings being errors."""
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
    command = [*compiler, "-std=c++17", f"-I{INCLUDE}", *warnings, *options, "-fsyntax-only"]
    done = subprocess.run([*command, *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
def test_every_header_compiles_alone_and_twice(tmp_path: Path) -> None:
    chip = tuple(f"-D{macro}" for macro in find_target("Ascend910B3").macros)
    units = [tmp_path / f"unit{number}.cpp" for number in range(len(HEADERS))]
    for unit, header in zip(units, HEADERS, strict=True):
        unit.write_text(f'#include "{header}"\n#include "{header}"\n', encoding="utf-8")
    with ThreadPoolExecutor(2) as workers:
        for done in [
            workers.submit(compile_all, *units[part::2], options=chip) for part in range(2)
        ]:
            done.result()


@pytest.mark.exhaustive
def test_kernels_compile_without_a_warning() -> None:
    examples = ROOT / "examples"
    compile_all(
        KERNELS / "layer_norm_by_hand.cpp",
        examples / "kernels" / "layer_norm.cpp",
        examples / "custom_operator" / "add_layer_norm_custom.cpp",
    )


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_keeps_the_form_of_the_house(header: str) -> None:
    text = (INCLUDE / header).read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[:2] == ["/* SPDX-License-Identifier: Apache-2.0 */", "/*"]
    assert re.findall(r"^#(?:pragma once|ifndef \w+_H_?)$", text, re.MULTILINE) == ["#pragma once"]
    assert re.search(r"[^\n]\n\Z", text)
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 400
    assert not re.search(r"[ \t]$|\t", text, re.MULTILINE)


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.__name__)
def test_the_bytes_of_a_tiling_structure_are_the_kernels(
    structure: type[tiling.TilingStructure],
) -> None:
    text = (INCLUDE / "kernel_tiling" / "kernel_tiling.h").read_text(encoding="utf-8")
    body = re.search(rf"struct {structure.__name__} {{\n(.*?)}};", text, re.DOTALL)
    assert body is not None
    declared = re.findall(r"(uint32_t|float) (\w+) = 0;", body[1])
    ours = {"int": "uint32_t", "float": "float"}
    assert declared == [(ours[str(field.type)], field.name) for field in fields(structure)]
    assert 4 * len(declared) == structure.byte_size()
