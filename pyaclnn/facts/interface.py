# SPDX-License-Identifier: Apache-2.0
"""C interface of CANN outside the operators, as far as no header is written by hand.

Each row of the table is a declaration: its header, its releases, and its C text without the
semicolon. Headers for compilers, the simulated NPU's refusals, ``raw`` and the stand-in for pyACL
follow from it. The build reads it too, before the package can be imported, so that this module
imports nothing of the package.

Sources: the headers of CANN 8.1.RC1; CANN: runtime, ge, hcomm and mstx of 9.x.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Row", "constants", "functions", "interface"]

_FILE: Final = f"{__file__.rpartition('.')[0]}.tsv"
_NAMES: Final = (
    r"^#\w+ (\S+)",
    r"^(?:struct|union) (\w+)",
    r"^typedef [^{]*?\(\*(\w+)\)\(",
    r"^typedef .*?(\w+)$",
    r"(\w+)\(",
)
"""Patterns of the name that a declaration declares; the first that fits counts."""
_NO_FUNCTION: Final = ("#", "typedef ", "struct ", "union ", "static ")


class Row(NamedTuple):
    """A declaration.

    Attributes:
        header: The header that has it, e.g. ``acl/acl_mdl.h``.
        since: The first release that has it.
        until: The first later release that does not have it any more, or None.
        text: Its C text.
    """

    header: str
    since: str
    until: str | None
    text: str

    @property
    def name(self) -> str:
        """The name that it declares; of an include, the word itself."""
        found = next(filter(None, (re.search(pattern, self.text) for pattern in _NAMES)))
        return found[1]

    @property
    def function(self) -> str | None:
        """The name of the function that it declares, or None."""
        return None if self.text.startswith(_NO_FUNCTION) else self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, if it declares a function."""
        inside = self.text[self.text.index("(") + 1 : -1]
        inside = re.sub(r"\(\*(\w+)\)\([^()]*\)|\[\w*\]", r" \1", inside)
        names = (re.search(r"(\w+) *$", part) for part in inside.split(","))
        return tuple(name[1] for name in names if name and name[1] != "void")

    @property
    def constants(self) -> Mapping[str, int]:
        """The numbers that it defines: of enumerators, or of a macro."""
        enumerators = re.findall(r"(\w+) = (-?\w+)", self.text) if " enum " in self.text else []
        macro = re.fullmatch(r"#define (\w+) (-?\d\w*)", self.text)
        rows = [*enumerators, *([macro.groups()] if macro else [])]
        return {name: int(value.rstrip("uUlL"), 0) for name, value in rows}


@functools.cache
def interface() -> tuple[Row, ...]:
    """Return every row, each header's in an order that compiles."""
    with open(_FILE, encoding="utf-8") as file:  # noqa: PTH123  # pathlib costs more than all this
        return tuple(_row(*line.rstrip("\n").split("\t")) for line in file)


def _row(header: str, releases: str, text: str) -> Row:
    since, _, until = releases.partition(",-")
    return Row(header, since, until or None, text)


@functools.cache
def functions() -> Mapping[str, Row]:
    """Return the functions, by name."""
    return {row.function: row for row in interface() if row.function}


@functools.cache
def constants() -> Mapping[str, int]:
    """Return the numbers of enumerators and macros, by name."""
    return {name: number for row in interface() for name, number in row.constants.items()}
