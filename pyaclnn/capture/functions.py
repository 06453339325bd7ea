# SPDX-License-Identifier: Apache-2.0
"""Table of the functions that a capture records: their parameters, as the recorder reads them.

A parameter is a letter behind its name. Those of operators are those of the catalogue: ``t`` is a
tensor, ``T`` a list of them, ``s`` a text, and so on. The others have these as well:

    h       an address or handle           u, k    32 or 16 bits without a sign
    h,P     an address on a device, of as many bytes as parameter P says
    oN      where the answer, of N bytes, is written; o>N if that is a handle or an address
    lN,P    elements of N bytes, counted by parameter P; l=N,P if they are handles
    nN      a structure of N bytes
    v,P     a value of the type that parameter P names
    S       a text that may be a path: its length and hash are recorded, not the text

``>`` and ``=`` behind a letter say that the function writes there, or reads and writes.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.cann import raw
from pyaclnn.cann.headers import read_header
from pyaclnn.cann.signatures import PHASE_1, listed
from pyaclnn.cann.simulator import writtendir
from pyaclnn.capture.roles import Role, role_of, roles
from pyaclnn.facts.interface import functions as interface_functions
from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Recorded", "known", "recorded"]

_HOOKS: Final = (
    *("", "phase-1", "phase-2", "create-tensor", "create-list", "repeatable"),
    *("address", "copy", "collective", "synchronize", "drain", "reset", "graph-begin"),
    *("graph-end", "message", "graph-run", "copy-2d", "end-stream", "drop-stream", "end-context"),
    "query",
)
"""The hooks of the recorder, in the order of ``enum capture_hook``."""
_MARKS: Final = {
    word: mark
    for mark, words in {
        "+": "creates", "+?": "finds", "-": "destroys", "@": "places", "!": "forces", "/": "maps",
        "&": "phase-1 phase-2 repeatable address graph-begin graph-end queued",
        "Q": "harmless", "W": "writes", "A": "allocates", "F": "frees", "G": "guessed",
    }.items()
    for word in words.split()
}  # fmt: skip
"""Marks of the calls that a part of a trace begins with: those that made what is alive, and chose
where it is. Letters say what a call does to memory of a device, whose contents the recorder knows
until something may have written it: ``harmless`` writes none, ``writes`` does before it returns,
``allocates`` makes memory that only calls of the tables write, ``frees`` ends it, ``guessed`` is an
operator whose results no document states, or that writes beyond a tensor's elements. Any other call
with a stream may write anything; one without a stream may also have lent the memory to others."""
_NUMBERS: Final = "int8_t:c uint8_t:c char:c bool:b uint16_t:k int16_t:k int32_t:i int:i uint32_t:u"
_SIZES: Final = dict(
    pair.split(":")
    for pair in f"{_NUMBERS} int64_t:q uint64_t:Q size_t:Q uintptr_t:Q float:f double:d".split()
)
_PHASE_2: Final = (
    ("workspace", "h"),
    ("workspaceSize", "Q"),
    ("executor", "h"),
    ("stream", "h"),
)
_TAIL: Final = (("workspaceSize", "o8"), ("executor", "o>8"))


class Recorded(NamedTuple):
    """A function whose calls are recorded.

    Attributes:
        name: Its C name.
        parameters: The C name of each parameter and its letter, size and mark.
        result: ``i`` for a status, ``p`` for an address or a number, ``v`` for nothing, ``s`` for
            a text.
        role: The words of ``roles.tsv``.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str = "i"
    role: Role = Role()

    @property
    def line(self) -> str:
        """The line of the recorder's table."""
        spec = " ".join(f"{letter}:{name}" for name, letter in self.parameters)
        hook = next((_HOOKS.index(word) for word in self.role if word in _HOOKS), 0)
        marks = "".join(mark for word, mark in _MARKS.items() if word in self.role)
        return f"{self.name}\t{spec}\t{self.result}{marks}#{hook}"


@functools.cache
def recorded(name: str) -> Recorded | None:
    """Return a function of the tables, or None.

    Args:
        name: Its C name.
    """
    role, entry = role_of(name), catalogue().get(name.removesuffix(PHASE_1))
    if entry is not None:
        if not name.endswith(PHASE_1):
            return Recorded(name, _PHASE_2, role=role)
        marks = {(True, False): "", (False, True): ">", (True, True): "=", (False, False): ""}
        own = [(p.name, f"{p.kind}{marks[p.read, p.written]}") for p in entry.parameters]
        return Recorded(name, (*own, *_TAIL), role=role)
    _, given = roles().get(name, (role, ()))
    result = next((letter for letter in "ips" if letter in role), "i")
    declared = _declared(name)
    if declared is None:
        return Recorded(name, given, result, role) if role else None
    names, types, returns = declared
    letters = [_letter(c_type) for c_type in types]
    if any(letter is None for letter in letters):
        return None
    overrides = dict(given)
    pairs = [(n, overrides.get(n, letter or "h")) for n, letter in zip(names, letters, strict=True)]
    return Recorded(name, tuple(pairs), returns, role)


@functools.cache
def _headers() -> Mapping[str, tuple[Sequence[str], Sequence[str], str]]:
    folder = writtendir()
    files = (path for part in ("acl", "aclnn") for path in sorted((folder / part).rglob("*.h")))
    return {
        found.name: (found.parameters, found.types, "i")
        for path in files
        for found in read_header(path).declarations
    }


def _declared(name: str) -> tuple[Sequence[str], Sequence[str], str] | None:
    """Return the names and types of parameters, and the letter of the result."""
    found = _headers().get(name)
    if found is not None or name not in interface_functions():
        return found
    row = listed(name)
    if row is None or "..." in row.text or len(row.types) != len(row.parameters):
        return None
    result = "v" if row.returns == "void" else _letter(row.returns)
    if result in {None, "f", "d"}:  # which no register for numbers has
        return None
    return row.parameters, row.types, result if result in {"i", "v"} else "p"


def _letter(c_type: str) -> str | None:
    """Return the letter of a C type, or None for what is passed in another way."""
    plain = c_type.removeprefix("const ").strip()
    item = plain.rstrip("* ")
    stars = plain.count("*")
    constant = c_type.startswith("const ")
    if not stars:
        return _SIZES.get(plain) or _letter_of_name(plain)
    if item == "char" and stars == 1:
        return "S" if constant else "h"
    if item == "void" and stars == 1:
        return "h"
    size = 8 if stars > 1 else _size_of(item)
    if stars == 1 and size and _is_structure(item):
        return f"n{size}"
    if constant or not size:
        return "h"
    return f"o>{size}" if stars > 1 or _letter(item) == "h" else f"o{size}"


def _letter_of_name(name: str) -> str | None:
    try:
        kind = raw.ffi.typeof(name)
    except Exception:  # noqa: BLE001  # the binding's class of errors is ffi's own
        return None
    if kind.kind == "pointer":
        return "h"
    if kind.kind == "enum":
        return "i"
    return _SIZES.get(kind.cname) if kind.kind == "primitive" else None


def _size_of(name: str) -> int:
    if name in {"void", "char"}:
        return 0
    try:
        return raw.ffi.sizeof(name)
    except Exception:  # noqa: BLE001  # as above; or of a type that nobody knows in full
        return 0


def _is_structure(name: str) -> bool:
    return name not in _SIZES and raw.ffi.typeof(name).kind in {"struct", "union"}


def known(names: Sequence[str]) -> Iterator[str]:
    """Write the recorder's line of each function of a library."""
    for name in names:
        found = recorded(name)
        yield f"{name}\t-\tx" if found is None else found.line
