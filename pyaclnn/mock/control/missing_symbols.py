# SPDX-License-Identifier: Apache-2.0
"""Simulated libraries without some symbols: an older CANN, or an incomplete installation."""

from __future__ import annotations

import shutil
import struct
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.base.elf import exported_symbols
from pyaclnn.cann.simulator import libdir, simulator
from pyaclnn.facts.releases import simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["without"]


@contextmanager
def without(*names: str) -> Iterator[Path]:
    """Make a folder of simulated libraries that lack symbols or whole libraries.

    The folder can be a backend, or the first one in ``LD_LIBRARY_PATH``.

    Args:
        names: C functions (``"aclnnRmsNorm"``) or libraries (``"opapi"``).

    Yields:
        The folder, which exists as long as the block.

    Raises:
        ValueError: No simulated library has such a symbol, or is called so.
    """
    there = {path.stem.removeprefix("lib") for path in libdir().glob("lib*.so")}
    missing_libraries = {name for name in names if name in there}
    symbols = set(names) - missing_libraries
    with tempfile.TemporaryDirectory(prefix="pyaclnn-without-") as text:
        folder = Path(text)
        # By this file a library that is not where it was installed finds its interpreter.
        (folder / "device-python").write_text(sys.executable + "\n", encoding="utf-8")
        shutil.copy(simulator(), folder)
        found: set[str] = set()
        for library in there - missing_libraries:
            copy = folder / f"lib{library}.so"
            shutil.copy(libdir() / copy.name, copy)
            found |= _remove(copy, symbols)
        if found != symbols:
            raise ValueError(
                f"{', '.join(sorted(symbols - found))} cannot be left out: no simulated library "
                f"exports it; it must be a C function of CANN {simulated().name}, or one of "
                f"{', '.join(sorted(there))}"
            )
        yield folder


def _remove(path: Path, names: set[str]) -> set[str]:
    """Take the names of symbols away, so that no look-up finds them; those that were there."""
    image = bytearray(path.read_bytes())
    found = {name: place for place, name in exported_symbols(image) if name in names}
    for place in found.values():
        struct.pack_into("<I", image, place, 0)  # the empty name
    path.write_bytes(image)
    return set(found)
