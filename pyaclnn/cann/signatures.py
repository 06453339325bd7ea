# SPDX-License-Identifier: Apache-2.0
"""Signatures of the C functions that the headers declare.

The functions of the runtime and of the base library are those of the compiled binding. Operators
are read from headers on demand: those of the installation whose libraries are open,
else those written for this project; an operator without a header is a line of the table of all
operators, of which compilers have their headers too. Other functions that no header here is written
for are rows of the table of the C interface.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn._binding import ffi, lib
from pyaclnn.base.files import read_file
from pyaclnn.base.locks import cached_property
from pyaclnn.facts.interface import functions
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.releases import RELEASES, has

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyaclnn._binding import CData
    from pyaclnn.cann.headers import Declaration
    from pyaclnn.facts.operators.catalogue import Entry

__all__ = [
    "PHASE_1",
    "OperatorHeaders",
    "Signature",
    "listed",
    "own_headers",
    "read_operators",
    "signature",
    "signatures",
]

PHASE_1: Final = "GetWorkspaceSize"
"""Suffix of the name of an operator's first phase."""
_FOLDER: Final = "aclnnop"
_STATUS: Final = "aclnnStatus"
_TAIL_1: Final = {"workspaceSize": "uint64_t *", "executor": "aclOpExecutor **"}
_PHASE_2: Final = {
    "workspace": "void *",
    "workspaceSize": "uint64_t",
    "executor": "aclOpExecutor *",
    "stream": "aclrtStream",
}


class Signature(NamedTuple):
    """One declared function.

    Attributes:
        name: Its C name.
        header: The header that declares it, e.g. ``aclnnop/aclnn_rms_norm.h``.
        since: The CANN version whose headers first have it.
        library: The group of libraries that provides it: runtime, base or operators.
        parameters: The C names of its parameters.
        types: Their C types, e.g. ``const aclTensor *``; of operators only.
        returns: The C type of its result; of operators only.
        until: The first later CANN version that does not have it any more, or None.
        text: Its C text, if it is a row of the table of the C interface.
    """

    name: str
    header: str
    since: str
    library: str
    parameters: tuple[str, ...]
    types: tuple[str, ...] = ()
    returns: str = ""
    until: str | None = None
    text: str = ""

    def is_in(self, release: str) -> bool:
        """Return whether a release such as ``9.1`` has it."""
        return has(release, self.since, self.until)

    @property
    def declaration(self) -> str:
        """The declaration in C; of operators only."""
        rows = zip(self.types, self.parameters, strict=True)
        return f"{self.returns} {self.name}({', '.join(f'{t} {name}' for t, name in rows)});"

    @property
    def c_type(self) -> str:
        """The type of a pointer to the function; of what the binding does not compile only."""
        if self.text:
            return re.sub(rf"\b{self.name}\(", "(*)(", self.text, count=1)
        return f"{self.returns}(*)({', '.join(self.types) or 'void'})"


class OperatorHeaders:
    """The headers of operators in some folders, each read on the first use of one of its names.

    Attributes:
        folders: The folders, best first: what several declare is taken from the first.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        """Look at folders, in which there may be nothing."""
        self.folders = tuple(folders)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Every header, in the order of folders."""
        from pyaclnn.cann.headers import no_header  # noqa: PLC0415  # few programs read headers

        there = (path for folder in self.folders for path in sorted(folder.glob("*.h")))
        return tuple(path for path in there if no_header(path) is None)

    @cached_property
    def _index(self) -> Mapping[str, Path]:
        """Candidate header of each operator; a comment can name one too: the reader decides."""
        from pyaclnn.cann.headers import LARGEST, declared_in  # noqa: PLC0415  # likewise

        found: dict[str, Path] = {}
        for path in self.paths:
            for name in declared_in(read_file(path, "a header", most=LARGEST)):
                if name not in found or (
                    name in _operators_in(path) and name not in _operators_in(found[name])
                ):
                    found[name] = path
        return found

    def find(self, name: str) -> Signature | None:
        """Return a function that is declared here, or None; reads no header but its own.

        Args:
            name: Its C name.
        """
        operator = name.removesuffix(PHASE_1)
        entry = catalogue().get(operator)
        # Most lie where they always did, so that the other files need not be opened.
        usual = [] if entry is None else [folder / entry.header for folder in self.folders]
        for path in usual:
            if path.is_file() and name in _operators_in(path):
                return _operators_in(path)[name]
        indexed = self._index.get(operator)
        # A function without a first phase is in no index.
        return (self.everything() if indexed is None else _operators_in(indexed)).get(name)

    def operators(self) -> set[str]:
        """Return the C names of the second phases of all operators that are declared here."""
        return {n.removesuffix(PHASE_1) for n in self.everything() if n.endswith(PHASE_1)}

    @functools.cache  # noqa: B019  # there is one of these for a backend, and it stays
    def everything(self) -> Mapping[str, Signature]:
        """Return all that is declared here, by C name; reads every header."""
        found: dict[str, Signature] = {}
        for path in self.paths:
            for name, declared in _operators_in(path).items():
                found.setdefault(name, declared)
        return found


class _Table(OperatorHeaders):
    """The table of all operators, from which their headers are generated."""

    def find(self, name: str) -> Signature | None:
        """Return a function of the table."""
        entry = catalogue().get(name.removesuffix(PHASE_1))
        return None if entry is None else _listed(entry, name)

    def operators(self) -> set[str]:
        """Return the C names of the table, without a signature of each."""
        return set(catalogue())

    @functools.cache  # noqa: B019  # as above
    def everything(self) -> Mapping[str, Signature]:
        """Return all of the table, by C name."""
        return {
            name: _listed(entry, name)
            for operator, entry in catalogue().items()
            for name in (f"{operator}{PHASE_1}", operator)
        }


def _text(value: CData) -> str:
    return ffi.string(value).decode()


@functools.cache
def signatures() -> Mapping[str, Signature]:
    """Return every function of this project's headers and table, by its C name."""
    return {**_compiled(), **own_headers().everything()}


def signature(name: str, installed: OperatorHeaders | None = None) -> Signature | None:
    """Return a function that is declared somewhere, or None; reads no header but its own.

    Args:
        name: Its C name.
        installed: The headers of an installation, which come before all others.
    """
    known = _compiled().get(name)
    if known is None and installed is not None:
        known = installed.find(name)
    if known is None:
        known = own_headers().find(name)
    return listed(name) if known is None else known


@functools.cache
def listed(name: str) -> Signature | None:
    """Return a function of the table of the C interface, or None.

    Args:
        name: Its C name.
    """
    # Only who calls these functions by name pays for it.
    from pyaclnn.bindgen.declarations import Function  # noqa: PLC0415
    from pyaclnn.cann.headers import parameter_types  # noqa: PLC0415

    row = functions().get(name)
    if row is None:
        return None
    library = Function(name, "", (), False, row.header, row.since, listed=True).library
    before, _, inside = row.text.partition(f"{name}(")
    types, returns = parameter_types(inside[:-1]), before.strip()
    names = row.parameters
    return Signature(
        name, row.header, row.since, library, names, types, returns, row.until, row.text
    )


def _listed(entry: Entry, name: str) -> Signature:
    """Return the signature of a phase of an operator by the table."""
    rows = _PHASE_2
    if name.endswith(PHASE_1):
        rows = {**{p.name: p.c_type for p in entry.parameters}, **_TAIL_1}
    later = itertools.dropwhile(lambda release: not entry.is_in(release), RELEASES)
    return Signature(
        name,
        f"{_FOLDER}/{entry.header}",
        next(later),
        "operators",
        tuple(rows),
        tuple(rows.values()),
        _STATUS,
        next((release for release in later if not entry.is_in(release)), None),
    )


def read_operators(path: Path) -> Mapping[str, Signature]:
    """Read a header of operators.

    Args:
        path: The file.

    Returns:
        The understood declarations by C name.
    """
    from pyaclnn.cann.headers import read_header  # noqa: PLC0415  # few programs read headers

    header = f"{_FOLDER}/{path.name}"
    return {d.name: _of(d, header) for d in read_header(path).declarations}


def _of(found: Declaration, header: str) -> Signature:
    names, types = found.parameters, found.types
    return Signature(
        found.name, header, found.since, "operators", names, types, found.returns, found.until
    )


@functools.cache
def _compiled() -> Mapping[str, Signature]:
    rows = (lib.binding_functions[i] for i in range(lib.binding_function_count))
    return {
        name: Signature(
            name,
            _text(row.header),
            _text(row.since),
            _text(row.library),
            tuple(filter(None, _text(row.parameters).split(","))),
        )
        for row in rows
        for name in [_text(row.name)]
    }


@functools.cache
def own_headers() -> OperatorHeaders:
    """Return this project's declarations of operators."""
    return _Table(())


def _operators_in(path: Path) -> Mapping[str, Signature]:
    return _of_header(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=2048)
def _of_header(path: Path, _changed: int) -> Mapping[str, Signature]:
    """Return the declarations of a header in its state at a time."""
    return read_operators(path)
