# SPDX-License-Identifier: Apache-2.0
"""Tables of explanations that are read from files on first use."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from pyaclnn.base.locks import cached_property
from pyaclnn.base.toml import fill, read_toml
from pyaclnn.facts.explanations.needles import Index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Table", "Texts", "lines_of"]


class HasPattern(Protocol):
    """Row with a pattern."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern."""


Key = TypeVar("Key")
Row = TypeVar("Row")
Fitting = TypeVar("Fitting", bound=HasPattern)

_PATTERN: Final = "pattern"
"""Key of a regular expression, in which braces also count repetitions."""
_NAME: Final = re.compile(r"\{([a-z_]+)\}")
"""Name of a text in a regular expression."""
_FOLDER: Final = Path(__file__).parent


class Table(Mapping[Key, Row]):
    """Read-only mapping from codes to rows of TOML files, read on first use.

    Under ``each``, a file has what counts for all of its rows.

    Args:
        files: Pattern of the files, below the folder of this module.
        row: Builds a key and its row from a code of a file and its value.
    """

    def __init__(self, files: str, row: Callable[[str, Any], tuple[Key, Row]]) -> None:
        self._files = files
        self._row = row

    @cached_property
    def groups(self) -> Mapping[str, Mapping[Key, Row]]:
        """Rows by the title of their file, in the order of the files' names."""
        groups = {}
        for path in sorted(_FOLDER.glob(self._files)):
            file = read_toml(path)
            texts = {**_shared(), **file.get("texts", {})}
            rows = {code: _filled(row, texts, file) for code, row in file["codes"].items()}
            groups[str(file["title"])] = dict(itertools.starmap(self._row, rows.items()))
        return groups

    @cached_property
    def _rows(self) -> Mapping[Key, Row]:
        return {code: row for group in self.groups.values() for code, row in group.items()}

    def __getitem__(self, code: Key) -> Row:
        """Return the row of a code."""
        return self._rows[code]

    def __iter__(self) -> Iterator[Key]:
        """Return the codes, file by file."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of codes."""
        return len(self._rows)


class Texts(Table[str, Fitting]):
    """Table of rows with patterns, indexed by the texts that these need."""

    @cached_property
    def _index(self) -> tuple[Index, list[tuple[str, Fitting]]]:
        return Index([row.pattern for row in self.values()]), list(self.items())

    def near(self, text: str) -> Iterator[tuple[str, Fitting]]:
        """Yield the ids and rows whose patterns may match a text, in order.

        Args:
            text: The text.
        """
        index, rows = self._index
        return map(rows.__getitem__, index.near(text))

    def matches(self, text: str) -> Iterator[tuple[str, Fitting, re.Match[str]]]:
        """Yield the ids and rows whose patterns match a text, in order, and the matches.

        Args:
            text: The text.
        """
        for key, row in self.near(text):
            match = row.pattern.search(text)
            if match:
                yield key, row, match


def _filled(row: Any, texts: Mapping[str, str], file: Mapping[str, Any]) -> Any:
    if not isinstance(row, dict):
        return row
    filled = {
        key: _NAME.sub(lambda name: texts[name[1]], text) if key == _PATTERN else fill(text, texts)
        for key, text in row.items()
    }
    return {**file.get("each", {}), **filled}


def lines_of(name: str) -> Iterator[list[str]]:
    """Split the lines of a file with tabs into their cells; comments do not count.

    Args:
        name: Name of the file in the folder of this module.
    """
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


@functools.cache
def _shared() -> Mapping[str, str]:
    return read_toml(_FOLDER / "shared.toml")
