# SPDX-License-Identifier: Apache-2.0
"""Descriptions are found in their sources, so that they need not be loaded to be known."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from pyaclnn import reference
from pyaclnn.facts.operators import Operator, all_operators, by_c_name, norm

if TYPE_CHECKING:
    from types import ModuleType


def modules() -> dict[str, ModuleType]:
    """The modules of descriptions by the areas that they are of."""
    names = (found.name for found in pkgutil.iter_modules(norm.__path__))
    return {name: importlib.import_module(f"{norm.__name__}.{name}") for name in names}


def test_what_is_found_in_the_sources_is_what_the_modules_describe() -> None:
    values = [value for module in modules().values() for value in vars(module).values()]
    described = {value.c_name: value for value in values if isinstance(value, Operator)}

    assert dict(by_c_name()) == described
    assert dict(all_operators()) == {found.name: found for found in described.values()}
    assert list(all_operators()) == sorted(all_operators())


def test_an_operator_is_defined_in_an_area_of_the_same_name() -> None:
    described = {
        value.name: area
        for area, module in modules().items()
        for value in vars(module).values()
        if isinstance(value, Operator)
    }
    defined = {name: reference.definition(name).__module__ for name in described}

    assert described == {name: place.rpartition(".")[2] for name, place in defined.items()}
