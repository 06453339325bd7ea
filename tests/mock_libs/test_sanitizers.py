# SPDX-License-Identifier: Apache-2.0
"""The C side under AddressSanitizer, UBSan and LeakSanitizer, and under valgrind if it is there."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from .sanitized import FLAGS, build_libraries

if TYPE_CHECKING:
    from .programs import Programs

PROGRAMS = ["lifecycle", "misuse", "operators", "threads", "forks"]
VALGRIND = shutil.which("valgrind")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The sanitized libraries as linker arguments."""
    return build_libraries(tmp_path_factory.mktemp("sanitized"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_sanitizers_find_nothing(programs: Programs, libraries: list[str], name: str) -> None:
    program = programs.build(f"{name}.c", *FLAGS, link=libraries)
    result = programs.run([program], {"ASAN_OPTIONS": "detect_leaks=1"})
    assert (result.returncode, _unexpected(name, result.stderr)) == (0, "")


def _unexpected(name: str, text: str) -> str:
    """What a program had no reason to write: only misuse.c breaks rules."""
    if name != "misuse":
        return text
    lines = text.splitlines()
    return "\n".join(x for x in lines if not x.startswith(("simulated NPU: [", "    ")))


@pytest.mark.parametrize("name", [name for name in PROGRAMS[:3] if VALGRIND])
def test_valgrind_finds_nothing(programs: Programs, name: str) -> None:
    options = ["-q", "--error-exitcode=9", "--leak-check=full"]
    # Valgrind has too little address space for a chip with 64 GiB.
    environment = {"PYACLNN_MOCK_SOC": "Ascend310P3"}
    result = programs.run([str(VALGRIND), *options, programs.build(f"{name}.c", "-g")], environment)
    assert (result.returncode, _unexpected(name, result.stderr)) == (0, "")
