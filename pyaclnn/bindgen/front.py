# SPDX-License-Identifier: Apache-2.0
"""Turns what a library needs into what stands behind it, in the file that a linker made.

A library with ``DT_AUXILIARY`` in the place of ``DT_NEEDED`` has names of its own for linkers, and
the loader takes what these stand for from the libraries behind. Not every linker can be told so.
Source: GNU C library, elf/dl-deps.c.

Usage: ``python front.py LINKED OUTPUT LIBRARY...``.
"""

from __future__ import annotations

import runpy
import struct
import sys
from pathlib import Path

__all__ = ["put_in_front"]

_DT_AUXILIARY = 0x7FFFFFFD
ELF = Path(__file__).parents[1] / "base" / "elf.py"
"""What reads libraries; it is needed before the package can be imported."""


def put_in_front(image: bytearray, libraries: set[str]) -> None:
    """Change what an ELF file of 64 bits, little-endian, needs into what stands behind it.

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
    """Change one file."""
    linked, output, *libraries = sys.argv[1:]
    image = bytearray(Path(linked).read_bytes())
    put_in_front(image, set(libraries))
    Path(output).write_bytes(image)
    Path(output).chmod(0o755)


if __name__ == "__main__":
    main()
