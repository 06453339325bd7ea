# SPDX-License-Identifier: Apache-2.0
"""Turns what a library needs into what stands behind it, in the file that a linker made.

A library with ``DT_AUXILIARY`` in the place of ``DT_NEEDED`` has names of its own for linkers, and
the loader takes what these stand for from the libraries behind. Not every linker can be told so.
Source: System V ABI, dynamic section; GNU C library, elf/dl-deps.c.

Usage: ``python front.py LINKED OUTPUT LIBRARY...``.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

__all__ = ["put_in_front"]

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_AUXILIARY = 1, 5, 0x7FFFFFFD


def put_in_front(image: bytearray, libraries: set[str]) -> None:
    """Change what an ELF file of 64 bits, little-endian, needs into what stands behind it.

    Args:
        image: The file; it is changed.
        libraries: The sonames.

    Raises:
        ValueError: It does not need all of them.
    """
    (table,) = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    parts = [struct.unpack_from("<IIQQQQ", image, table + size * i) for i in range(count)]
    start, length = next((p[2], p[5]) for p in parts if p[0] == _PT_DYNAMIC)
    entries = [
        (at, *struct.unpack_from("<QQ", image, at)) for at in range(start, start + length, 16)
    ]
    address = next(value for _, tag, value in entries if tag == _DT_STRTAB)
    texts = next(
        p[2] + address - p[3] for p in parts if p[0] == _PT_LOAD and 0 <= address - p[3] < p[5]
    )
    found = set()
    for at, tag, value in entries:
        name = (
            image[texts + value : image.index(0, texts + value)].decode()
            if tag == _DT_NEEDED
            else ""
        )
        if name in libraries:
            struct.pack_into("<Q", image, at, _DT_AUXILIARY)
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
