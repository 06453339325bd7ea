# SPDX-License-Identifier: Apache-2.0
"""Compiler of programs with kernels, ``pyaclnn ascendc compile``: the host's, behind a rewriter.

It takes the arguments of a C++ compiler. Sources that launch kernels, or define them, are rewritten
to a temporary file beside which nothing else changes.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.ascendc.entries import declare_cores
from pyaclnn.ascendc.expansion import with_macros
from pyaclnn.ascendc.launch_source import (
    find_signatures,
    launch_header,
    launching,
    rewrite_launches,
)
from pyaclnn.ascendc.target import DEFAULT_SOC_NAME, Target, find_target
from pyaclnn.base.errors import text_of
from pyaclnn.base.files import read_text
from pyaclnn.cann.simulator import ldflags
from pyaclnn.facts.chips import all_chips
from pyaclnn.mock.control.include_folder import cflags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["compile_program", "write_launch_headers"]

_SOURCES: Final = (".asc", ".cpp", ".cc", ".cxx", ".c++")
_ARCHITECTURE: Final = "--npu-arch="
_BISHENG: Final = ("--asc-aicore-lang", "--run-mode=", "--cce-", "-xasc")
"""Options of bisheng that change nothing on the host."""
_NO_LINK: Final = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}
_OPTIONS: Final = ("-pthread", "-Wno-unknown-pragmas", "-Wno-attributes")


def compile_program(
    arguments: Sequence[str], *, soc: str = DEFAULT_SOC_NAME, binary: bool = False
) -> int:
    """Compile, and link unless the arguments have ``-c``, a program with kernels for the host.

    Args:
        arguments: Those of a C++ compiler, or of bisheng; the compiler is ``CXX``, else ``c++``.
        soc: The chip that the kernels are compiled for, unless ``--npu-arch=dav-2201`` or the like
            names the architecture of others.
        binary: Make a binary of kernels, for ``aclrtBinaryLoadFromFile``.

    Returns:
        The compiler's exit status.

    Raises:
        ValueError: The chip does not exist, or a source has a launch that has no end.
        OSError: A source cannot be read, or there is no compiler.
    """
    target, arguments = _target(soc, arguments)
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    standard = [] if any(word.startswith("-std=") for word in arguments) else ["-std=c++17"]
    options = [
        word
        for word in (*(f"-D{macro}" for macro in target.macros), *arguments, *cflags())
        if word.startswith(("-D", "-I", "-U"))
    ]
    with tempfile.TemporaryDirectory(prefix="pyaclnn-") as work:
        given = [
            _prepared(word, Path(work), number, options, binary=binary)
            for number, word in enumerate(arguments)
        ]
        command = [*compiler, *standard, *_OPTIONS, *(f"-D{macro}" for macro in target.macros)]
        command += [*(word for words in given for word in words), *cflags()]
        if binary:
            command += ["-shared", "-fPIC"]
        if binary or not _NO_LINK.intersection(arguments):
            command += ldflags()
        return subprocess.run(command, check=False).returncode  # noqa: S603  # the user's compiler


def _target(soc: str, arguments: Sequence[str]) -> tuple[Target, list[str]]:
    """Return the chip, and the arguments that a C++ compiler has too."""
    given: list[str] = []
    for word in arguments:
        if given[-1:] == ["-x"] and word == "asc":
            given.pop()
        elif not word.startswith(_BISHENG):
            given.append(word)
    for word in given:
        if word.startswith(_ARCHITECTURE):
            name = word.removeprefix(_ARCHITECTURE)
            chips = [c for c in all_chips() if name == f"dav-{c.npu_arch}"]
            if not chips:
                raise ValueError(f"no chip has the architecture {name!r}")
            default = [chip for chip in chips if chip.soc_name == soc]
            soc = (default or chips)[0].soc_name
    return find_target(soc), [word for word in given if not word.startswith(_ARCHITECTURE)]


def write_launch_headers(sources: Iterable[Path], folder: Path) -> None:
    """Write ``aclrtlaunch_NAME.h`` for each kernel with C linkage.

    Args:
        sources: The files that define the kernels.
        folder: The folder of the headers; it is made if needed.

    Raises:
        OSError: A file cannot be read or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        text = read_text(source, "a kernel", errors="replace")
        for kernel in find_signatures(with_macros(source, text)):
            header = folder / f"aclrtlaunch_{kernel.name}.h"
            header.write_text(launch_header(kernel), encoding="utf-8")


def _prepared(
    word: str, work: Path, number: int, options: Sequence[str], *, binary: bool
) -> list[str]:
    """Return the arguments that replace one: a source that needs it is rewritten."""
    path = Path(word)
    if word.startswith("-") or path.suffix not in _SOURCES:
        return [word]
    text = read_text(path, "a source", errors="replace")
    if "<<<" not in text and "__global__" not in text:
        return ["-x", "c++", word, "-x", "none"]
    try:
        rewritten = declare_cores(rewrite_launches(text))
    except ValueError as error:
        raise ValueError(f"{word}: {text_of(error)}") from None
    kernels = find_signatures(with_macros(path, text, options))
    tail = _table(kernel.name for kernel in kernels) if binary else "".join(map(launching, kernels))
    file = work / f"{number}-{path.stem}.cpp"
    file.write_text(
        '#include "ascendc/launch.h"\n'
        f"#line 1 {json.dumps(str(path), ensure_ascii=False)}\n{rewritten}\n{tail}",
        encoding="utf-8",
    )
    return ["-iquote", str(path.absolute().parent), "-x", "c++", str(file), "-x", "none"]


def _table(names: Iterable[str]) -> str:
    rows = ", ".join(f'AscendC::emulation::KernelOf("{name}", {name})' for name in names)
    return (
        f"static const pyaclnn_kernel pyaclnn_table[] = {{{rows}}};\n"
        'extern "C" __attribute__((visibility("default"))) const pyaclnn_kernels pyaclnn_kernels{\n'
        "    PYACLNN_KERNELS_MAGIC, pyaclnn_table, sizeof pyaclnn_table / sizeof *pyaclnn_table};\n"
    )
