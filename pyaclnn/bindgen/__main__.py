# SPDX-License-Identifier: Apache-2.0
"""The generators as one command, run by the build.

Usage: ``python -m pyaclnn.bindgen INCLUDE CHIPS OUTPUT_DIRECTORY``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .binding import write_binding
from .mock_exports import write_chips, write_fallbacks, write_operators
from .mock_gates import LIBRARIES, write_gates
from .reader import read


def main() -> None:
    """Generate every C source that follows from the headers, which are read once."""
    include, chips, output = map(Path, sys.argv[1:])
    declarations = read(include)
    write_binding(declarations, output / "binding.c")
    write_operators(declarations, output / "operators.c")
    for library in set(LIBRARIES) - {"operators"}:
        write_fallbacks(declarations, library, output / f"{library}_fallbacks.c")
    write_gates(declarations, output)
    write_chips(chips, output / "chips.inc")


if __name__ == "__main__":
    main()
