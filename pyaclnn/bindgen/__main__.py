# SPDX-License-Identifier: Apache-2.0
"""The generators as one command, run by the build.

Usage: ``python -m pyaclnn.bindgen INCLUDE INTERFACE CATALOGUE ENTRY_POINTS ALTERNATIVES CHIPS
OUTPUT_DIRECTORY``.
"""

from __future__ import annotations

import fcntl
import filecmp
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .binding import write_binding
from .catalogued import read_interface, read_table, write_declared, write_headers
from .declarations import RELEASES
from .mock_exports import write_alternatives, write_chips, write_release
from .mock_gates import write_gates
from .operator_table import write_operators
from .reader import read
from .split import write_split

_DECLARED = "declared"
"""The headers as compilers need them: those written by hand, completed from the table."""
_HEADERS = "include_stubs"
"""The headers that are installed; the table completes them when a compiler needs them."""


def main() -> None:
    """Generate every C source that follows from the headers, which are read once."""
    *sources, output = map(Path, sys.argv[1:])
    # Every process that imports an editable installation builds it; two may do so at once.
    folder = os.open(output, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        with TemporaryDirectory(dir=output) as fresh:
            _generate(*sources, output=Path(fresh))
            place(Path(fresh), output)
    finally:
        os.close(folder)


def place(fresh: Path, output: Path) -> None:
    """Put what was generated in its place, but for what is there already and the same.

    An unchanged file is not written, so that nothing is compiled again. Stale headers are removed.

    Args:
        fresh: The folder it was generated into.
        output: That of the build.
    """
    made = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for name in made:
        target = output / name
        if not target.is_file() or not filecmp.cmp(fresh / name, target, shallow=False):
            target.parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).replace(target)
    for folder in (_DECLARED, _HEADERS):
        for path in (output / folder).rglob("*"):
            if path.is_file() and path.relative_to(output) not in made:
                path.unlink()


def _generate(  # a file each
    include: Path,
    interface: Path,
    catalogue: Path,
    entry_points: Path,
    alternatives: Path,
    chips: Path,
    *,
    output: Path,
) -> None:
    rows = read_interface(interface)
    write_declared(include, rows, output / _DECLARED)
    declarations = read(output / _DECLARED, {row.name: row.header for row in rows})
    table = read_table(catalogue)
    write_binding(declarations, Path(__file__).parent, output / "binding.c")
    for name, release in RELEASES.items():
        operators = [f for f in table if f.is_in(name)]
        write_operators(operators, output / f"operators_{name}.inc")
        write_split(declarations, operators, release, output)
        write_release(release, output / f"release_{name}.inc")
    write_headers(include, declarations.functions, output / _HEADERS)
    write_gates(declarations, entry_points, output)
    write_alternatives(declarations.functions, alternatives, output / "alternatives.inc")
    write_chips(chips, output / "chips.inc")


if __name__ == "__main__":
    main()
