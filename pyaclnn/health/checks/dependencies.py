# SPDX-License-Identifier: Apache-2.0
"""Dependencies of a library by the rules of the dynamic loader, without loading any.

Source of the order: ld.so(8): DT_RPATH of the library and of the program (unless there is a
DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH, the loader's cache, the system's folders. The contents of
the cache are derived from ``ld.so.conf``. What the program itself needs is loaded before.
"""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyaclnn.base.elf import ElfError, OtherProcessorError, SharedLibrary, read_library
from pyaclnn.base.paths import NOTHING_THERE, ExaminedPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pyaclnn.health.checks.machine import Machine

__all__ = [
    "Closure",
    "Missing",
    "Unmet",
    "close_over",
    "program_of",
    "search_path",
    "system_directories",
]

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

_GLIBC: Final = re.compile(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?")
_GLIBC_RELEASE: Final = re.compile(r"glibc (\d+)\.(\d+)")
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

    def obstacle(self, home: Path) -> tuple[Path, str] | None:
        """Return what keeps the loader from it and why; None if it is just not there.

        Args:
            home: The folder of the package that has it: only there is a folder that may not be
                entered an obstacle, and elsewhere only a file of its name.
        """
        for path, why in self.tried:
            if why == NOTHING_THERE:
                continue
            if os.path.lexists(path):
                return path, why
            if path.resolve().is_relative_to(home.resolve()):
                return path.parent, why
        return None


@dataclass(frozen=True)
class Unmet:
    """A version that a library wants of another, which does not define it.

    Attributes:
        version: The version, e.g. ``GLIBCXX_3.4.30``.
        wanted_by: The library that wants it.
        provider: The library that should define it.
        newest: The newest version of its kind that the provider defines; empty if it has none.
    """

    version: str
    wanted_by: Path
    provider: str
    newest: str

    def __str__(self) -> str:
        """Return it in the words of the loader."""
        words = f"{self.provider}: version `{self.version}' not found"
        return f"{words} (required by {self.wanted_by})"


@dataclass(frozen=True)
class Closure:
    """A library with everything it needs, directly or not.

    Attributes:
        libraries: The libraries found, in the loader's order, the library itself first.
        missing: The libraries not found.
        unmet: Versions that those found do not define, though others of them want these.
    """

    libraries: tuple[SharedLibrary, ...]
    missing: tuple[Missing, ...]
    unmet: tuple[Unmet, ...] = ()

    @property
    def exports(self) -> frozenset[str]:
        """The symbols that a lookup in the library would find."""
        return frozenset().union(*(library.exports for library in self.libraries))

    @property
    def fault(self) -> str:
        """The reason why the loader refuses the library; empty if it does not."""
        if self.missing:
            return f"it needs {self.missing[0].name}, which cannot be found"
        return str(self.unmet[0]) if self.unmet else ""


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


def program_of(machine: Machine) -> Closure | None:
    """Return the Python of a machine with the libraries that it loads at its start.

    None of one that is linked statically, which loads nothing, or that cannot be read.
    """
    path = ExaminedPath(machine.executable)
    try:
        return _close_over(machine, path, read_library(path.resolve(), program=True))
    except (ElfError, OSError):
        return None


def close_over(machine: Machine, path: Path, program: Closure | None = None) -> Closure:
    """Find the dependencies of a library.

    Args:
        machine: The machine.
        path: The library.
        program: The program that loads it, with what that has loaded before; none if None.

    Returns:
        The libraries that were found, and those that were not.

    Raises:
        ElfError: The library itself is unusable.
        OSError: It cannot be read.
    """
    return _close_over(machine, path, read_library(path, machine=platform.machine()), program)


def _close_over(
    machine: Machine, path: Path, first: SharedLibrary, program: Closure | None = None
) -> Closure:
    loaded = program.libraries if program else ()
    known: dict[str, SharedLibrary | Missing] = {found.soname: found for found in loaded}
    known |= {first.soname: first, path.name: first}
    libraries = [first]
    system = system_directories(machine)
    for library in libraries:  # grows while it is gone through
        for name in library.needed:
            if name in known or name in _ALWAYS_THERE:
                continue
            own = [] if library.runpath else [library, *loaded[:1]]
            found = known[name] = _find(machine, name, library, own, system)
            if isinstance(found, SharedLibrary):
                libraries.append(found)
    missing = tuple(gap for gap in known.values() if isinstance(gap, Missing))
    return Closure(tuple(libraries), missing, tuple(_unmet(libraries, known)))


def _unmet(
    libraries: list[SharedLibrary], known: Mapping[str, SharedLibrary | Missing]
) -> Iterator[Unmet]:
    own = _own_release()
    for library in libraries:
        for name, version in library.wants:
            provider = known.get(name)
            if name in _ALWAYS_THERE:
                wanted = _GLIBC.fullmatch(version)
                if wanted and own and (int(wanted[1]), int(wanted[2])) > own:
                    yield Unmet(version, library.path, name, f"GLIBC_{own[0]}.{own[1]}")
            elif isinstance(provider, SharedLibrary) and version not in provider.versions:
                newest = _newest(version.partition("_")[0], provider.versions)
                if provider.versions:  # the loader only warns of one without any
                    yield Unmet(version, library.path, str(provider.path), newest)


def _own_release() -> tuple[int, int] | None:
    """Return the release of the C library of this process, which others here get as well."""
    try:
        release = _GLIBC_RELEASE.match(os.confstr("CS_GNU_LIBC_VERSION") or "")
    except ValueError:  # another C library
        return None
    return (int(release[1]), int(release[2])) if release else None


def _newest(kind: str, versions: Iterable[str]) -> str:
    """Return the highest of the versions of a kind; empty if there is none."""
    numbered = re.compile(rf"{re.escape(kind)}_\d+(\.\d+)*")  # not CXXABI_FLOAT128
    alike = [version for version in versions if numbered.fullmatch(version)]
    return max(alike, key=lambda v: tuple(map(int, re.findall(r"\d+", v))), default="")


def _find(
    machine: Machine,
    name: str,
    wanted_by: SharedLibrary,
    own: list[SharedLibrary],
    system: list[Path],
) -> SharedLibrary | Missing:
    places = [
        *(place for each in own if not each.runpath for place in _expanded(each, each.rpath)),
        *search_path(machine),
        *_expanded(wanted_by, wanted_by.runpath),
        *system,
    ]
    tried: list[tuple[Path, str]] = []
    for place in dict.fromkeys(places):
        candidate = place / name
        try:
            if absence := ExaminedPath(candidate).absence():
                tried.append((candidate, absence))
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
