# SPDX-License-Identifier: Apache-2.0
"""Finder of an editable install's modules by a table, in place of the loader of meson-python.

`tests.editable` copies this file under that loader's name. It runs whenever Python starts, so it
imports little.
"""

from __future__ import annotations

import marshal
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader

TYPE_CHECKING = False  # type checkers know the name; importing it takes longer than all the rest

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

__all__ = ["FILES", "init"]

FILES = "files.marshal"
"""File beside this one: the paths of all installed files, by those that they have in a wheel."""


class _Files:
    """Installed files below a folder, as `importlib.resources` reads them."""

    def __init__(self, table: dict[str, str], folder: str) -> None:
        self._table = table
        self._folder = folder

    def files(self) -> _Files:
        return self

    def joinpath(self, *names: str) -> Path | _Files:
        from pathlib import Path  # noqa: PLC0415  # takes longer than all the rest

        name = "/".join((self._folder, *names))
        return Path(self._table[name]) if name in self._table else _Files(self._table, name)

    def __truediv__(self, name: str) -> Path | _Files:
        return self.joinpath(name)


class _Finder:
    """Finds the modules of the install."""

    _build_path = None

    def __init__(self) -> None:
        self._table: dict[str, str] = {}

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        if name.partition(".")[0] != "pyaclnn":
            return None
        if not self._table:
            with open(f"{__file__.rpartition('/')[0]}/{FILES}", "rb") as file:  # noqa: PTH123
                self._table = marshal.load(file)  # noqa: S302  # written by this run
        stem = name.replace(".", "/")
        for end, is_package in (("/__init__.py", True), (".py", False), (".abi3.so", False)):
            path = self._table.get(stem + end)
            if path is not None:
                return self._spec(name, stem, path, is_package=is_package)
        return None

    def _spec(self, name: str, stem: str, path: str, *, is_package: bool) -> ModuleSpec:
        kind: Any = SourceFileLoader if path.endswith(".py") else ExtensionFileLoader
        loader = kind(name, path)
        loader.get_resource_reader = lambda _name: _Files(self._table, stem)
        spec = ModuleSpec(name, loader, origin=path, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [path.rpartition("/")[0]]
        return spec


def init() -> None:
    """Find modules by the table; called for each file of the install that names this module."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
