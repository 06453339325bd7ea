# SPDX-License-Identifier: Apache-2.0
"""Lines that a computed operator costs: of the product, and of its rows of tests.

``python -m tests.mock_device.kernel_lines`` prints them, and the longest files. Every line counts
that is not blank, docstrings, imports and mechanisms included. Operators of aclnn count by their
names of CANN 9.1, single operators by their types; either has its own tables and functions.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.operators.graph_table import graph_expressions
from pyaclnn.reference import implementation

from .cases import CASE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Cost", "costs", "files"]

ROOT: Final = Path(__file__).parents[2]
REFERENCE: Final = ROOT / "pyaclnn" / "reference"
KERNELS: Final = REFERENCE / "kernels"
GRAPH: Final = (
    KERNELS / "graph_functions.py",
    KERNELS / "functions" / "boxes.py",
    ROOT / "pyaclnn" / "mock" / "operators" / "graph_table.txt",
)
"""Files that serve single operators alone."""
DEFINITION: Final = REFERENCE / "arithmetic" / "definition.py"
"""The maker of functions of definitions, which counts with them."""
TESTS: Final = {
    ROOT / "tests" / "mock_device": (
        "kernel_*.*", "cases.py", "oracles.py", "test_*kernel*.py",
    ),
    ROOT / "tests" / "reference": ("*.py",),
}  # fmt: skip
"""Files that compare kernels and definitions with other sources, by their folders."""
MOST: Final = 15
"""Files that are printed."""


class Cost(NamedTuple):
    """Lines of a group of files and the operators that they serve."""

    lines: int
    operators: int

    @property
    def ratio(self) -> float:
        return self.lines / self.operators

    def __str__(self) -> str:
        return f"{self.ratio:5.2f} = {self.lines} / {self.operators}"


def lines_of(path: Path) -> int:
    """Lines of a file that are neither blank nor written by `cases`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(bool(line.strip()) and not line.startswith(CASE) for line in lines)


def files() -> Mapping[str, list[Path]]:
    """Files by what they serve; ``arithmetic`` and ``fast`` are of definitions alone."""
    kernels = [path for path in KERNELS.rglob("*") if path.suffix in {".py", ".txt"}]
    return {
        "aclnn": [p for p in (*REFERENCE.glob("*.py"), DEFINITION, *kernels) if p not in GRAPH],
        "single operators": [*GRAPH],
        "arithmetic and fast": [
            *(p for p in (REFERENCE / "arithmetic").glob("*.py") if p != DEFINITION),
            *(REFERENCE / "fast").glob("*.py"),
        ],
        "tests": [
            path for folder, names in TESTS.items() for n in names for path in folder.glob(n)
        ],
    }


def costs() -> dict[str, Cost]:
    """Lines an operator."""
    lines = {group: sum(map(lines_of, paths)) for group, paths in files().items()}
    names = {*catalogue(), *by_c_name()}
    aclnn = sum(implementation(name) is not None for name in names)
    types = len(graph_expressions())
    return {
        "of aclnn": Cost(lines["aclnn"], aclnn),
        "single operators": Cost(lines["single operators"], types),
        "both": Cost(lines["aclnn"] + lines["single operators"], aclnn + types),
        "of aclnn, with arithmetic and fast versions": Cost(
            lines["aclnn"] + lines["arithmetic and fast"], aclnn
        ),
        "of tests": Cost(lines["tests"], aclnn),
    }


def longest(paths: Iterable[Path]) -> Iterable[tuple[int, str]]:
    """The longest files, with their lines."""
    found = ((lines_of(path), str(path.relative_to(ROOT))) for path in paths)
    return sorted(found, reverse=True)[:MOST]


def main() -> None:
    groups = files()
    found = [f"{cost!s:24} {name}" for name, cost in costs().items()]
    ranked = longest(groups["aclnn"] + groups["single operators"])
    found += [f"{count:6} {name}" for count, name in ranked]
    sys.stdout.write("\n".join(found) + "\n")


if __name__ == "__main__":
    main()
