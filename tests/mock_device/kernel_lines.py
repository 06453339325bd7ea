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
TESTS: Final = ("kernel_cases.txt", "oracles.py", "cases.py", "test_kernels.py", "test_aten.py",
                "aten_*.py", "test_group_kernels.py", "test_kernel_variants.py")  # fmt: skip
MOST: Final = 15
"""Files that are printed."""


class Cost(NamedTuple):
    """Lines of a group of files and the operators that they serve."""

    lines: int
    operators: int

    def __str__(self) -> str:
        return f"{self.lines / self.operators:5.2f} = {self.lines} / {self.operators}"


def lines_of(path: Path) -> int:
    """Lines of a file that are not blank."""
    return sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())


def files() -> Mapping[str, list[Path]]:
    """Files by what they serve; ``arithmetic`` and ``fast`` are of definitions alone."""
    kernels = [path for path in KERNELS.rglob("*") if path.suffix in {".py", ".txt"}]
    return {
        "aclnn": [path for path in (*REFERENCE.glob("*.py"), *kernels) if path not in GRAPH],
        "single operators": [*GRAPH],
        "arithmetic and fast": [
            *(REFERENCE / "arithmetic").glob("*.py"),
            *(REFERENCE / "fast").glob("*.py"),
        ],
        "tests": [path for name in TESTS for path in Path(__file__).parent.glob(name)],
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
        "tests of kernels": Cost(lines["tests"], aclnn),
    }


def longest(paths: Iterable[Path]) -> Iterable[tuple[int, str]]:
    """The longest files, with their lines."""
    found = ((lines_of(path), str(path.relative_to(ROOT))) for path in paths)
    return sorted(found, reverse=True)[:MOST]


def main() -> None:
    for name, cost in costs().items():
        sys.stdout.write(f"{cost!s:24} {name}\n")
    groups = files()
    for count, name in longest(groups["aclnn"] + groups["single operators"]):
        sys.stdout.write(f"{count:6} {name}\n")


if __name__ == "__main__":
    main()
