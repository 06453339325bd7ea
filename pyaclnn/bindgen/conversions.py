# SPDX-License-Identifier: Apache-2.0
"""Generator of the module through which ``pyaclnn.reference`` calls its C functions.

Usage: ``python conversions.py HEADER... OUTPUT``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import cffi

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["write_conversions"]


def write_conversions(headers: Sequence[Path], output: Path) -> None:
    """Write the C source of the extension module.

    Args:
        headers: The headers whose functions it makes callable.
        output: The file to write.
    """
    ffi = cffi.FFI()
    for header in headers:
        ffi.cdef(header.read_text(encoding="utf-8"))
    includes = "\n".join(f'#include "{header.name}"' for header in headers)
    ffi.set_source("pyaclnn.reference.arithmetic._narrow_floats", includes)
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    *given, output = map(Path, sys.argv[1:])
    write_conversions(given, output)
