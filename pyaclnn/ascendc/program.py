# SPDX-License-Identifier: Apache-2.0
"""Compilation of a source file to a kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.ascendc.builds import PREPARED, Recipe, build
from pyaclnn.ascendc.diagnostics import CompileError
from pyaclnn.ascendc.entries import declare_cores, find_entries
from pyaclnn.ascendc.expansion import with_macros
from pyaclnn.ascendc.kernel import Kernel
from pyaclnn.ascendc.launch_source import rewrite_launches
from pyaclnn.ascendc.stub import launch_stub
from pyaclnn.ascendc.target import DEFAULT_SOC_NAME, find_target
from pyaclnn.base.errors import text_of
from pyaclnn.base.files import read_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from pyaclnn.ascendc.entries import KernelEntry

__all__ = ["compile"]


def compile(  # noqa: A001  # below pyaclnn.ascendc it does not hide the builtin
    source: str | os.PathLike[str],
    *,
    name: str | None = None,
    soc: str = DEFAULT_SOC_NAME,
    tiling_data: Mapping[str, str] | None = None,
    include_dirs: Iterable[str | os.PathLike[str]] = (),
    defines: Mapping[str, str | int] | None = None,
    sanitize: bool = False,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Kernel:
    """Build an Ascend C kernel for the host.

    The source is compiled as it is, by the compiler that ``CXX`` names, else by ``c++``. What was
    built once from the same contents, headers included, is not built again.

    Args:
        source: The kernel's file.
        name: Which of its ``__global__ __aicore__`` functions; may be left out if there is one.
            A template's has its arguments: ``add<float, 1>``.
        soc: The chip: it decides the size of the unified buffer and which interfaces there are.
        tiling_data: The structure that ``GET_TILING_DATA`` reads, C++ types by field name, as the
            operator's host code defines it; not needed by kernels that name a structure.
        include_dirs: Folders in which the kernel's own headers are.
        defines: Macros to define, by name.
        sanitize: Build with AddressSanitizer and UndefinedBehaviorSanitizer, which also see what
            the kernel does with plain C++.
        cache_dir: Where to keep what is built; by default ``$XDG_CACHE_HOME/pyaclnn/ascendc``, see
            `pyaclnn.ascendc.builds`. Nothing is written anywhere else.

    Returns:
        The kernel.

    Raises:
        CompileError: The compiler refused the source; the message shows the kernel's own lines.
        FileNotFoundError: There is no such file.
        ValueError: The name, the chip or a field of the tiling data does not exist.
    """
    path = Path(source).resolve(strict=True)
    target = find_target(soc)
    macros = (*target.macros, *(f"{key}={value}" for key, value in (defines or {}).items()))
    folders = tuple(Path(folder).resolve() for folder in include_dirs)
    options = (*(f"-D{macro}" for macro in macros), *(f"-I{folder}" for folder in folders))
    text = with_macros(path, read_text(path, "a kernel", errors="replace"), options)
    entries = _instantiated(name, find_entries(text), path)
    number = _number_of(name, entries, path)
    prepared = _prepared(path)
    recipe = Recipe(
        source=path,
        stub=launch_stub(Path(PREPARED) if prepared else path, entries, tiling_data),
        macros=macros,
        include_dirs=folders,
        sanitize=sanitize,
        prepared=prepared,
    )
    program = build(recipe, None if cache_dir is None else Path(cache_dir).resolve())
    return Kernel(program, number, entries[number], target)


def _prepared(path: Path) -> str:
    """Return the source with C++ for what only Ascend C has, or nothing if it has none of that."""
    text = read_text(path, "a kernel", errors="replace")
    try:
        changed = declare_cores(rewrite_launches(text))
    except ValueError as error:
        raise CompileError(f"{path}: {text_of(error)}") from None
    if changed == text:
        return ""
    return f"#line 1 {json.dumps(str(path), ensure_ascii=False)}\n{changed}\n"


def _instantiated(
    name: str | None, entries: tuple[KernelEntry, ...], path: Path
) -> tuple[KernelEntry, ...]:
    """Return the kernels that a launch can name: all but templates without arguments."""
    base, _, arguments = (name or "").partition("<")
    usable = tuple(
        entry._replace(name=name) if arguments and name and entry.name == base.strip() else entry
        for entry in entries
        if not entry.template or (arguments and entry.name == base.strip())
    )
    if entries and not usable:
        names = ", ".join(entry.name for entry in entries)
        raise ValueError(
            f"{path} has only templates: {names}; name must have template arguments, such as "
            f"'{entries[0].name}<0>'"
        )
    return usable


def _number_of(name: str | None, entries: tuple[KernelEntry, ...], path: Path) -> int:
    names = [entry.name for entry in entries]
    if not names:
        raise CompileError(
            f"{path} defines no kernel: a kernel is a function "
            '`extern "C" __global__ __aicore__ void name(GM_ADDR …)`'
        )
    if name is None:
        if len(names) > 1:
            raise ValueError(f"{path} has several kernels; name must be one of {', '.join(names)}")
        return 0
    if name not in names:
        raise ValueError(f"name is {name!r}; {path} has {', '.join(names)}")
    return names.index(name)
