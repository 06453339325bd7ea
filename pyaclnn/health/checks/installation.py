# SPDX-License-Identifier: Apache-2.0
"""Installations of CANN: their roots, libraries, packages and versions, and remains of them.

Sources: CANN: ascend_toolkit_install.info, version.cfg and version.info of 8.1; CANN: share/info of
9.1; CANN: platform_config of both; CANN: installation guides, for the folders and links that its
packages make.
"""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.locks import cached_property
from pyaclnn.base.paths import NOTHING_THERE, ExaminedPath
from pyaclnn.cann.discovery import (
    HOMES,
    header_folders,
    installation_roots,
    is_for_linking,
    library_sets,
)
from pyaclnn.cann.signatures import OperatorHeaders
from pyaclnn.health.checks.dependencies import search_path
from pyaclnn.health.checks.digits import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.cann.discovery import LibrarySet
    from pyaclnn.health.checks.machine import Machine

__all__ = [
    "KERNELS",
    "Installation",
    "Trace",
    "find_installations",
    "find_traces",
    "gap_in_kernels",
    "operator_root",
    "order_of",
]

KERNELS: Final = "built-in/op_impl/ai_core/tbe/kernel"
"""The folder of an operator package's kernels, with a folder for each kind of chip."""

_BRACKETED: Final = re.compile(r"\[(?:([^:\]]*):)?([^\]]*)\]")
_RUNNING: Final = "_running_version"


def operator_root(root: Path, named: str | None) -> Path:
    """Return the folder of the operator packages, chosen as CANN does.

    Source: CANN: opbase, package lookup: ``opp_latest`` below the root, ASCEND_OPP_PATH.

    Args:
        root: The root of the installation.
        named: The value of ASCEND_OPP_PATH.
    """
    latest = root / "opp_latest"
    if latest.exists():
        return latest
    return ExaminedPath(named) if named else root / "opp"


def gap_in_kernels(operators: Path) -> str:
    """Return the first folder of the kernels that is absent, unreadable, empty or misplaced.

    Args:
        operators: The folder of the operator packages.

    Returns:
        The folder and its fault; empty if there is none.
    """
    base = operators / KERNELS
    above = [folder for folder in reversed(base.parents) if folder.is_relative_to(operators)]
    above += [base, base / "config"]
    chips = sorted({path.name for place in above[-2:] for path in place.glob("ascend*")})
    of_chips = [place / chip for chip in chips for place in above[-2:]]
    for folder in (*above, *of_chips):
        try:
            names = [path.name for path in folder.iterdir()]
        except OSError as error:
            return f"{folder}: {error.strerror}"
        if names == [folder.name] or (not names and folder in of_chips):
            return f"{folder} {'has only another folder of its name' if names else 'is empty'}"
    return "" if chips else f"{base} has no folder of a chip"


@dataclass(frozen=True)
class PackageVersion:
    """The version of one package of an installation, and the file that records it."""

    package: str
    version: str
    source: Path


@dataclass(frozen=True)
class Installation:
    """One installed CANN, or the simulated NPU.

    Attributes:
        machine: The machine on which it is.
        root: Its root, as it was named.
        libraries: Its libraries.
    """

    machine: Machine
    root: Path
    libraries: LibrarySet

    @property
    def real(self) -> Path:
        """The root without symbolic links, the same for all names of one installation."""
        return self.root.resolve()

    @property
    def runtime(self) -> Path | None:
        """The runtime library, if it exists."""
        return next((path for path in self.libraries.runtime if path.exists()), None)

    @cached_property
    def packages(self) -> tuple[PackageVersion, ...]:
        """The version of each package, from the files of the installation."""
        return (*self._of_version_cfg(), *self._of_share_info())

    def _of_version_cfg(self) -> list[PackageVersion]:
        path = self.root / "version.cfg"
        found = []
        for key, text in (self.machine.settings(path) or {}).items():
            match = _BRACKETED.search(text)
            if key.endswith(_RUNNING) and match:
                found.append(PackageVersion(key.removesuffix(_RUNNING), match[2], path))
        return found

    def _of_share_info(self) -> list[PackageVersion]:
        found = []
        for path in sorted(self.root.glob("share/info/*/version.info")):
            version = (self.machine.settings(path) or {}).get("Version")
            if version:
                found.append(PackageVersion(path.parent.name, version, path))
        return found

    @cached_property
    def version(self) -> str | None:
        """The version of CANN, e.g. ``8.1.RC1``; None if no file records it."""
        toolkit = self.root / f"{platform.machine()}-linux" / "ascend_toolkit_install.info"
        named = (self.machine.settings(toolkit) or {}).get("version")
        if named:
            return named
        known = {package.package: package.version for package in self.packages}
        return known.get("runtime") or known.get("toolkit") or next(iter(known.values()), None)

    @property
    def split(self) -> bool:
        """Return whether the operators are in ``libopapi_nn.so`` and the like (since CANN 8.5)."""
        return any(path.name.startswith("libopapi_") for path in self.libraries.operators)

    @property
    def operator_root(self) -> Path:
        """The folder of the operator packages, chosen as CANN does."""
        return operator_root(self.root, self.machine.environment.get("ASCEND_OPP_PATH"))

    @property
    def chip_folder(self) -> Path:
        """The folder that describes the supported chips, a file each."""
        return self.root / f"{platform.machine()}-linux/data/platform_config"

    @property
    def set_env(self) -> Path:
        """The script to source; beside ``latest`` or in the root itself."""
        for candidate in (self.root / "set_env.sh", self.root.parent / "set_env.sh"):
            if candidate.exists():
                return candidate
        return self.root / "set_env.sh"

    def include_directories(self) -> list[Path]:
        """The folders of its C headers that exist."""
        candidates = (self.root / "include", self.root / f"{platform.machine()}-linux" / "include")
        existing = {path.resolve(): path for path in candidates if path.is_dir()}
        return list(existing.values())

    def operator_headers(self) -> OperatorHeaders:
        """The headers of its operators, which 8.1 has beside their implementation."""
        return OperatorHeaders(header_folders(self.libraries.operators, self.root))


def find_installations(machine: Machine, choice: str) -> list[Installation]:
    """Find the installations of a backend.

    Args:
        machine: The machine to search.
        choice: ``cann``, ``mock`` or a folder.

    Returns:
        Every place with at least one of the libraries, the one in use first. A place with several
        names is listed once for each.
    """
    if choice == "cann":
        roots = [
            root if _is_real(machine, root) else machine.at(root)
            for root in installation_roots(machine.environment, machine.home, machine.prefix)
        ]
    elif choice == "mock":
        # Imported on demand: a machine with CANN does not need the simulated NPU.
        from pyaclnn.mock import libdir  # noqa: PLC0415

        roots = [libdir()]
    else:
        roots = [Path(os.path.expanduser(choice))]  # noqa: PTH111  # never raises
    return [
        Installation(machine, ExaminedPath(root), libraries)
        for root in dict.fromkeys(roots)
        for libraries in library_sets(ExaminedPath(root), flat=choice != "cann")[:1]
        if _anything(libraries)
    ]


def _is_real(machine: Machine, root: Path) -> bool:
    """Return whether a path is a real one: named by the user, or below a folder that is."""
    if str(root) in {text.rstrip("/") for text in machine.environment.values()}:
        return True
    return root.is_relative_to(machine.home) or root.is_relative_to(machine.prefix)


def _anything(libraries: LibrarySet) -> bool:
    existing = (path.exists() for path in (*libraries.runtime, libraries.base))
    return any(existing) or bool(libraries.operators)


def order_of(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions by time: 8.1.RC1, then 8.1.0, then 8.1.1.

    Args:
        version: For example ``8.1.RC1``, ``8.3.RC1.alpha002``, ``9.1.0-beta.3`` or ``25.0.rc1``.

    Returns:
        A tuple to compare with those of other versions.
    """
    text = version.lower()
    numbers = [whole_number(part) for part in re.findall(r"(?<![a-z])\d+", text.split("-")[0])]
    candidate = re.search(r"rc\.?(\d+)", text)
    early = re.search(r"(alpha|beta)\.?(\d+)", text)
    if candidate:
        numbers = numbers[:2]
    head = [*numbers, 0, 0, 0][:3]
    stage = {"alpha": -3, "beta": -2}.get(early[1], 0) if early else -1 if candidate else 0
    last = candidate[1] if candidate else early[2] if early else "0"
    return (*head, stage, whole_number(last))


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
                f"names {text}, {_state(machine, ExaminedPath(text))}",
                "the variable is of a CANN that was removed, moved or updated since",
                f"source the set_env.sh of a CANN that is there; if there is none, {_AGAIN}",
            )


def _state(machine: Machine, root: Path) -> str:
    """Describe the fault of a root: missing, a link that leads nowhere, without libraries."""
    if absence := ExaminedPath(root).absence():
        return "which does not exist" if absence == NOTHING_THERE else absence
    real = root.resolve()
    where = "which" if real == root else f"a link to {machine.shown(real)}, which"
    for child in _inside(real):
        if any(_has_runtime(library_set.directory) for library_set in library_sets(child)):
            return f"{where} has CANN one level deeper, in {machine.shown(child)}"
    if not real.is_dir():
        return f"{where} is no folder"
    folders = (each.directory.relative_to(root) for each in library_sets(root))
    places = ", ".join(map(str, folders))
    return f"{where} has none of CANN's libraries in {places}"


def _roots(machine: Machine) -> Iterator[Trace]:
    for root in installation_roots({}, machine.home, machine.prefix):
        place = machine.at(root)
        if place.is_symlink() or place.is_dir():
            yield Trace(
                machine.shown(place),
                _state(machine, place),
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
        if not is_for_linking(folder) and _has_runtime(folder):
            yield Trace(
                str(folder),
                "has CANN's libraries and is on LD_LIBRARY_PATH, but no variable names the CANN",
                "LD_LIBRARY_PATH was set by hand instead of sourcing set_env.sh",
                f"source {_script(folder.parent)}",
            )
