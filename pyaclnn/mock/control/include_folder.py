# SPDX-License-Identifier: Apache-2.0
"""Include folder for compilers, with a header for each operator of CANN.

An installation brings along the headers that are written by hand. Those of operators, hundreds,
follow from the table of operators; they are made when a compiler first wants them, and kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.base.folders import cache_folder, make_private
from pyaclnn.bindgen.catalogued import (
    RELEASE_HEADER,
    headers_of,
    listed_headers,
    phases,
    release_header,
)
from pyaclnn.cann.simulator import writtendir
from pyaclnn.facts.interface import interface
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.releases import simulated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyaclnn.facts.releases import Release

__all__ = ["cflags", "includedir", "write_include"]

_COLLECTIONS = ("aclnn_math.h", "aclnn_ops_infer.h", "aclnn_ops_train.h", "aclnn_rand.h")
"""Headers of many operators. Each declares all here: no source lists which of them it has."""


def includedir() -> Path:
    """Return the folder for ``-I`` of a C or C++ compiler: it holds ``acl/acl.h``.

    It lies below ``$XDG_CACHE_HOME/pyaclnn/include``, with ``~/.cache`` for the variable, and is
    made when it is first asked for; without a home that can be written to, below the folder for
    temporary files. Its name follows from what it holds, so that installations can share it.

    Raises:
        FileNotFoundError: The installation is incomplete.
        PermissionError: Somebody else has put a folder in its place.
        OSError: It cannot be made.
    """
    return _kept(cache_folder("include"))


def cflags() -> list[str]:
    """Compiler arguments of a program for the CANN that is simulated.

    They find the headers of operators with and without their folder ``aclnnop``, as CANN's own
    samples include them, and select the release: newer functions are not declared, since no
    library has them.

    Raises:
        OSError: The folder of the headers cannot be made, see :func:`includedir`.
        ReleaseError: ``PYACLNN_MOCK_CANN`` names no release.
    """
    folder = includedir()
    return [f"-I{folder}", f"-I{folder}/aclnnop", f"-DACL_STUBS_CANN={simulated().headers}"]


def write_include(folder: Path, release: Release) -> None:
    """Write an include folder of one release, unless a macro of the compiler selects another.

    Args:
        folder: The folder; it must not exist.
        release: The release of CANN.
    """
    _write(folder, {**_contents(), RELEASE_HEADER: release_header(release.headers).encode()})


@functools.cache
def _contents() -> Mapping[str, bytes]:
    """Every file, by its path below the include folder."""
    written = writtendir()
    files = {
        path.relative_to(written).as_posix(): path.read_bytes()
        for path in sorted(written.rglob("*"))
        if path.is_file()
    }
    operators = (function for entry in catalogue().values() for function in phases(entry))
    own = headers_of(operators)
    files |= {name: text.encode() for name, text in own.items()}
    # Source: CANN 8.1: the files of level2 are copies.
    files |= {f"aclnnop/level2/{Path(name).name}": _included([name]) for name in own}
    files |= {f"aclnnop/{name}": _included(own) for name in _COLLECTIONS}
    for name, text in listed_headers(interface()).items():
        files[name] = files.get(name, b"") + text.encode()
    return files


def _included(headers: Iterable[str]) -> bytes:
    """Return the text of a header that includes others."""
    return "".join(["#pragma once\n", *(f'#include "{name}"\n' for name in headers)]).encode()


@functools.cache
def _kept(cache: Path) -> Path:
    """The folder below one for all of its kind; what is there, and whole, is not made again."""
    contents = _contents()
    digest = hashlib.sha256()
    for name, content in contents.items():
        digest.update(b"%s %d\n%s" % (name.encode(), len(content), content))
    folder = cache / digest.hexdigest()[:16]
    if make_private(cache) and _is_whole(folder, contents):
        return folder
    # In one step: a compiler that runs meanwhile sees all of it or nothing.
    with tempfile.TemporaryDirectory(dir=cache, prefix="new-") as work:
        new, old = Path(work) / "new", Path(work) / "old"
        _write(new, contents)
        with contextlib.suppress(FileNotFoundError):
            folder.rename(old)
        try:
            new.rename(folder)
        except OSError:  # another process was here first
            if not _is_whole(folder, contents):
                raise
    return folder


def _is_whole(folder: Path, contents: Mapping[str, bytes]) -> bool:
    """Return whether a folder holds the files; cleaners delete the oldest first."""
    try:
        return all((folder / name).stat().st_size == len(text) for name, text in contents.items())
    except OSError:
        return False


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    for parent in sorted({(folder / name).parent for name in contents}):
        parent.mkdir(parents=True, exist_ok=True)
    try:
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
