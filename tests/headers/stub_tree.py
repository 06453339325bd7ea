# SPDX-License-Identifier: Apache-2.0
"""The headers under test, and the compilers they are shown to."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

from pyaclnn.bindgen.reader import find_headers

__all__ = [
    "HEADERS",
    "INCLUDE",
    "LANGUAGES",
    "LEVELS",
    "compile_all",
    "compiler",
    "included_by",
    "preprocess",
]

INCLUDE = Path(__file__).resolve().parents[2] / "include_stubs"
# CANN's host API; the headers of the kernel interface are C++ and tested with the kernels.
HEADERS = find_headers(INCLUDE)
LEVELS = (801, 901)
LANGUAGES = ("c11", "c++17")

_WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
_INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def compiler(language: str, include: Path = INCLUDE) -> list[str]:
    """Return the compiler of a language, a value of ``-std=``, with an include folder."""
    variable, default = ("CXX", "c++") if language.startswith("c++") else ("CC", "cc")
    command = shlex.split(os.environ.get(variable, default))
    return [*command, f"-std={language}", f"-I{include}"]


def _run(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{shlex.join(command)}\n{result.stderr}"
    return result.stdout


def compile_all(
    folder: Path,
    language: str,
    sources: list[str],
    *,
    to_object: bool = False,
    include: Path = INCLUDE,
) -> Path:
    """Compile translation units in one call of the compiler, warnings being errors.

    Args:
        folder: Where the sources and objects are written.
        language: The value of ``-std=``.
        sources: The text of each translation unit.
        to_object: Produce objects instead of only checking.
        include: The include folder.

    Returns:
        The object of the first unit, which exists when ``to_object`` is set.
    """
    suffix = ".cpp" if language.startswith("c++") else ".c"
    paths = [folder / f"unit{number}{suffix}" for number in range(len(sources))]
    for path, text in zip(paths, sources, strict=True):
        path.write_text(text, encoding="utf-8")
    first_object = folder / "unit0.o"
    output = ["-c", "-o", str(first_object)] if to_object else ["-fsyntax-only"]
    _run([*compiler(language, include), *_WARNINGS, *output, *map(str, paths)])
    return first_object


@cache
def preprocess(language: str, level: int) -> str:
    """All headers at once, as the compiler of that language sees them."""
    flavour = "c++" if language.startswith("c++") else "c"
    includes = [argument for header in HEADERS for argument in ("-include", header)]
    options = ["-E", "-P", f"-DACL_STUBS_CANN={level}", "-x", flavour]
    return _run([*compiler(language), *options, *includes, os.devnull])


def included_by(header: str) -> set[str]:
    """Every header that including this one brings along, itself among them."""
    found: set[str] = set()
    waiting = [header]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _INCLUDED.findall((INCLUDE / name).read_text(encoding="utf-8"))
    return found
