# SPDX-License-Identifier: Apache-2.0
"""Inventory of an installation: files of a table, each read as its reader would."""

from __future__ import annotations

import json
import os
import platform
import struct
from itertools import islice
from typing import TYPE_CHECKING, Final

from pyaclnn.base.elf import LARGEST
from pyaclnn.base.errors import text_of
from pyaclnn.base.files import open_file
from pyaclnn.facts.installation import files
from pyaclnn.health.checks.finding import Finding, found, ok

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyaclnn.health.checks.context import CheckContext

__all__: list[str] = []

_MOST: Final = 200
"""Files of a row that are read."""
_LONGEST_TEXT: Final = 64 << 20
_ENOUGH_EVIDENCE: Final = 8


def _inventory(context: CheckContext) -> Finding:
    chosen = context.installation
    count = 0
    damaged: list[tuple[Path, str, str]] = []
    for row in files():
        base = chosen.real if row.below == "root" else chosen.operator_root
        for path in sorted(islice(base.glob(row.path), _MOST)):
            reason = _fault(_FORMS[row.form], path)
            count += 1
            if reason:
                damaged.append((path, reason, row.package))
    if not damaged:
        return ok(f"{count} files can be read as what they are")
    seen = [context.seen(path, reason) for path, reason, _ in damaged[:_ENOUGH_EVIDENCE]]
    path, reason, package = damaged[0]
    shown = context.machine.shown(path)
    return found("CANN-006.damaged", *seen, path=shown, reason=reason, package=package)


def _fault(form: Callable[[Path], None], path: Path) -> str:
    """Return the fault of a file; empty if it has none. Rights are a check of their own."""
    try:
        form(path)
    except PermissionError:
        return ""
    except FileNotFoundError:
        return "a link that leads nowhere"
    except OSError as error:
        return error.strerror or text_of(error)
    except ValueError as error:
        return text_of(error)
    return ""


def _content(path: Path) -> bytes:
    with open_file(path, "a file of CANN", most=_LONGEST_TEXT) as file:
        content = file.read()
    if not content.strip(b"\0 \r\n\t"):
        raise ValueError("the file is empty" if not content else "the file has only zeros")
    return content


def _text(path: Path) -> str:
    content = _content(path)
    if b"\0" in content:
        raise ValueError("the file has zeros in the place of text")
    return content.decode(errors="replace")


_ELF: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_MACHINES: Final = {"x86_64": 62, "aarch64": 183}


def _elf(path: Path) -> int | None:
    """Check that a file is a whole ELF file; return the number of its processor."""
    with open_file(path, "a binary", most=LARGEST) as file:
        head, size = file.read(_ELF.size), os.fstat(file.fileno()).st_size
        if head[:4] != b"\x7fELF" or len(head) < _ELF.size:
            if head[:1] in {b"/", b"G", b"I"}:  # a script of the linker may have a library's name
                return None
            raise ValueError("the file is no ELF file" if size else "the file is empty")
        fields = _ELF.unpack(head)
        begin, each, count, names = fields[6], fields[11], fields[12], fields[13]
        if begin + each * count > size:
            raise ValueError("the file is cut short")
        file.seek(begin + each * names)
        if count and not any(file.read(each)):
            raise ValueError("the file has zeros in the place of its sections")
        return int(fields[2])


def _library(path: Path) -> None:
    known = _MACHINES.get(platform.machine())
    if known is not None and _elf(path) not in {known, None}:
        raise ValueError(f"the library is for another processor than {platform.machine()}")


def _kernel(path: Path) -> None:
    if _elf(path) is None:
        raise ValueError("the file is no ELF file")


def _folder(path: Path) -> None:
    if not path.is_dir():
        raise ValueError("it is no folder")
    if next(path.iterdir(), None) is None:
        raise ValueError("the folder is empty")


def _json(path: Path) -> None:
    try:
        json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg} in line {error.lineno}") from None


def _settings(path: Path) -> None:
    if "=" not in _text(path):
        raise ValueError("no line is of the form key=value")


def _ini(path: Path) -> None:
    if not _text(path).lstrip().startswith(("[", "#", ";")):
        raise ValueError("it does not begin with a section")


def _script(path: Path) -> None:
    if _text(path).lstrip().startswith("<"):
        raise ValueError("it is no script of a shell")


_FORMS: Final[dict[str, Callable[[Path], None]]] = {
    "library": _library,
    "kernel": _kernel,
    "folder": _folder,
    "json": _json,
    "settings": _settings,
    "ini": _ini,
    "script": _script,
}
