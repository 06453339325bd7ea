# SPDX-License-Identifier: Apache-2.0
"""Descriptions of operators: roles, shapes, data types and checks, which no header states.

The headers state C names, C types and their order; the build makes most of them from the table of
all operators (`catalogue`).

A described operator is a constant with its own name in capitals, such as ``RMS_NORM_GRAD``. Its
module in `pyaclnn.facts.operators.norm` has a name whose words are among the operator's, in the
same order, such as ``rms_norm``. A lookup imports that module alone; nothing is registered.
"""

from __future__ import annotations

import functools
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

from pyaclnn.facts.operators import norm
from pyaclnn.facts.operators.description import snake_case
from pyaclnn.facts.operators.on_demand import OnDemand
from pyaclnn.facts.operators.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

__all__ = ["Operator", "all_operators", "by_c_name", "module_of"]


@functools.cache
def all_operators() -> Mapping[str, Operator]:
    """Return the described operators by the names of their public functions, in alphabetical order.

    A lookup imports one description; iteration imports all of them.
    """
    return OnDemand(_find, _names)


@functools.cache
def by_c_name() -> Mapping[str, Operator]:
    """Return the described operators by their C names, as `all_operators` does."""
    return OnDemand(_find_by_c_name, lambda: [found.c_name for found in all_operators().values()])


def module_of(name: str) -> str:
    """Return the name of the module that describes an operator, by its public function's name."""
    module = _module(name)
    return module.__name__ if module else ""


def _module(name: str) -> ModuleType | None:
    words = name.split("_")
    areas = [area for area in _areas() if _in_order(area.split("_"), words)]
    for area in sorted(areas, key=len, reverse=True):
        module = import_module(f"{__name__}.norm.{area}")
        if isinstance(getattr(module, name.upper(), None), Operator):
            return module
    return None


def _find(name: str) -> Operator | None:
    module = _module(name)
    return getattr(module, name.upper()) if module else None


def _find_by_c_name(c_name: str) -> Operator | None:
    found = all_operators().get(snake_case(c_name.removeprefix("aclnn")))
    return found if found is not None and found.c_name == c_name else None


@functools.cache
def _areas() -> tuple[str, ...]:
    """List the modules of descriptions."""
    return tuple(found.name for found in pkgutil.iter_modules(norm.__path__))


def _in_order(few: list[str], many: list[str]) -> bool:
    """Return whether some words occur among others in the same order."""
    rest = iter(many)
    return all(word in rest for word in few)


@functools.cache
def _names() -> list[str]:
    modules = [import_module(f"{__name__}.norm.{area}") for area in _areas()]
    described = (getattr(module, name) for module in modules for name in module.__all__)
    return sorted({found.name for found in described if isinstance(found, Operator)})
