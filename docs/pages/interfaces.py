# SPDX-License-Identifier: Apache-2.0
"""A page for each public module: its docstring, every public object of it, and what these give."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import pyaclnn
from pyaclnn import reference
from pyaclnn.facts.operators import all_operators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["attributes", "ours", "pages"]

# Names of other modules are used by the package alone, or are the package's own; operators are on
# the pages of operators.
_PUBLIC = {
    *{"ascendc", "ascendc.package", "doctor", "fleet", "pytest_plugin", "reference.ascendc"},
    *{"tiling", "torch"},
    *{*pyaclnn._MODULES} - {"aclnn", "ops"},
}


def pages() -> Mapping[str, Callable[[], Iterator[str]]]:
    """Return what writes a page, by the public module's name; the package itself comes first."""
    names = ["pyaclnn", *(f"pyaclnn.{name}" for name in sorted(_PUBLIC))]
    return {name: partial(_page, name) for name in names}


def _page(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    yield f"# {name}\n\n{inspect.getdoc(module)}\n\n"
    described = all_operators() if module is pyaclnn else {}
    found: list[object] = []
    for public in sorted({*module.__all__} - {*described}):
        if not public.startswith(("__", "pytest_")):  # hooks are pytest's to call
            value = getattr(module, public)
            # From a table or a closure, or a bare value: no source has a text of it.
            is_made = isinstance(value, partial) or "<locals>" in getattr(value, "__qualname__", "")
            is_bare = isinstance(value, (np.dtype, float, type(None))) and public.islower()
            if is_made or is_bare:
                text = inspect.getdoc(value) if is_made else f"It is `{value}`."
                yield f"## `{public}` {{ #{name}.{public} }}\n\n{text}\n\n"
            else:
                yield f"::: {home(module, public)}\n\n"
            found.append(value)
    for kind in found:  # which grows
        for given in _given(kind) if isinstance(kind, type) else ():
            if given not in found:
                found.append(given)
                yield f"::: {given.__module__}.{given.__name__}\n\n"


def ours(kind: type) -> list[type]:
    """Return the classes of this package that a class is made of."""
    return [base for base in kind.__mro__ if base.__module__.startswith("pyaclnn.")]


def attributes(kind: type) -> set[str]:
    """Return the names without an underscore that classes of this package have brought."""
    found: set[str] = set()
    for base in ours(kind):
        here = vars(base)
        found |= set(here).intersection(dir(base))  # without what it says it does not have
        found |= {*here.get("__annotations__", ()), *here.get("__slots__", ())}
    return {name for name in found if not name.startswith("_")}


def _given(kind: type) -> Iterator[type]:
    """Name the classes of this package that public attributes of a class are said to give."""
    for name in sorted(attributes(kind)):
        static = inspect.getattr_static(kind, name, None)
        function = getattr(static, "fget", None) or getattr(static, "__func__", static)
        said = str(getattr(function, "__annotations__", {}).get("return", ""))
        names = getattr(function, "__globals__", {})
        for word in re.findall(r"\w+", said):
            found = names.get(word)
            if isinstance(found, type) and found.__module__.startswith("pyaclnn."):
                yield found


def home(module: Any, name: str) -> str:
    """Where an object is defined, which is where its text stands."""
    found = getattr(module, name)
    where = getattr(found, "__module__", None) or ""
    if module is reference and where != module.__name__:  # its parameters are in the stub
        return f"pyaclnn.reference.operators.{name}"
    own = where.startswith("pyaclnn.") and getattr(found, "__qualname__", "") == name
    if own:
        return f"{where}.{name}"
    return f"{module.__name__}.{name}"
