# SPDX-License-Identifier: Apache-2.0
"""Inventory of an installation: files of a table, each read as its reader would."""

from __future__ import annotations

import itertools
import json
import platform
from itertools import islice
from typing import TYPE_CHECKING, Final

from pyaclnn.base.elf import LARGEST, check_whole
from pyaclnn.base.errors import text_of
from pyaclnn.base.files import open_file
from pyaclnn.base.paths import FORBIDDEN, ExaminedPath
from pyaclnn.facts.machine import files
from pyaclnn.health.checks.finding import Finding, found, ok
from pyaclnn.health.checks.presence import refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.installation import Installation

__all__: list[str] = []

_MOST: Final = 200
"""Files of a row that are read."""
_LONGEST_TEXT: Final = 64 << 20
_ENOUGH_EVIDENCE: Final = 8


def _inventory(context: CheckContext) -> Finding:
    chosen = context.installation
    machine, count = context.machine, 0
    refused: list[Path] = []
    damaged: list[tuple[Path, str, str]] = []
    for row in files():
        base = chosen.real if row.below == "root" else chosen.operator_root
        for path in sorted(islice(base.glob(row.name), _MOST)):
            count += 1
            reason = ExaminedPath(path).absence()
            may_read = reason or machine.may(path, "rx" if path.is_dir() else "r")
            if reason == FORBIDDEN or not may_read:
                refused.append(path)
                continue
            reason = reason or _fault(_FORMS[row.form], path)
            if reason:
                damaged.append((path, reason, row.package))
    if refused and not damaged:
        return refusal(context, refused)
    other = _stray(chosen) if not damaged else None
    if other is not None:
        seen_at = context.seen(other, f"a link to {context.machine.shown(other.resolve())}")
        return found("CANN-006.elsewhere", seen_at, path=context.machine.shown(other))
    if not damaged:
        return ok(f"{count} files can be read as what they are")
    seen = [context.seen(path, reason) for path, reason, _ in damaged[:_ENOUGH_EVIDENCE]]
    path, reason, package = damaged[0]
    shown = context.machine.shown(path)
    return found("CANN-006.damaged", *seen, path=shown, reason=reason, package=package)


def _stray(chosen: Installation) -> Path | None:
    """Return a library that is a link out of the release of most others; None if there is none."""
    around = chosen.root.parent.resolve()
    releases: dict[Path, list[Path]] = {}
    for path in sorted(islice((chosen.root / "lib64").glob("*.so"), _MOST)):
        parents = [path.resolve(), *path.resolve().parents]
        inside = next(
            (p for p, above in itertools.pairwise(parents) if above == around), parents[-1]
        )
        releases.setdefault(inside, []).append(path)
    if len(releases) < 2:  # noqa: PLR2004  # all of one
        return None
    return min(releases.values(), key=len)[0]


def _fault(form: Callable[[Path], None], path: Path) -> str:
    """Return the fault of a file; empty if it has none."""
    try:
        form(path)
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


def _elf(path: Path) -> str | None:
    """Check that a file is a whole ELF file; return its processor, or None of a linker's script."""
    with open_file(path, "a binary", most=LARGEST) as file:
        if file.read(1) in {b"/", b"G", b"I"}:  # a script of the linker may have a library's name
            return None
        file.seek(0)
        return check_whole(file)


def _library(path: Path) -> None:
    if _elf(path) not in {platform.machine(), None}:
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
    except RecursionError:
        raise ValueError("no JSON: it is nested too deeply") from None


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
