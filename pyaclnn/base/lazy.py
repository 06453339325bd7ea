# SPDX-License-Identifier: Apache-2.0
"""Names and implementations that are imported on first use."""

from __future__ import annotations

import os
import sys
import time
from _thread import get_ident
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from types import FrameType

__all__ = ["no_attribute", "provide", "provided", "public_names"]

_providers: dict[str, Callable[[], object]] = {}


_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120
_IMPORTERS = ("<frozen importlib", os.path.join(os.path.dirname(os.__file__), "importlib"))  # noqa: PTH118, PTH120
_PATIENCE = 10.0
_PAUSE = 0.001


def _await_imports() -> None:
    """Wait, before a fork, until other threads have imported what this package needs.

    A lock that an import holds in the parent would stay locked in the child. The wait has a limit:
    an import may wait for what this thread does after the fork.
    """
    end = time.monotonic() + _PATIENCE
    while _imports_elsewhere() and time.monotonic() < end:
        time.sleep(_PAUSE)


def _imports_elsewhere() -> bool:
    """Return whether another thread runs an import that a function of this package began."""
    own = get_ident()
    return any(_imports(top) for thread, top in sys._current_frames().items() if thread != own)  # noqa: SLF001


def _imports(frame: FrameType | None) -> bool:
    within = False
    while frame is not None:
        file = frame.f_code.co_filename
        if within and file.startswith(_PACKAGE):
            return True
        within = file.startswith(_IMPORTERS)
        frame = frame.f_back
    return False


os.register_at_fork(before=_await_imports)


def public_names(
    package: str, names: Collection[str], homes: Collection[str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Create the ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: The package's own name.
        names: Its public names.
        homes: The modules below it that have them (``.name`` for one beside it), each after those
            that it imports; a name is
            taken from the first whose ``__all__`` lists it.

    Returns:
        Both functions.
    """

    def load(name: str) -> object:
        if name not in names:
            raise no_attribute(package, name, names)
        modules = (import_module(f".{home}", package) for home in homes)
        found = (getattr(module, name) for module in modules if name in module.__all__)
        value: object = next(found)
        setattr(sys.modules[package], name, value)
        return value

    def listing() -> list[str]:
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*own, *names})

    return load, listing


def no_attribute(
    package: str, name: str, known: Iterable[str], instead: str = ""
) -> AttributeError:
    """Return the error of a module that lacks a name, with the closest one that it has.

    Args:
        package: The module.
        name: The name that was looked up.
        known: The names that it has.
        instead: Replacement to suggest, if known; else the closest name.
    """
    hint = f"; {instead}" if instead else ""
    # `from package import module` asks the package first, and nobody reads the answer.
    asker = sys._getframe(1).f_back  # noqa: SLF001  # None: C asks, at the bottom of a thread
    is_read = asker is None or asker.f_code.co_name != "_handle_fromlist"
    if is_read and not hint and not name.startswith("_"):
        from pyaclnn.base.spelling import did_you_mean  # noqa: PLC0415  # only errors need it

        hint = did_you_mean(name, known, lead="; ")
    return AttributeError(f"module {package!r} has no attribute {name!r}{hint}", name=name)


def provide(interface: str, load: Callable[[], object]) -> None:
    """Register the implementation of an interface that a lower room declares.

    Args:
        interface: The dotted name of the interface, a class.
        load: Loads and returns the implementation; called on first use.
    """
    _providers[interface] = load


def provided(interface: str) -> Any:
    """Return the registered implementation of an interface, by its dotted name."""
    return _providers[interface]()
