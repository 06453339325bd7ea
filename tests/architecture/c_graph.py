# SPDX-License-Identifier: Apache-2.0
"""Dependencies between the modules of a C side, read from the source: the mock's, the recorder's.

A module is a `.c` file and the header of the same name. It leans on another when it includes that
one's header, or names a function that the other one defines, which a declaration of its own making
could hide from the first.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.mock.contract import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[2] / "mock_libs"
RECORDER = ROOT.with_name("pyaclnn") / "capture" / "recorder"
_NOISE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_INCLUDE = re.compile(r'^#include "(\w+)\.h"', re.MULTILINE)
_TABLE = re.compile(r'^#include "\w+\.inc"', re.MULTILINE)
_DEFINED = re.compile(r"^(?!static|typedef|#)[\w ]+?[ *]+(\w+)\([^;{}]*\)\n\{", re.MULTILINE)
_DECLARED = re.compile(
    r"\b((?:mock|capture)_\w+)\(|#define ((?:MOCK|CAPTURE)_\w+)|(?:struct|enum|union) (\w+)\s*\{"
)
_EXTERN = re.compile(r"extern [^;]*;")
_ENUM = re.compile(r"enum \w*\s*\{(.*?)\}", re.DOTALL)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
RULE_NAMES = {"mock_rule"} | {f"MOCK_{r.id.upper().replace('-', '_')}" for r in RULES}
"""Declarations of the generated table of rules."""


class Sources:
    """C sources by module, e.g. ``model/stream/stream``.

    Args:
        files: The path of each file below the folder of the sources, and its text.
    """

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._files = dict(sorted(files))
        self._texts: dict[str, str] = {}
        for path, text in self._files.items():
            module = path.rpartition(".")[0]
            self._texts[module] = f"{self._texts.get(module, '')}\n{text}"
        self._by_header = {module.rpartition("/")[2]: module for module in self._texts}
        self._codes = {m: _NOISE.sub("", text) for m, text in self._texts.items()}
        self.definitions = {
            name: module for module, code in self._codes.items() for name in _DEFINED.findall(code)
        }
        """The module that defines a function other modules can call."""

    @property
    def modules(self) -> list[str]:
        """Every module."""
        return list(self._texts)

    @property
    def files(self) -> list[str]:
        """The path of every file."""
        return list(self._files)

    def included(self, module: str) -> set[str]:
        """The modules whose headers a module includes."""
        names = _INCLUDE.findall(self._texts[module])
        return {self._by_header[name] for name in names if name in self._by_header} - {module}

    def called(self, module: str) -> set[str]:
        """The modules whose functions a module names."""
        words = set(_WORD.findall(self._codes[module]))
        return {self.definitions[word] for word in words & set(self.definitions)} - {module}

    def graph(self) -> dict[str, set[str]]:
        """Return the dependencies of every module."""
        return {module: self.included(module) | self.called(module) for module in self.modules}

    def included_in_vain(self, path: str) -> set[str]:
        """The headers of ours that a file includes without naming anything they declare."""
        text, own = self._files[path], path.rpartition("/")[2].rpartition(".")[0]
        words = set(_WORD.findall(_NOISE.sub("", _INCLUDE.sub("", text))))
        names = (set(_INCLUDE.findall(text)) & set(self._by_header)) - {own}
        return {name for name in names if not self._declared(f"{self._by_header[name]}.h") & words}

    def _declared(self, header: str) -> set[str]:
        """Return the declarations of a header."""
        text = _NOISE.sub("", self._files[header])
        names = {name for found in _DECLARED.findall(text) for name in found if name}
        for part in [*_ENUM.findall(text), *_EXTERN.findall(text)]:
            names |= set(_WORD.findall(part))
        return names | (RULE_NAMES if _TABLE.search(self._files[header]) else set())


def read(root: Path) -> Sources:
    """The sources in a folder."""
    paths = (path for path in root.rglob("*") if path.suffix in (".c", ".h"))
    return Sources((p.relative_to(root).as_posix(), p.read_text(encoding="utf-8")) for p in paths)
