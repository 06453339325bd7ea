# SPDX-License-Identifier: Apache-2.0
"""Public names of a package that are loaded on first use, so that importing it costs nothing."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["public_names"]


def public_names(
    package: str, names: Collection[str], homes: Collection[str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Make what a package needs as its ``__getattr__`` and ``__dir__``.

    Args:
        package: The package's own name.
        names: Its public names.
        homes: The modules below it that have them, each after those that it imports; a name is
            taken from the first whose ``__all__`` lists it.

    Returns:
        Both functions.
    """

    def load(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        modules = (import_module(f"{package}.{home}") for home in homes)
        value: object = next(getattr(module, name) for module in modules if name in module.__all__)
        setattr(sys.modules[package], name, value)
        return value

    def listing() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return load, listing
