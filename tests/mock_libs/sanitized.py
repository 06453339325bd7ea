# SPDX-License-Identifier: Apache-2.0
"""The mock libraries once more, built from source with the compiler's sanitizers."""

from __future__ import annotations

import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from pyaclnn.bindgen.mock_exports import write_chips, write_fallbacks, write_operators
from pyaclnn.bindgen.reader import read
from pyaclnn.mock.rules import RULES

from .programs import COMPILER, HERE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["FLAGS", "build_libraries"]

ROOT = HERE.parents[1]
FLAGS = [
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-g",
]
_LANGUAGE = ["-std=c11", "-D_GNU_SOURCE", "-fPIC"]
_LANGUAGE += ["-fvisibility=hidden", "-DACL_FUNC_VISIBILITY="]
_WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


def build_libraries(folder: Path, flags: Sequence[str] = FLAGS) -> list[str]:
    """Build the three libraries.

    Args:
        folder: Where they go.
        flags: What chooses the sanitizer.

    Returns:
        The linker's arguments of a program for them.
    """
    mock = ROOT / "mock_libs"
    declarations = read(ROOT / "include_stubs")
    write_operators(declarations, folder / "operators.c")
    write_fallbacks(declarations, "runtime", folder / "runtime_fallbacks.c")
    write_fallbacks(declarations, "base", folder / "base_fallbacks.c")
    write_chips(ROOT / "pyaclnn/mock/chips.json", folder / "chips.inc")
    generator = runpy.run_path(str(mock / "generate.py"))
    generator["write_gates"](declarations, folder)
    generator["write_rules"](RULES, folder)
    (folder / "device-python").write_text(sys.executable + "\n", encoding="utf-8")
    runtime = [*sorted(mock.glob("runtime/*.c")), folder / "runtime_fallbacks.c"]
    base = [*sorted(mock.glob("base/*.c")), folder / "base_fallbacks.c"]
    libraries = {
        "ascendcl": ("runtime", [*runtime, folder / "runtime_gates.c"]),
        "nnopbase": ("base", [*base, folder / "base_gates.c"]),
        "opapi": ("operators", [folder / "operators.c", folder / "operators_gates.c"]),
    }
    sources = [(names, source) for names, files in libraries.values() for source in files]

    include = [f"-I{path}" for path in (ROOT / "include_stubs", mock, mock / "base", folder)]
    compiler = [*COMPILER, *_LANGUAGE, *flags, *_WARNINGS, *include]

    def compile_one(job: tuple[str, Path]) -> None:
        names, source = job
        renamed = ["-include", f"{names}_names.h"]
        output = ["-c", str(source), "-o", str(folder / f"{source.stem}.o")]
        subprocess.run([*compiler, *renamed, *output], check=True)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(compile_one, sources))
    earlier: list[str] = [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    for name, (_, files) in libraries.items():
        objects = [str(folder / f"{source.stem}.o") for source in files]
        shared = ["-shared", "-o", str(folder / f"lib{name}.so"), f"-Wl,-soname,lib{name}.so"]
        subprocess.run(
            [*COMPILER, *flags, *shared, *objects, *earlier, "-pthread", "-ldl"], check=True
        )
        earlier.append(f"-l{name}")
    return earlier
