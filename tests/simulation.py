# SPDX-License-Identifier: Apache-2.0
"""Selection of the tests that are about the simulated NPU, and so cannot run on a CANN.

Nothing is listed: a test needs the simulation if it carries the plugin's marker, or if what it
runs names the simulation: its own code, what it calls in its module, its parameters and fixtures.
"""

from __future__ import annotations

from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

__all__ = ["NEEDS_IT", "needs_simulation"]

NEEDS_IT = "needs the simulated NPU"
"""Reason why a test is skipped on a CANN."""

_WORDS = ("mock", "MOCK", "simulated")


def needs_simulation(item: pytest.Item) -> bool:
    """Return True if a test cannot run without the simulated NPU.

    Args:
        item: The test.
    """
    if item.get_closest_marker("pyaclnn") is not None:
        return True
    known: Any = item
    given = known.callspec.params.values() if hasattr(known, "callspec") else ()
    fixtures = (
        definitions[-1].func
        for name, definitions in known._fixtureinfo.name2fixturedefs.items()
        if not definitions[-1].func.__module__.endswith("conftest")
    )
    return _speaks_of_it([known.function, *given, *fixtures], set())


def _speaks_of_it(things: Iterable[Any], seen: set[int]) -> bool:
    for thing in things:
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, str) and any(word in thing for word in _WORDS):
            return True
        if _speaks_of_it(_inside(thing), seen):
            return True
    return False


def _inside(thing: Any) -> Iterable[Any]:
    """Return the parts of an object: members of a container, references of a function."""
    if isinstance(thing, dict):
        return [*thing, *thing.values()]
    if isinstance(thing, (tuple, list, set, frozenset)):
        return thing
    if not isinstance(thing, FunctionType) or thing.__module__.startswith("pyaclnn"):
        return ()
    names, constants = zip(*_parts(thing.__code__), strict=True)
    used = {name for group in names for name in group}
    met = [thing.__globals__[name] for name in used if name in thing.__globals__]
    plain = [value for value in met if not isinstance(value, ModuleType)]
    cells = [cell.cell_contents for cell in thing.__closure__ or ()]
    return [*(used & set(_WORDS)), *constants, *plain, *cells]


def _parts(code: CodeType) -> Iterator[tuple[tuple[str, ...], tuple[Any, ...]]]:
    """The names and constants of a function, and of what is defined in it."""
    yield code.co_names, code.co_consts
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)
