# SPDX-License-Identifier: Apache-2.0
"""TOML files of the package, and texts with names in braces."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

# Not on first use: that may be after Ctrl-C, and a named tuple of it would make Python forget that
# it has to end by that signal.
if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["fill", "read_rows", "read_toml"]

Row = TypeVar("Row")

_PATTERN: Final = "pattern"
"""Key of a regular expression, whose braces count repetitions."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file of the package."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def read_rows(path: Path, kind: Callable[..., Row], **texts: object) -> tuple[Row, ...]:
    """Read a TOML file of the package with a table for each row, whose name is the row's ``name``.

    Args:
        path: The file.
        kind: Builds a row from its values.
        texts: Texts for names in braces; a regular expression has none.
    """
    return tuple(
        kind(
            name=fill(name, texts),
            **{k: v if k == _PATTERN else fill(v, texts) for k, v in row.items()},
        )
        for name, row in read_toml(path).items()
    )


def fill(value: Any, texts: Mapping[str, object]) -> Any:
    """Return a value of a TOML file with texts in the places of their names.

    Args:
        value: The value. In its texts ``{name}`` is replaced; a brace itself is written twice, and
            a line break is a space.
        texts: The texts by name.

    Returns:
        The value, its lists as tuples.

    Raises:
        KeyError: There is no text for a name.
    """
    if isinstance(value, str):
        filled = value.format_map(texts)
        return " ".join(filled.split()) if "\n" in value else filled
    if isinstance(value, list):
        return tuple(fill(part, texts) for part in value)
    if isinstance(value, dict):
        return {key: fill(part, texts) for key, part in value.items()}
    return value
