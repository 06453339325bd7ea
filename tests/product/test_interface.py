# SPDX-License-Identifier: Apache-2.0
"""Whatever can be reached of a public class without an underscore is described in the reference."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import textwrap
from dataclasses import fields
from typing import Any

import pytest

from pyaclnn.ascendc.tiling.structures import TilingStructure

from .commands import ROOT, script

PAGES = script(ROOT / "docs/pages/interfaces.py")
"""The script that writes the pages of the reference."""
TEXT = "".join(part for page in PAGES.pages().values() for part in page())


def shown(name: str) -> object:
    """Names that a page shows; those of a stub of definitions are in the package."""
    module, _, attribute = name.replace(".reference.operators.", ".reference.").rpartition(".")
    return getattr(importlib.import_module(module), attribute)


SHOWN = {name: shown(name) for name in re.findall(r"^::: (\S+)", TEXT, re.MULTILINE)}
CLASSES = {name: found for name, found in SHOWN.items() if isinstance(found, type)}


def described(kind: type, name: str) -> bool:
    """Return whether an attribute is documented, itself or in its class's docstring."""
    if issubclass(kind, TilingStructure) and name in {field.name for field in fields(kind)}:
        return True  # the fields of CANN's structure, told together
    listed = re.compile(rf"^\s*(\w+, )*{name}(, \w+)*( \(.*\))?: ", re.MULTILINE)
    return any(
        listed.search(base.__doc__ or "") or name in texts(base) for base in PAGES.ours(kind)
    )


@functools.cache
def texts(base: type) -> set[str]:
    """The names in the body of a class that have a docstring."""
    [body] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
    assert isinstance(body, ast.ClassDef)
    found: set[Any] = {
        part.name
        for part in body.body
        if isinstance(part, ast.FunctionDef) and ast.get_docstring(part)
    }
    for part, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            found.add(getattr(getattr(part, "target", None), "id", None))
    return found


@pytest.mark.parametrize("name", CLASSES)
def test_each_public_attribute_is_described(name: str) -> None:
    kind = CLASSES[name]
    assert [a for a in sorted(PAGES.attributes(kind)) if not described(kind, a)] == []


def test_what_public_objects_give_is_shown_too() -> None:
    assert {"Pool", "PoolStats", "Workspace"} <= {kind.__name__ for kind in CLASSES.values()}


class Noun:
    """A noun.

    Attributes:
        listed: Has a text.
    """

    listed = 1
    forgotten = 2
    told: int = 3
    """Has one of its own."""

    def method(self) -> None:
        pass


def test_an_attribute_without_a_text_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PAGES, "ours", lambda kind: [kind])
    found = {name: described(Noun, name) for name in PAGES.attributes(Noun)}
    assert found == {"listed": True, "forgotten": False, "told": True, "method": False}
