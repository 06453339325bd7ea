# SPDX-License-Identifier: Apache-2.0
"""Writer of report files: all or nothing, and a full disk is an error message."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FORMATS", "STANDARD_OUTPUT", "WriteError", "abandon_output", "check_writable", "write"]

STANDARD_OUTPUT = "-"
"""The name that stands for standard output."""

_PUBLIC = 0o666

FORMATS = ("json", "junit", "html", "bundle")
"""The formats in which a report can be written; each is an option that names a file."""


class WriteError(Exception):
    """A report could not be written; the message names the file, the reason and what to do."""


def check_writable(target: str) -> None:
    """Refuse a target that cannot be written, before the checks take their time.

    Args:
        target: A path, or ``-``.

    Raises:
        WriteError: The folder does not exist or may not be written, or the path is a folder.
    """
    if target == STANDARD_OUTPUT:
        return
    path = Path(target).expanduser()
    folder = path.parent
    if path.is_dir():
        raise WriteError(f"'{target}' is a folder; name a file.")
    if not folder.is_dir():
        raise WriteError(f"'{target}' cannot be written: there is no folder '{folder}'; create it.")
    if not os.access(path if _is_special(path) else folder, os.W_OK):
        raise WriteError(f"'{target}' cannot be written: no permission in '{folder}'.")


def write(target: str, content: bytes | Iterable[str]) -> None:
    """Write a whole file, or leave the existing one untouched.

    Args:
        target: A path, or ``-`` for standard output.
        content: The content; texts, one after the other, as UTF-8.

    Raises:
        WriteError: It could not be written; nothing of it is left behind.
    """
    if isinstance(content, bytes):
        parts: Iterable[bytes] = [content]
    else:
        parts = (text.encode() for text in ([content] if isinstance(content, str) else content))
    try:
        if target == STANDARD_OUTPUT:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(parts)
            sys.stdout.buffer.flush()
            return
        path = Path(target).expanduser().resolve()
        if _is_special(path):
            with path.open("wb") as file:
                file.writelines(parts)
        else:
            _replace(path, parts)
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"'{target}'"
        if target == STANDARD_OUTPUT:
            where = "standard output"
            abandon_output()
        raise WriteError(
            f"{where} could not be written: {error.strerror or error}; "
            "free some space or name another place."
        ) from None


def abandon_output() -> None:
    """Give up standard output after it failed, or Python would fail once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_special(path: Path) -> bool:
    """Return whether the path is a device or a pipe, which cannot be replaced."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  # a descriptor, not a path
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(_PUBLIC & ~mask)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
