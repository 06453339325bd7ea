# SPDX-License-Identifier: Apache-2.0
"""Generator of the module through which ``pyaclnn.reference`` calls its C conversions.

Usage: ``python conversions.py HEADER OUTPUT``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cffi

__all__ = ["write_conversions"]


def write_conversions(header: Path, output: Path) -> None:
    """Write the C source of the extension module.

    Args:
        header: The header whose functions it makes callable.
        output: The file to write.
    """
    ffi = cffi.FFI()
    ffi.cdef(header.read_text(encoding="utf-8"))
    ffi.set_source("pyaclnn.reference.arithmetic._narrow_floats", f'#include "{header.name}"')
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    write_conversions(Path(sys.argv[1]), Path(sys.argv[2]))
