# SPDX-License-Identifier: Apache-2.0
"""Packages of custom operators for the simulated NPU, built from kernels.

A package has the layout of CANN's custom operator packages, and is found in the same way: by the
environment variable ``ASCEND_CUSTOM_OPP_PATH``, which names folders, separated by colons:

    op_api/include/aclnn_….h        the C interface, as the author wrote it
    op_api/lib/libcust_opapi.so     both phases of every operator, generated from the headers
    mock/operators.py               the operators' rules and kernels, loaded by the device process
    mock/…                          what that module needs, such as the kernels' sources

The module has a list ``OPERATORS`` of `pyaclnn.mock.operators.operator.Operator`.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.ascendc.diagnostics import CompileError, diagnose
from pyaclnn.cann.simulator import libdir, writtendir

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyaclnn.bindgen.declarations import Declarations

__all__ = ["build_package"]

_FOLDER = "aclnnop"
# Include folders of the generated C, besides CANN's own headers.
_INTERNAL: tuple[str, ...] = ("call.h", "frame.h", "library.h", "operator.h")
# Sources that turn a table of operators into a library.
_SOURCES = ("library.c", "entry.S" if platform.machine() in {"x86_64", "aarch64"} else "portable.c")
_TABLE = "operators.inc"
_FLAGS = (
    *("-std=c11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-fvisibility=hidden"),
    f'-DOPERATORS="{_TABLE}"',
)
_LIBRARIES = ("nnopbase", "ascendcl")


def build_package(
    output_dir: str | os.PathLike[str],
    *,
    headers: Iterable[str | os.PathLike[str]],
    operators: str | os.PathLike[str],
    sources: Iterable[str | os.PathLike[str]] = (),
) -> Path:
    """Build a package of custom operators for the simulated NPU.

    Args:
        output_dir: The folder of the package; it is made if needed, and files of the same names in
            it are replaced.
        headers: C headers that declare ``aclnnXxxGetWorkspaceSize`` and ``aclnnXxx``; they include
            ``aclnn/acl_meta.h``.
        operators: The Python file with the list ``OPERATORS``.
        sources: Files to put beside it, such as kernels.

    Returns:
        The package, for ``ASCEND_CUSTOM_OPP_PATH``.

    Raises:
        CompileError: The C compiler refused a header, or there is none.
        pyaclnn.bindgen.reader.HeaderError: A header declares what is no operator's interface.
        ModuleNotFoundError: The header reader's packages are missing.
    """
    package = Path(output_dir).resolve()
    paths = [Path(header).resolve(strict=True) for header in headers]
    with tempfile.TemporaryDirectory(prefix="pyaclnn-") as name:
        work = Path(name)
        declared = _read(paths, work / "include")
        library = _compile(declared, work, paths[0])
        api, device = package / "op_api", package / "mock"
        for folder in (api / "include", api / "lib", device):
            folder.mkdir(parents=True, exist_ok=True)
        # In one step: a library that a process has open is never written to.
        shutil.move(library, api / "lib" / f".{library.name}")
        (api / "lib" / f".{library.name}").replace(api / "lib" / library.name)
    for path in paths:
        shutil.copy(path, api / "include")
    shutil.copy(operators, device / "operators.py")
    for source in sources:
        shutil.copy(source, device)
    return package


def _read(headers: list[Path], include: Path) -> Declarations:
    """Read the declarations of headers as if they lay beside CANN's own."""
    # The reader's packages are no dependency of running; only who builds packages needs them.
    from pyaclnn.bindgen.reader import read  # noqa: PLC0415

    for folder in ("acl", "aclnn", "opdev"):
        shutil.copytree(writtendir() / folder, include / folder)
    (include / _FOLDER).mkdir()
    for header in headers:
        shutil.copy(header, include / _FOLDER)
    declarations = read(include)
    own = {f"{_FOLDER}/{header.name}" for header in headers}
    return replace(
        declarations,
        headers=tuple(sorted(own)),
        functions=tuple(f for f in declarations.functions if f.header in own),
    )


def _compile(declared: Declarations, work: Path, header: Path) -> Path:
    from pyaclnn.bindgen.operator_table import write_operators  # noqa: PLC0415  # as in _read

    library = work / "libcust_opapi.so"
    write_operators(declared.functions, work / _TABLE)
    compiler = shlex.split(os.environ.get("CC") or "cc")
    internal = files("pyaclnn") / "mock" / "include"
    with contextlib.ExitStack() as kept:
        # Installed they are side by side; an editable install leaves each in its source folder.
        found = [kept.enter_context(as_file(internal / name)).parent for name in _INTERNAL]
        folders = [f"-I{folder}" for folder in (work, work / "include", *dict.fromkeys(found))]
        linked = [f"-L{libdir()}", f"-Wl,-rpath,{libdir()}", *(f"-l{name}" for name in _LIBRARIES)]
        sources = [str(kept.enter_context(as_file(internal / name))) for name in _SOURCES]
        command = [*compiler, *_FLAGS, *folders, *sources, "-o", str(library), *linked]
        try:
            done = subprocess.run(  # noqa: S603  # the compiler the user has chosen
                command, capture_output=True, text=True, errors="replace", check=False
            )
        except FileNotFoundError:
            raise CompileError(
                f"there is no C compiler {compiler[0]!r}; install one, or name it in the "
                "environment variable CC"
            ) from None
    if done.returncode != 0:
        raise diagnose(header, done.stderr, (writtendir(),))
    return library
