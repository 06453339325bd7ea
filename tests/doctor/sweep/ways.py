# SPDX-License-Identifier: Apache-2.0
"""Generic ways in which a file, a folder, a link, a variable or a limit of a machine is broken."""

from __future__ import annotations

import re
import resource
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FILE", "FOLDER", "HARMLESS", "LIMITS", "LINK", "NODE", "VARIABLE", "WORDS", "limit"]

UNREADABLE: Final = "not readable"


def remove(path: Path) -> None:
    """Remove whatever is at a path; nothing if there is nothing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _rewrite(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def way(path: Path) -> None:
        content = path.read_bytes()
        path.unlink()  # files are linked to those of other machines
        path.write_bytes(change(content))
        path.chmod(0o755)

    return way


def _other_processor(content: bytes) -> bytes:
    assert content[:4] == b"\x7fELF"
    return content[:18] + (8).to_bytes(2, "little") + content[20:]


def _other_release(content: bytes) -> bytes:
    assert b"\0" not in content
    changed = re.sub(rb"(?<![\w.])\d+(?=\.\d)", b"3", content)
    assert changed != content
    return changed


def _dangling(path: Path) -> None:
    remove(path)
    path.symlink_to("/gone/" + path.name)


def _looping(path: Path) -> None:
    remove(path)
    path.symlink_to(path.name)


def _folder(path: Path) -> None:
    remove(path)
    path.mkdir()


def _file(path: Path) -> None:
    remove(path)
    path.write_text("a file\n", encoding="utf-8")


def _deeper(path: Path) -> None:
    aside = path.with_name(path.name + ".aside")
    path.rename(aside)
    path.mkdir()
    aside.rename(path / path.name)


def _unreadable(path: Path) -> None:
    if path.is_file():
        _rewrite(bytes)(path)
    path.chmod(0)


FILE: Final[dict[str, Callable[[Path], None]]] = {
    "deleted": remove,
    "emptied": _rewrite(lambda _: b""),
    "truncated": _rewrite(lambda content: content[: len(content) * 2 // 3]),
    "zeroed": _rewrite(lambda content: bytes(len(content))),
    "half zeroed": _rewrite(
        lambda content: content[: len(content) // 2] + bytes(len(content) - len(content) // 2)
    ),
    "another text": _rewrite(lambda _: b"<html>404 Not Found</html>\n"),
    "of another processor": _rewrite(_other_processor),
    "of another release": _rewrite(_other_release),
    "a dangling link": _dangling,
    "a loop": _looping,
    "a folder": _folder,
    UNREADABLE: _unreadable,
}
FOLDER: Final[dict[str, Callable[[Path], None]]] = {
    "deleted": remove,
    "emptied": _folder,
    "a file": _file,
    "a dangling link": _dangling,
    "one level too deep": _deeper,
    UNREADABLE: _unreadable,
}
LINK: Final = {name: FOLDER[name] for name in ("deleted", "emptied", "a file")} | {
    "a dangling link": _dangling,
    "a loop": _looping,
}
NODE: Final = {name: FILE[name] for name in ("deleted", "a dangling link", "a folder", UNREADABLE)}

_EACH: Final[dict[str, Callable[[str], str | None]]] = {
    "unset": lambda _: None,
    "empty": lambda _: "",
    "with a trailing blank": lambda entry: entry + " ",
    "with a leading blank": lambda entry: " " + entry,
    "in quotes": lambda entry: f'"{entry}"',
    "relative": lambda entry: entry.lstrip("/"),
    "one level too high": lambda entry: str(Path(entry).parent),
    "one level too deep": lambda entry: f"{entry}/{Path(entry).name}",
    "of another release": lambda entry: f"{entry}-0.0.1",
    "a file": lambda _: "/etc/hostname",
    "huge": lambda _: "/" + "a" * 100_000,
    "with a line's end": lambda entry: entry + "\n",
}
VARIABLE: Final[dict[str, Callable[[str], str | None]]] = {
    **_EACH,
    "with a trailing slash": lambda entry: entry + "/",
    "with a double slash": lambda entry: entry.replace("/", "//"),
    "with a dot": lambda entry: f"{entry}/.",
}
"""Variables: the change of the value, or of the first entry of a list; None to unset it."""
HARMLESS: Final = frozenset({"with a trailing slash", "with a double slash", "with a dot"})
WORDS: Final = {
    "empty": "",
    "negative": "-1",
    "huge": "9" * 40,
    "a word": "yes",
    "with a trailing blank": "0 ",
    "of another script": "\u0660",
}
"""Values of variables that hold numbers."""

LIMITS: Final = {
    "open files": (resource.RLIMIT_NOFILE, 16),
    "size of files": (resource.RLIMIT_FSIZE, 0),
    "memory": (resource.RLIMIT_AS, 1 << 30),
    "data": (resource.RLIMIT_DATA, 256 << 20),
    "stack": (resource.RLIMIT_STACK, 64 << 10),
    "locked memory": (resource.RLIMIT_MEMLOCK, 0),
    "cores": (resource.RLIMIT_CORE, 0),
}


def limit(name: str) -> None:
    """Lower a limit of this process and its children, both the soft and the hard one."""
    which, value = LIMITS[name]
    resource.setrlimit(which, (value, value))
