# SPDX-License-Identifier: Apache-2.0
"""Rules that the simulated NPU checks: the only table of them.

Each TOML file beside this module has the rules about one kind of object: a table for each rule, by
its id, with the attributes of `Rule`. In a snippet, ``$name`` is replaced by the text of that name
in the file's table ``snippets``. The C side gets its numbers and texts from here when it is built,
which is before ``pyaclnn`` can be imported: this folder imports nothing of it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .rule import Rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["RULES", "Rule"]

_NAME: Final = re.compile(r"\$(\w+)")


def _read(path: Path) -> Iterator[Rule]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    snippets = tables.pop("snippets", {})
    for rule_id, row in tables.items():
        wrong, right = (_replace_names(row.pop(key), snippets) for key in ("wrong", "right"))
        yield Rule(id=rule_id, wrong=wrong, right=right, **row)


def _replace_names(code: str, snippets: Mapping[str, str]) -> str:
    replaced = _NAME.sub(lambda name: snippets[name[1]].rstrip("\n"), code).rstrip("\n")
    return replaced if replaced == code.rstrip("\n") else _replace_names(replaced, snippets)


RULES: Final = tuple(
    rule for path in sorted(Path(__file__).parent.glob("*.toml")) for rule in _read(path)
)
"""Every rule, in the order of the files and of the rules in them."""
