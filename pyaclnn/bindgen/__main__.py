# SPDX-License-Identifier: Apache-2.0
"""The generators as one command, run by the build.

Usage: ``python -m pyaclnn.bindgen INCLUDE CATALOGUE CHIPS OUTPUT_DIRECTORY``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .binding import write_binding
from .catalogued import read_table, write_headers
from .mock_exports import write_chips, write_fallbacks, write_operators
from .mock_gates import LIBRARIES, write_gates
from .reader import read


def main() -> None:
    """Generate every C source that follows from the headers, which are read once."""
    include, catalogue, chips, output = map(Path, sys.argv[1:])
    declarations = read(include)
    by_hand = {function.name for function in declarations.functions}
    table = [function for function in read_table(catalogue) if function.name not in by_hand]
    write_binding(declarations, output / "binding.c")
    operators = [f for f in (*declarations.functions, *table) if f.since == "8.1"]
    write_operators(operators, output / "operators.inc")
    write_headers(include, table, output / "include_stubs")
    for library in LIBRARIES:
        write_fallbacks(declarations, library, output / f"{library}_fallbacks.c")
    write_gates(declarations, output)
    write_chips(chips, output / "chips.inc")


if __name__ == "__main__":
    main()
