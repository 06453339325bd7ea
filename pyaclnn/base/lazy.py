# SPDX-License-Identifier: Apache-2.0
"""Names and implementations that are imported on first use."""

from __future__ import annotations

import functools
import os
import sys
from _thread import get_ident
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["provide", "provided", "public_names"]

_providers: dict[str, Callable[[], object]] = {}


class _Loads:
    """Imports in progress. A fork waits until those of other threads have ended.

    A lock that an import holds in the parent would stay locked in the child. This counter is not a
    lock itself: imports may wait for each other in any order.
    """

    def __init__(self) -> None:
        self._start()
        os.register_at_fork(
            before=self._await_others, after_in_parent=self._release, after_in_child=self._start
        )

    def _start(self) -> None:
        import threading  # noqa: PLC0415  # importing the package alone does not need it

        self._changed = threading.Condition()
        self._threads: Counter[int] = Counter()

    def _await_others(self) -> None:
        own = get_ident()
        self._changed.acquire()
        # With a limit: an import may wait for what this thread does after the fork.
        self._changed.wait_for(lambda: not self._threads.keys() - {own}, timeout=_PATIENCE)

    def _release(self) -> None:
        self._changed.release()

    def __enter__(self) -> None:
        with self._changed:
            self._threads[get_ident()] += 1

    def __exit__(self, *_: object) -> None:
        own = get_ident()
        with self._changed:
            self._threads[own] -= 1
            if self._threads[own] <= 0:
                del self._threads[own]
            self._changed.notify_all()


_PATIENCE = 10.0


@functools.cache
def _loads() -> _Loads:
    """Return the imports in progress; two threads that begin at once may get one each."""
    return _Loads()


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
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with _loads():
            modules = (import_module(f".{home}", package) for home in homes)
            found = (getattr(module, name) for module in modules if name in module.__all__)
            value: object = next(found)
        setattr(sys.modules[package], name, value)
        return value

    def listing() -> list[str]:
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*own, *names})

    return load, listing


def provide(interface: str, load: Callable[[], object]) -> None:
    """Register the implementation of an interface that a lower room declares.

    Args:
        interface: The dotted name of the interface, a class.
        load: Loads and returns the implementation; called on first use.
    """
    _providers[interface] = load


def provided(interface: str) -> Any:
    """Return the registered implementation of an interface, by its dotted name."""
    with _loads():
        return _providers[interface]()
