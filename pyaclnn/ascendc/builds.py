# SPDX-License-Identifier: Apache-2.0
"""Cache of programs built with the host's C++ compiler, once for every content.

The cache is a folder that may be deleted at any time. It is the caller's ``cache_dir``; by default
``$XDG_CACHE_HOME/pyaclnn/ascendc`` (``~/.cache/pyaclnn/ascendc``), or a folder of the same name
below the system's folder for temporary files where that cannot be written.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.ascendc.diagnostics import CompileError, diagnose
from pyaclnn.base.files import read_file
from pyaclnn.base.folders import cache_folder, make_private
from pyaclnn.cann.simulator import writtendir

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PREPARED", "Recipe", "build"]

PREPARED = "prepared.cpp"
"""The name of a rewritten source, beside the program."""

_WARNINGS = ("-Wall", "-Wno-unknown-pragmas", "-Wno-attributes")
_SANITIZE = (
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-O0",
    "-g1",
    "-DPYACLNN_SANITIZE",
)


class Recipe(NamedTuple):
    """Inputs of a build, besides the contents of the files it reads.

    Attributes:
        source: The kernel's file, for messages.
        stub: The text of the program.
        macros: Macros to define, ``NAME=value``.
        include_dirs: Folders to search for headers.
        sanitize: True to build with AddressSanitizer and UndefinedBehaviorSanitizer.
        prepared: The text of `PREPARED`, which the program includes instead of the source, if any.
    """

    source: Path
    stub: str
    macros: tuple[str, ...]
    include_dirs: tuple[Path, ...]
    sanitize: bool
    prepared: str = ""


def build(recipe: Recipe, cache_dir: Path | None = None) -> Path:
    """Build a program, or find the one that was built from the same contents.

    Args:
        recipe: The program to build.
        cache_dir: The folder to keep it in; it is made if needed.

    Returns:
        The program.

    Raises:
        CompileError: There is no compiler, or it refused the source.
        OSError: The folder cannot be written.
        PermissionError: The folder is not the user's own.
    """
    compiler, identity = _compiler()
    arguments = _arguments(recipe)
    texts = [recipe.stub, recipe.prepared]
    key = _digest("\0".join([identity, *compiler, *arguments, *texts]).encode())
    folder = (cache_folder("ascendc") if cache_dir is None else cache_dir) / key[:32]
    known = _known(folder) if make_private(folder) else None
    if known is not None:
        return known
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as name:
        return _compile(recipe, [*compiler, *arguments], Path(name), folder)


def _compiler() -> tuple[list[str], str]:
    """Return the compiler's command and identity, as several have the same name."""
    command = shlex.split(os.environ.get("CXX") or "c++")
    program = shutil.which(command[0])
    if program is None:
        raise CompileError(
            f"there is no C++ compiler {command[0]!r}; install one (GCC 9, Clang 10 or newer), or "
            "name it in the environment variable CXX"
        )
    status = Path(program).stat()
    return [program, *command[1:]], f"{status.st_size} {status.st_mtime_ns}"


def _arguments(recipe: Recipe) -> list[str]:
    folders = [f"-I{folder}" for folder in (*recipe.include_dirs, writtendir())]
    extra = _SANITIZE if recipe.sanitize else ()
    macros = [f"-D{macro}" for macro in recipe.macros]
    if recipe.prepared:
        folders += ["-iquote", str(recipe.source.parent)]
    return ["-std=c++17", "-O1", "-pipe", "-pthread", *extra, *_WARNINGS, *macros, *folders]


def _compile(recipe: Recipe, command: Sequence[str], work: Path, folder: Path) -> Path:
    stub, program, depends = work / "launch.cpp", work / "kernel", work / "depends"
    stub.write_text(recipe.stub, encoding="utf-8")
    if recipe.prepared:
        (work / PREPARED).write_text(recipe.prepared, encoding="utf-8")
    done = subprocess.run(  # noqa: S603  # the compiler the user has chosen
        [*command, "-MMD", "-MF", str(depends), "-MT", "kernel", str(stub), "-o", str(program)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    if done.returncode != 0:
        raise diagnose(recipe.source, done.stderr, (writtendir(),), stub)
    files = [
        path for path in _dependencies(depends.read_text(encoding="utf-8")) if path.parent != work
    ]
    digests = {str(path): _digest(read_file(path)) for path in files}
    # The name carries the contents: a program that runs is never written to.
    final = folder / f"kernel-{_digest(json.dumps(digests).encode())[:16]}"
    program.replace(final)
    manifest = work / "manifest.json"
    manifest.write_text(json.dumps({"program": final.name, "files": digests}), encoding="utf-8")
    manifest.replace(folder / "manifest.json")
    return final


def _known(folder: Path) -> Path | None:
    """Return the program of a folder, if no file it was built from has changed."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        program = folder / Path(manifest["program"]).name
        same = all(_digest(read_file(f)) == d for f, d in manifest["files"].items())
    except (OSError, ValueError, KeyError):
        return None
    return program if same and os.access(program, os.X_OK) else None


def _dependencies(makefile: str) -> list[Path]:
    """Return the files of a rule that the compiler wrote for make."""
    text = makefile.replace("\\\n", " ").partition(":")[2]
    return [Path(word) for word in shlex.split(text.replace("$$", "$"))]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
