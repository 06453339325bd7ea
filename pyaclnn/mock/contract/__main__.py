# SPDX-License-Identifier: Apache-2.0
"""Generator of the rules for the C side, run by the build: ``python -m contract OUTPUT_DIRECTORY``.

It runs before ``pyaclnn`` can be imported, so this folder imports nothing of it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from . import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .rule import Rule

__all__ = ["write_rules"]

_GENERATED = "/* Generated from pyaclnn/mock/contract. */"


def write_rules(rules: Sequence[Rule], output: Path) -> None:
    """Write the rules: numbers for C code, and the texts a report needs.

    Args:
        rules: In the order of their numbers.
        output: The folder of ``rule_numbers.inc`` and ``rule_texts.inc``.
    """
    lines = [_GENERATED, "#ifndef MOCK_RULE_NUMBERS", "#define MOCK_RULE_NUMBERS"]
    lines += ["enum mock_rule {"]
    lines += [f"    MOCK_{rule.id.upper().replace('-', '_')}," for rule in rules]
    lines += ["    MOCK_RULE_COUNT", "};", "#endif"]
    (output / "rule_numbers.inc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = [_GENERATED]
    texts += [f"{{{_quote(r.id)}, {_quote(r.title)}, {_quote(r.fix)}}}," for r in rules]
    (output / "rule_texts.inc").write_text("\n".join(texts) + "\n", encoding="utf-8")


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


if __name__ == "__main__":
    write_rules(RULES, Path(sys.argv[1]))
