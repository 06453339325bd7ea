# SPDX-License-Identifier: Apache-2.0
"""What the headers declare about each C function.

The functions of the runtime and of the base library are those of the compiled binding. Operators
are read from their headers when they are asked for.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn._binding import ffi, lib
from pyaclnn.cann.headers import declared_in, read_header

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyaclnn._binding import CData
    from pyaclnn.cann.headers import Declaration

__all__ = ["PHASE_1", "Signature", "read_operators", "signature", "signatures"]

PHASE_1: Final = "GetWorkspaceSize"
"""What the name of an operator's first phase ends in."""
_FOLDER: Final = "aclnnop"


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
    """

    name: str
    header: str
    since: str
    library: str
    parameters: tuple[str, ...]
    types: tuple[str, ...] = ()
    returns: str = ""

    @property
    def c_type(self) -> str:
        """The type of a pointer to the function; of operators only."""
        return f"{self.returns}(*)({', '.join(self.types) or 'void'})"


def _text(value: CData) -> str:
    return ffi.string(value).decode()


@functools.cache
def signatures() -> Mapping[str, Signature]:
    """Return every declared function by its C name; reads every header of operators."""
    found = dict(_compiled())
    for path in _headers():
        found.update(read_operators(path))
    return found


def signature(name: str) -> Signature | None:
    """Return a declared function, or None; reads no header but its own.

    Args:
        name: Its C name.
    """
    known = _compiled().get(name)
    if known is not None:
        return known
    path = _header_of().get(name.removesuffix(PHASE_1))
    # What has no first phase is in no index.
    return (signatures() if path is None else _of_header(path)).get(name)


def read_operators(path: Path) -> Mapping[str, Signature]:
    """Read a header of operators.

    Args:
        path: The file.

    Returns:
        What it declares and could be understood, by C name.
    """
    header = f"{_FOLDER}/{path.name}"
    return {d.name: _of(d, header) for d in read_header(path).declarations}


def _of(found: Declaration, header: str) -> Signature:
    names, types = found.parameters, found.types
    return Signature(found.name, header, found.since, "operators", names, types, found.returns)


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


def _headers() -> list[Path]:
    # Imported on demand: who calls no operator needs no headers.
    from pyaclnn.mock import includedir  # noqa: PLC0415

    return sorted((includedir() / _FOLDER).glob("*.h"))


@functools.cache
def _header_of() -> Mapping[str, Path]:
    """Where each operator may be declared: a comment can name one too, so the reader decides."""
    found: dict[str, Path] = {}
    for path in _headers():
        for name in declared_in(path.read_bytes()):
            if name not in found or name in _of_header(path):
                found[name] = path
    return found


@functools.lru_cache(maxsize=64)
def _of_header(path: Path) -> Mapping[str, Signature]:
    return read_operators(path)
