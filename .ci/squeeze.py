# SPDX-License-Identifier: Apache-2.0
"""Write wheels anew, as small as their format can be: ``python .ci/squeeze.py WHEEL ...``.

What zopfli has packed is the same deflate as ever to who unpacks it; it was only looked for longer.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import zopfli.zlib

__all__ = ["main"]


class _Deflate:
    """A compressor as ``zipfile`` asks for it."""

    def __init__(self) -> None:
        self._data = b""

    def compress(self, data: bytes) -> bytes:
        self._data += data
        return b""

    def flush(self) -> bytes:
        packed: bytes = zopfli.zlib.compress(self._data, blocksplittingmax=0)
        return packed[2:-4]  # without the head and the checksum of that format


def main(*wheels: str) -> None:
    """Write wheels anew.

    Args:
        *wheels: Their files.

    Raises:
        RuntimeError: One is no smaller, or does not hold what it held.
    """
    # Python's zip files can be given a level, and no compressor.
    zipfile._get_compressor = lambda *_: _Deflate()  # noqa: SLF001
    for name in wheels:
        before, after = Path(name), Path(f"{name}.new")
        with zipfile.ZipFile(before) as read, zipfile.ZipFile(after, "w") as write:
            for entry in read.infolist():
                if not entry.is_dir():  # its files bring it along
                    write.writestr(entry, read.read(entry), zipfile.ZIP_DEFLATED)
        with zipfile.ZipFile(before) as old, zipfile.ZipFile(after) as new:
            files = [entry.filename for entry in old.infolist() if not entry.is_dir()]
            same = files == new.namelist() and all(old.read(f) == new.read(f) for f in files)
        if not same or after.stat().st_size >= before.stat().st_size:
            raise RuntimeError(f"{after} is no smaller wheel with what {before} holds")
        after.replace(before)


if __name__ == "__main__":
    main(*sys.argv[1:])
