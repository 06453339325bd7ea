# SPDX-License-Identifier: Apache-2.0
"""Generator of the C sources of the mock libraries that follow from declarations and data.

The alternatives to functions that refuse; the table of simulated chips; the description of a
simulated release.
"""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

from .declarations import GENERATED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .declarations import Function, Release

__all__ = ["write_alternatives", "write_chips", "write_release"]


def write_alternatives(functions: Iterable[Function], table: Path, output: Path) -> None:
    """Write the alternatives to functions that refuse, as C initialisers.

    Args:
        functions: The declared functions.
        table: ``alternatives.tsv``, a line each: a function, or a header that has several, and the
            alternative.
        output: The file to write.
    """
    rows = dict(line.split("\t") for line in table.read_text("utf-8").splitlines())
    found = ((f.name, rows.get(f.name, rows.get(f.header))) for f in functions)
    lines = (f'{{"{name}", "{text}"}},' for name, text in found if text is not None)
    output.write_text("\n".join([GENERATED, *lines]) + "\n", encoding="utf-8")


def write_release(release: Release, output: Path) -> None:
    """Write the description of a release as a C initialiser."""
    major, minor, rest = release.version.split(".")
    texts = ", ".join(f'"{text}"' for text in (release.name, release.version, major, minor, rest))
    interface = ", ".join(map(str, release.interface))
    output.write_text(
        f"{GENERATED}\n{texts}, {{{interface}}}, {release.headers}\n", encoding="utf-8"
    )


def write_chips(chips: Path, output: Path) -> None:
    """Write the table of simulated chips as C initialisers, the one by default first.

    Args:
        chips: The module that reads the table; the package cannot be imported yet.
        output: The file to write.
    """
    known = runpy.run_path(str(chips), run_name="chips")
    rows = sorted(known["all_chips"](), key=lambda chip: chip.soc_name != known["DEFAULT_SOC_NAME"])
    lines = [GENERATED]
    for chip in rows:
        names = f'"{chip.soc_name}", "{chip.family}", {str(chip.bfloat16).lower()}'
        numbers = (chip.memory_bytes, chip.ai_cores, chip.vector_cores, chip.streams, chip.events)
        lines.append(f"{{{names}, {', '.join(map(str, numbers))}, {chip.l2_bytes}}},")
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")
