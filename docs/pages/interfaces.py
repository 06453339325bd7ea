# SPDX-License-Identifier: Apache-2.0
"""A page for each public module: its docstring, and every public object of it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import partial
from typing import TYPE_CHECKING, Any

import pyaclnn
from pyaclnn.operators import all_operators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["pages"]

# Of the modules beside these, names are used by the package alone, or are the package's own.
_PUBLIC = {"ascendc", "doctor", "pytest_plugin", "tiling", *pyaclnn._MODULES}


def pages() -> Mapping[str, Callable[[], Iterator[str]]]:
    """Return what writes a page, by the public module's name; the package itself comes first."""
    modules = sorted(found.name for found in pkgutil.iter_modules(pyaclnn.__path__))
    names = ["pyaclnn", *(f"pyaclnn.{name}" for name in modules if name in _PUBLIC - {"ops"})]
    return {name: partial(_page, name) for name in names}


def _page(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    yield f"# {name}\n\n{inspect.getdoc(module)}\n\n"
    described = all_operators() if module is pyaclnn else {}
    for public in sorted({*module.__all__} - {*described}):
        if not public.startswith(("__", "pytest_")):  # hooks are pytest's to call
            yield f"::: {home(module, public)}\n\n"


def home(module: Any, name: str) -> str:
    """Where an object is defined, which is where its text stands."""
    found = getattr(module, name)
    # A fast version of a definition has no text of its own.
    where = (getattr(found, "__module__", None) or "").replace(".reference.fast.", ".reference.")
    own = where.startswith("pyaclnn.") and getattr(found, "__qualname__", "") == name
    if own:
        return f"{where}.{name}"
    return f"{module.__name__}.{name}"
