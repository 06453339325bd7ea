# SPDX-License-Identifier: Apache-2.0
"""The generators as one command, run by the build.

Usage: ``python -m pyaclnn.bindgen INCLUDE CATALOGUE ENTRY_POINTS CHIPS OUTPUT_DIRECTORY``.
"""

from __future__ import annotations

import fcntl
import filecmp
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .binding import write_binding
from .catalogued import read_table, write_headers
from .declarations import RELEASES
from .mock_exports import write_chips, write_fallbacks, write_release
from .mock_gates import LIBRARIES, write_gates
from .operator_table import write_operators
from .reader import read
from .split import write_split

_HEADERS = "include_stubs"


def main() -> None:
    """Generate every C source that follows from the headers, which are read once."""
    include, catalogue, entry_points, chips, output = map(Path, sys.argv[1:])
    # Every process that imports an editable installation builds it; two may do so at once.
    folder = os.open(output, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        with TemporaryDirectory(dir=output) as fresh:
            _generate(include, catalogue, entry_points, chips, Path(fresh))
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
    for path in (output / _HEADERS).rglob("*"):
        if path.is_file() and path.relative_to(output) not in made:
            path.unlink()


def _generate(
    include: Path, catalogue: Path, entry_points: Path, chips: Path, output: Path
) -> None:
    declarations = read(include)
    table = read_table(catalogue)
    write_binding(declarations, Path(__file__).parent, output / "binding.c")
    for name, release in RELEASES.items():
        operators = [f for f in table if f.is_in(name)]
        write_operators(operators, output / f"operators_{name}.inc")
        write_split(declarations, operators, release, output)
        write_release(release, output / f"release_{name}.inc")
    for library in LIBRARIES:  # the newest release has whatever one has
        write_fallbacks(declarations, library, name, output / f"{library}_fallbacks.c")
    write_headers(include, declarations.functions, output / _HEADERS)
    write_gates(declarations, entry_points, output)
    write_chips(chips, output / "chips.inc")


if __name__ == "__main__":
    main()
