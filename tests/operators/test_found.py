# SPDX-License-Identifier: Apache-2.0
"""Descriptions are found by their names, so that a lookup loads one module."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from pyaclnn import reference
from pyaclnn.facts import operators
from pyaclnn.facts.operators import Operator, all_operators, by_c_name, norm

if TYPE_CHECKING:
    from types import ModuleType

    import pytest


def modules() -> dict[str, ModuleType]:
    """The modules of descriptions by the areas that they are of."""
    names = (found.name for found in pkgutil.iter_modules(norm.__path__))
    return {name: importlib.import_module(f"{norm.__name__}.{name}") for name in names}


def test_every_description_of_every_module_is_found() -> None:
    values = [value for module in modules().values() for value in vars(module).values()]
    described = {value.c_name: value for value in values if isinstance(value, Operator)}

    assert dict(by_c_name()) == described
    assert dict(all_operators()) == {found.name: found for found in described.values()}
    assert list(all_operators()) == sorted(all_operators())


def test_a_name_finds_its_description_without_the_list_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = dict(all_operators())
    monkeypatch.setattr(operators, "_names", list[str])

    found = all_operators.__wrapped__()

    assert list(found) == []
    assert {name: found[name] for name in known} == known
    for unknown in ("add", "rms_norm_of_another", "norm_", "", "_"):
        assert unknown not in all_operators()
    for unknown in ("aclnnAdd", "rms_norm", "aclnnRMSNorm", "aclnn"):
        assert unknown not in by_c_name()


def test_an_operator_is_defined_in_an_area_of_the_same_name() -> None:
    described = {
        value.name: area
        for area, module in modules().items()
        for value in vars(module).values()
        if isinstance(value, Operator)
    }
    defined = {name: reference.definition(name).__module__ for name in described}

    assert described == {name: place.rpartition(".")[2] for name, place in defined.items()}
