# SPDX-License-Identifier: Apache-2.0
"""Tables of explanations that are read from TOML files on first use."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Table"]

Key = TypeVar("Key")
Row = TypeVar("Row")

_FOLDER: Final = Path(__file__).parent


class Table(Mapping[Key, Row]):
    """Read-only mapping from codes to rows of TOML files, read on first use.

    Args:
        files: Pattern of the files, below the folder of this module.
        row: Builds a key and its row from a code of a file and its value.
    """

    def __init__(self, files: str, row: Callable[[str, Any], tuple[Key, Row]]) -> None:
        self._files = files
        self._row = row

    @functools.cached_property
    def groups(self) -> Mapping[str, Mapping[Key, Row]]:
        """Rows by the title of their file, in the order of the files' names."""
        groups = {}
        for path in sorted(_FOLDER.glob(self._files)):
            file = _read(path)
            texts = {**_read(_FOLDER / "shared.toml"), **file.get("texts", {})}
            filled = _fill(file["codes"], texts).items()
            groups[str(file["title"])] = dict(itertools.starmap(self._row, filled))
        return groups

    @functools.cached_property
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


@functools.cache
def _read(path: Path) -> Mapping[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415  # most programs never need an explanation
    else:
        import tomli as tomllib  # noqa: PLC0415  # as above
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _fill(value: Any, texts: Mapping[str, str]) -> Any:
    """Return a value with shared texts in the places of their names, and lists as tuples."""
    if isinstance(value, str):
        return value.format_map(texts)
    if isinstance(value, list):
        return tuple(_fill(part, texts) for part in value)
    return {key: _fill(part, texts) for key, part in value.items()}
