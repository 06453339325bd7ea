# SPDX-License-Identifier: Apache-2.0
"""The generators as one command, run by the build.

Usage: ``python -m pyaclnn.bindgen INCLUDE CATALOGUE AREAS CHIPS OUTPUT_DIRECTORY``.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

from .binding import write_binding
from .catalogued import read_table, write_headers
from .declarations import RELEASES
from .mock_exports import write_chips, write_fallbacks, write_release
from .mock_gates import LIBRARIES, write_gates
from .operator_table import write_operators
from .reader import read
from .split import write_split


def main() -> None:
    """Generate every C source that follows from the headers, which are read once."""
    include, catalogue, areas, chips, output = map(Path, sys.argv[1:])
    # Every process that imports an editable installation builds it; two may do so at once.
    folder = os.open(output, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        _generate(include, catalogue, areas, chips, output)
    finally:
        os.close(folder)


def _generate(include: Path, catalogue: Path, areas: Path, chips: Path, output: Path) -> None:
    declarations = read(include)
    by_hand = {function.name for function in declarations.functions}
    table = [function for function in read_table(catalogue) if function.name not in by_hand]
    write_binding(declarations, chips.parent / "bindgen", output / "binding.c")
    for name, release in RELEASES.items():
        operators = [f for f in (*declarations.functions, *table) if f.is_in(name)]
        write_operators(operators, output / f"operators_{name}.inc")
        write_split(declarations, operators, release, areas, output)
        write_release(release, output / f"release_{name}.inc")
        for library in LIBRARIES:
            path = output / f"{library}_fallbacks_{name}.c"
            write_fallbacks(declarations, library, name, path)
    write_headers(include, declarations.functions, table, output / "include_stubs")
    write_gates(declarations, output)
    write_chips(chips, output / "chips.inc")


if __name__ == "__main__":
    main()
