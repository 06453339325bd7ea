# SPDX-License-Identifier: Apache-2.0
"""Remains of a CANN that cannot be used: broken links, emptied folders, half of its parts.

Sources: CANN: installation guides, for the folders and links that its packages make.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.cann.discovery import HOMES, installation_roots, library_sets
from pyaclnn.health.checks.dependencies import search_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.health.checks.machine import Machine

__all__ = ["Trace", "find_traces"]

_RUNTIMES: Final = ("libascendcl.so", "libacl_rt.so")
_LINKED: Final = ("ascend-toolkit", "nnae", "nnrt")
"""Folders of versions, beside which ``latest`` should lead to one of them."""

_AGAIN: Final = "install the CANN toolkit and the operator package of your chip again"


class Trace(NamedTuple):
    """A remainder of CANN.

    Attributes:
        path: Its path.
        wrong: Its fault.
        cause: A likely cause.
        next_step: The one thing to do next.
    """

    path: str
    wrong: str
    cause: str
    next_step: str


def find_traces(machine: Machine) -> list[Trace]:
    """Find remains where a CANN is expected, first those that a variable names.

    Args:
        machine: The machine to search.
    """
    found = [*_named(machine), *_roots(machine), *_folders(machine), *_on_the_path(machine)]
    return list({trace.path: trace for trace in reversed(found)}.values())[::-1]


def _named(machine: Machine) -> Iterator[Trace]:
    for name in HOMES:
        text = machine.environment.get(name)
        if text:
            yield Trace(
                name,
                f"names {text}, {_state(Path(text))}",
                "the variable is of a CANN that was removed, moved or updated since",
                f"source the set_env.sh of a CANN that is there; if there is none, {_AGAIN}",
            )


def _state(root: Path) -> str:
    """Describe the fault of a root: missing, a link that leads nowhere, without libraries."""
    try:
        root.resolve(strict=True)
    except RuntimeError:  # before Python 3.13: a loop
        return "a link that leads to itself"
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "a link that leads to itself"
        if root.is_symlink():
            return f"a link to {root.readlink()}, which does not exist"
        return "which does not exist" if error.errno == errno.ENOENT else f"unusable: {error}"
    places = ", ".join(library_set.directory.name for library_set in library_sets(root))
    return f"which has none of CANN's libraries in {places}"


def _roots(machine: Machine) -> Iterator[Trace]:
    for root in installation_roots({}, machine.home, machine.prefix):
        place = machine.at(root)
        if place.is_symlink() or place.is_dir():
            yield Trace(
                machine.shown(place),
                _state(place),
                "an installation was removed or interrupted; in a container: only part is mounted",
                _AGAIN,
            )


def _folders(machine: Machine) -> Iterator[Trace]:
    """Find versions to which no link leads, and packages that are no candidates themselves."""
    homes = {root.parent for root in installation_roots({}, machine.home, machine.prefix)}
    bases = {home.parent if home.name == "ascend-toolkit" else home for home in homes}
    for base in sorted(map(machine.at, bases)):
        parents = [base / name for name in _LINKED]
        candidates = [path for parent in parents for path in _inside(parent)]
        for version in [*candidates, *(p for p in _inside(base) if p.name.startswith("cann"))]:
            runtime = next((s for s in library_sets(version) if _has_runtime(s.directory)), None)
            if runtime is not None:
                yield Trace(
                    machine.shown(version),
                    "has CANN's libraries, but no link and no variable leads there",
                    "its set_env.sh was not sourced, or the link beside it was removed",
                    f"source {machine.shown(_script(version))}",
                )


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _has_runtime(folder: Path) -> bool:
    return any((folder / name).exists() for name in _RUNTIMES)


def _script(root: Path) -> Path:
    places = (root / "set_env.sh", root.parent / "set_env.sh", root.parent.parent / "set_env.sh")
    return next((path for path in places if path.exists()), places[0])


def _on_the_path(machine: Machine) -> Iterator[Trace]:
    for folder in search_path(machine):
        if folder.name not in {"devlib", "stub"} and _has_runtime(folder):
            yield Trace(
                str(folder),
                "has CANN's libraries and is on LD_LIBRARY_PATH, but no variable names the CANN",
                "LD_LIBRARY_PATH was set by hand instead of sourcing set_env.sh",
                f"source {_script(folder.parent)}",
            )
