# SPDX-License-Identifier: Apache-2.0
"""Differences of an installation: types, names and symbols of its functions.

It compares the declarations of this package, the headers of the installation and the symbols of its
libraries. Libraries contain no types: only headers show that arguments would be misread.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.elf import ElfError, read_library
from pyaclnn.base.files import read_text
from pyaclnn.base.folders import home_folder
from pyaclnn.cann.discovery import (
    header_folders,
    installation_roots,
    library_sets,
)
from pyaclnn.cann.prototypes import differences, read_prototypes
from pyaclnn.cann.signatures import PHASE_1, OperatorHeaders, signature, signatures
from pyaclnn.facts.operators.catalogue import catalogue, plain_type
from pyaclnn.facts.releases import DEFAULT, NEWEST, RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyaclnn.cann.discovery import LibrarySet
    from pyaclnn.cann.signatures import Signature

__all__ = [
    "SEVERITIES",
    "Installation",
    "compare",
    "compare_operators",
    "compare_runtime",
    "find_installation",
]


@dataclass(frozen=True)
class Installation:
    """An installation.

    Attributes:
        root: Its root, as ``ASCEND_HOME_PATH`` names it.
        libraries: Its libraries.
        headers: The headers of its operators.
    """

    root: Path
    libraries: LibrarySet
    headers: OperatorHeaders

    @classmethod
    def at(cls, root: Path) -> Installation | None:
        """Return the installation in a folder; None if there are neither libraries nor headers."""
        found = library_sets(root, flat=True)[0]
        folders = header_folders(found.operators, root)
        if not folders and any(root.glob("aclnn*.h")):
            folders = [root]
        there = found.base.exists() or any(path.exists() for path in found.runtime)
        if not folders and not there and not found.operators:
            return None
        return cls(root, found, OperatorHeaders(folders))


def find_installation(folder: Path | None = None) -> Installation | None:
    """Find an installation.

    Args:
        folder: Its root, the folder of its libraries, or one of operator headers; None for the CANN
            that would be used.

    Returns:
        The installation, or None if there is none.
    """
    usual = installation_roots(os.environ, home_folder(), Path(sys.prefix))
    roots = usual if folder is None else [folder.expanduser()]
    return next((found for root in roots if (found := Installation.at(root)) is not None), None)


SEVERITIES: Final = ("ABI", "missing", "renamed", "const", "new")
"""The worst first: arguments that would be misread; a function that is not there; a parameter of
another name; one that is const on one side only; a function that is not known here."""
HARMFUL: Final = frozenset(SEVERITIES[:2])
"""Severities that make a call impossible or wrong."""
_FOLDERS: Final = ("acl", "aclnn")
_RELEASE_HEADER: Final = "acl/acl_release.h"


@dataclass(frozen=True)
class Difference:
    """One difference.

    Attributes:
        severity: One of ``SEVERITIES``.
        name: The C function; of an operator that is there or not as a whole, its second phase.
        text: The difference in words.
        source: The header or the folder of libraries that shows it.
    """

    severity: str
    name: str
    text: str
    source: str


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison.

    Attributes:
        root: The root of the installation.
        declared: Number of functions in its headers that are known here too.
        exported: Number of functions known here that its libraries export.
        differences: All differences, the worst first.
    """

    root: Path
    declared: int
    exported: int
    differences: tuple[Difference, ...]

    @property
    def harmful(self) -> bool:
        """Return whether a call of one of the functions would fail."""
        return any(found.severity in HARMFUL for found in self.differences)

    def as_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "root": str(self.root),
            "declared": self.declared,
            "exported": self.exported,
            "counts": {
                severity: sum(found.severity == severity for found in self.differences)
                for severity in SEVERITIES
            },
            "differences": [asdict(found) for found in self.differences],
        }


def compare(installation: Installation) -> Comparison:
    """Compare an installation with the declarations of this package.

    Args:
        installation: Its headers are read and its libraries, which may be of any processor.

    Returns:
        The differences. Functions newer than CANN 8.1 are not reported as missing.
    """
    found = list(compare_operators(installation.headers))
    machine = f"{platform.machine()}-linux"
    folders = [installation.root / "include", installation.root / machine / "include"]
    runtime, count = compare_runtime(
        p for f in folders for part in _FOLDERS for p in sorted((f / part).rglob("*.h"))
    )
    found += runtime
    theirs = installation.headers.everything()
    common = sum(signature(name) is not None for name in theirs)
    missing, exported = _compare_exports(installation, theirs)
    found += missing
    order = {severity: number for number, severity in enumerate(SEVERITIES)}
    unique = {(d.severity, d.name): d for d in found}
    ranked = sorted(unique.values(), key=lambda d: (order[d.severity], d.name))
    return Comparison(installation.root, common + count, exported, tuple(ranked))


def compare_operators(headers: OperatorHeaders) -> Iterator[Difference]:
    """Compare the declarations of operators.

    Args:
        headers: Those of an installation; of none, nothing differs.
    """
    theirs = headers.everything()
    if not theirs:
        return
    for name, declared in theirs.items():
        ours = signature(name)
        if ours is not None:
            yield from _compared(ours, declared)
        elif name.endswith(PHASE_1):
            text = "is declared, and not known here"
            yield Difference("new", name.removesuffix(PHASE_1), text, declared.header)
    for name, entry in catalogue().items():
        if DEFAULT in entry.releases and f"{name}{PHASE_1}" not in theirs:
            yield Difference("missing", name, f"no header declares it, as {DEFAULT}'s did", "")


def _compared(ours: Signature, theirs: Signature) -> Iterator[Difference]:
    mine, other = list(map(plain_type, ours.types)), list(map(plain_type, theirs.types))
    source, name = theirs.header, ours.name
    if len(mine) != len(other):
        text = f"takes {len(other)} arguments, not {len(mine)}"
        yield Difference("ABI", name, text, source)
        return
    rows = list(zip(ours.parameters, theirs.parameters, ours.types, theirs.types, strict=True))
    for place, (_, word, c_type, installed) in enumerate(rows, 1):
        if plain_type(c_type) != plain_type(installed):
            text = f"argument {place} ({word}) is {installed}, not {c_type}"
            yield Difference("ABI", name, text, source)
            return
    if not name.endswith(PHASE_1):
        return
    for place, (own, word, c_type, installed) in enumerate(rows[:-2], 1):
        if own != word:
            yield Difference("renamed", name, f"argument {place} is {word}, not {own}", source)
        if c_type != installed and ("*" in c_type):
            text = f"argument {place} ({word}) is {installed}, not {c_type}"
            yield Difference("const", name, text, source)


def compare_runtime(paths: Iterable[Path]) -> tuple[list[Difference], int]:
    """Compare the declarations of functions that are no operators.

    Args:
        paths: The headers of an installation.

    Returns:
        The differences, and the number of functions that both declare.
    """
    # Imported on demand, as everywhere: the headers lie beside the simulated NPU.
    from pyaclnn.cann.simulator import writtendir  # noqa: PLC0415

    known = [s for s in signatures().values() if s.library != "operators"]
    names = frozenset(s.name for s in known)
    mine = read_prototypes((writtendir() / h for h in sorted({s.header for s in known})), names)
    theirs = read_prototypes(paths, names)
    common = mine.keys() & theirs.keys()
    found = []
    for name in sorted(common):
        text = differences(mine[name], theirs[name])
        if text is not None:
            found.append(Difference("ABI", name, text, str(theirs[name].source)))
    return found, len(common)


def _compare_exports(
    installation: Installation, theirs: Mapping[str, Signature]
) -> tuple[list[Difference], int]:
    libraries = installation.libraries
    groups = {
        "runtime": libraries.runtime,
        "base": (libraries.base,),
        "operators": libraries.operators,
    }
    found: list[Difference] = []
    known = dict(signatures())
    release = _declared_release(installation.root)
    count = 0
    for group, paths in groups.items():
        exports = _exports(path for path in paths if path.is_file())
        if not exports:
            continue
        # The installation itself declares its operators.
        wanted = {
            name: "is declared by this installation, and no library exports it"
            for name, declared in theirs.items()
            if group == "operators" and declared.is_in(release)
        } or {
            name: f"is in {DEFAULT}, and no library exports it"
            for name, declared in known.items()
            if declared.library == group and declared.is_in(DEFAULT)
        }
        count += sum(name in exports for name in wanted)
        found += [
            Difference("missing", name, text, str(libraries.directory))
            for name, text in wanted.items()
            if name not in exports
        ]
    return found, count


def _declared_release(root: Path) -> str:
    """Return the release of headers that can declare several, as this project's."""
    try:
        text = read_text(root / "include" / _RELEASE_HEADER)
    except (OSError, UnicodeDecodeError):
        return NEWEST
    chosen = text.rpartition(" ")[2].strip()
    return next((name for name, r in RELEASES.items() if str(r.headers) == chosen), NEWEST)


def _exports(paths: Iterable[Path]) -> frozenset[str]:
    """Return the symbols of libraries and of those beside them that they need."""
    left, seen, found = list(paths), set[str](), set[str]()
    while left:
        path = left.pop()
        if path.name in seen:
            continue
        seen.add(path.name)
        try:
            library = read_library(path)
        except (ElfError, OSError):
            continue
        found |= library.exports
        left += [p for name in library.needed if (p := path.parent / name).is_file()]
    return frozenset(found)
