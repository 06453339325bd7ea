# SPDX-License-Identifier: Apache-2.0
"""Dependencies of a library by the rules of the dynamic loader, without loading any.

Source of the order: ld.so(8): DT_RPATH (unless there is a DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH,
the loader's cache, the system's folders. The contents of the cache are derived from ``ld.so.conf``.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyaclnn.base.elf import ElfError, OtherProcessorError, SharedLibrary, read_library
from pyaclnn.base.paths import ExaminedPath

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyaclnn.health.checks.machine import Machine

__all__ = ["ABSENT", "Closure", "Missing", "close_over", "search_path", "system_directories"]

ABSENT: Final = "no such file"
"""Reason of a path at which there is nothing."""

_ALWAYS_THERE: Final = frozenset(
    {
        "libc.so.6",
        "libm.so.6",
        "libdl.so.2",
        "libpthread.so.0",
        "librt.so.1",
        "libutil.so.1",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    }
)
"""Parts of the C library: this Python could not run without them."""

_MOST_INCLUDES: Final = 100
_BETTER: Final = "glibc-hwcaps"
_LEVELS: Final = ("x86-64-v4", "x86-64-v3", "x86-64-v2") if platform.machine() == "x86_64" else ()
"""Levels of processors, the highest first; one that this processor lacks is looked at as well."""


@dataclass(frozen=True)
class Missing:
    """A library that was not found.

    Attributes:
        name: Its name.
        wanted_by: The library that needs it.
        tried: Every path that was tried, with the reason why it failed.
    """

    name: str
    wanted_by: Path
    tried: tuple[tuple[Path, str], ...]


@dataclass(frozen=True)
class Closure:
    """A library with everything it needs, directly or not.

    Attributes:
        libraries: The libraries found, in the loader's order, the library itself first.
        missing: The libraries not found.
    """

    libraries: tuple[SharedLibrary, ...]
    missing: tuple[Missing, ...]

    @property
    def exports(self) -> frozenset[str]:
        """The symbols that a lookup in the library would find."""
        return frozenset().union(*(library.exports for library in self.libraries))


def search_path(machine: Machine) -> list[Path]:
    """Return the folders of LD_LIBRARY_PATH; an empty entry is the current folder."""
    value = machine.environment.get("LD_LIBRARY_PATH", "")
    entries = re.split("[:;]", value) if value else []
    return [place for entry in entries for place in _by_processor(ExaminedPath(entry or "."))]


def _by_processor(folder: Path) -> list[Path]:
    """Return a folder behind those in it that the loader prefers on this processor, if any."""
    better = folder / _BETTER
    if not better.is_dir():
        return [folder]
    return [better / level for level in _LEVELS if (better / level).is_dir()] + [folder]


def system_directories(machine: Machine) -> list[Path]:
    """Return the folders that the loader's configuration names, then the system's own."""
    triplet = f"{platform.machine()}-linux-gnu"
    usual = [f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    configured = list(_configured(machine, "/etc/ld.so.conf", [_MOST_INCLUDES]))
    return [machine.at(entry) for entry in dict.fromkeys([*configured, *usual])]


def _configured(machine: Machine, path: str, left: list[int]) -> Iterator[str]:
    left[0] -= 1
    if left[0] < 0:
        return
    for line in (machine.text(path) or "").splitlines():
        words = line.partition("#")[0].split()
        if words[:1] == ["include"]:
            for pattern in words[1:]:
                absolute = pattern if pattern.startswith("/") else f"/etc/{pattern}"
                relative = absolute.lstrip("/")
                for found in sorted(machine.root.glob(relative)):
                    yield from _configured(machine, str(found), left)
        elif words:
            yield words[0]


def close_over(machine: Machine, path: Path) -> Closure:
    """Find the dependencies of a library.

    Args:
        machine: The machine.
        path: The library.

    Returns:
        The libraries that were found, and those that were not.

    Raises:
        ElfError: The library itself is unusable.
        OSError: It cannot be read.
    """
    first = read_library(path, machine=platform.machine())
    libraries, missing = [first], []
    known = {first.soname or path.name, path.name}
    system = system_directories(machine)
    for library in libraries:  # grows while it is gone through
        for name in library.needed:
            if name in known or name in _ALWAYS_THERE:
                continue
            known.add(name)
            found = _find(machine, name, library, system)
            if isinstance(found, Missing):
                missing.append(found)
            else:
                libraries.append(found)
    return Closure(tuple(libraries), tuple(missing))


def _find(
    machine: Machine, name: str, wanted_by: SharedLibrary, system: list[Path]
) -> SharedLibrary | Missing:
    own = [] if wanted_by.runpath else _expanded(wanted_by, wanted_by.rpath)
    places = [
        *own,
        *search_path(machine),
        *_expanded(wanted_by, wanted_by.runpath),
        *system,
    ]
    tried: list[tuple[Path, str]] = []
    for place in dict.fromkeys(places):
        candidate = place / name
        try:
            if not candidate.exists():
                tried.append((candidate, ABSENT))
            elif not machine.may(candidate, "r"):
                tried.append((candidate, f"not readable: {machine.owner(candidate)}"))
            else:
                return read_library(candidate, machine=platform.machine())
        except OtherProcessorError as error:
            tried.append((candidate, str(error)))
        except ElfError as error:  # here the loader gives up
            tried.append((candidate, str(error)))
            break
        except OSError as error:
            tried.append((candidate, error.strerror or str(error)))
    return Missing(name, wanted_by.path, tuple(tried))


def _expanded(library: SharedLibrary, entries: tuple[str, ...]) -> list[Path]:
    origin = str(library.path.resolve().parent)
    whole = (e.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for e in entries)
    return [ExaminedPath(entry) for entry in whole]
