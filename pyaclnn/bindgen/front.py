# SPDX-License-Identifier: Apache-2.0
"""Folder of the libraries of a simulated release.

A linker makes each library under a name of its own. Those in front of other libraries get
``DT_AUXILIARY`` in the place of ``DT_NEEDED``: they have names for linkers, and the loader takes
the functions from the libraries behind. Not every linker has an option for it.
Source: GNU C library, elf/dl-deps.c.

Usage: ``python front.py FOLDER {NAME LINKED BEHIND}...``, where BEHIND are the names of the
libraries that a front has behind it, separated by commas; empty for a library that is no front.
"""

from __future__ import annotations

import os
import runpy
import struct
import sys
from pathlib import Path

__all__ = ["put_in_front"]

_DT_AUXILIARY = 0x7FFFFFFD
ELF = Path(__file__).parents[1] / "base" / "elf.py"
"""The reader of libraries; the build needs it before the package can be imported."""


def put_in_front(image: bytearray, libraries: set[str]) -> None:
    """Turn libraries that an ELF file needs (64 bits, little-endian) into libraries behind it.

    Args:
        image: The file; it is changed.
        libraries: The sonames.

    Raises:
        ValueError: It does not need all of them.
    """
    known = runpy.run_path(str(ELF), run_name="elf")
    found = set()
    for place, name in known["needed_libraries"](image):
        if name in libraries:
            struct.pack_into("<Q", image, place, _DT_AUXILIARY)
            found.add(name)
    if found != libraries:
        raise ValueError(f"{', '.join(sorted(libraries - found))}: not needed")


def main() -> None:
    """Place the libraries in the folder, each in one step, and remove all others."""
    folder, arguments = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(exist_ok=True)
    names = arguments[::3]
    for name, linked, behind in zip(names, arguments[1::3], arguments[2::3], strict=True):
        image = bytearray(Path(linked).read_bytes())
        if behind:
            put_in_front(image, set(behind.split(",")))
        # Programs may have the library open, and another process may place it as well.
        fresh = folder / f".{name}.{os.getpid()}"
        fresh.write_bytes(image)
        fresh.chmod(0o755)
        fresh.replace(folder / name)
    for path in folder.glob("lib*.so"):
        if path.name not in names:
            path.unlink()
    os.utime(folder)  # it is the output that the build compares


if __name__ == "__main__":
    main()
