# SPDX-License-Identifier: Apache-2.0
"""Reads function declarations from C and C++ headers, tolerantly, and compares them.

CANN's own operator headers are C++ (``<cstdint>``, ``constexpr``), which a C parser refuses. What
has to be known of them is one thing only: which types a function takes and returns. So comments and
preprocessor lines are dropped and declarations of known names are picked out of the rest.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.files import read_text
from pyaclnn.cann.headers import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import TypeAlias

    _Parts: TypeAlias = tuple[str, str, tuple[str, ...], str]

__all__ = ["Prototype", "differences", "prototypes_in", "read_prototypes"]

_NOISE: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.DOTALL | re.MULTILINE
)
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ATTRIBUTE: Final = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\[\[[^\]]*\]\]")
_CANDIDATE: Final = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_WORD: Final = re.compile(r"[A-Za-z_]\w*(?:::\w+)*|\*|&|\.\.\.|\[\s*\d*\s*\]|\(|\)|,")
_WITHOUT_MEANING: Final = frozenset(
    {"const", "volatile", "struct", "enum", "union", "extern", "register", "restrict", "inline"}
)
_SPELLINGS: Final = {
    "std::int32_t": "int32_t",
    "std::int64_t": "int64_t",
    "std::uint32_t": "uint32_t",
    "std::uint64_t": "uint64_t",
    "std::size_t": "size_t",
    "_Bool": "bool",
    "aclError": "int32_t",
    "aclnnStatus": "int32_t",
    "int": "int32_t",
    "signed": "int32_t",
    "unsigned": "uint32_t",
    "aclFloat16": "uint16_t",
    # The runtime's handles are pointers to nothing in particular.
    **dict.fromkeys(
        (
            "aclrtStream",
            "aclrtEvent",
            "aclrtContext",
            "aclrtBinary",
            "aclrtBinHandle",
            "aclrtFuncHandle",
            "aclrtArgsHandle",
            "aclrtParamHandle",
            "aclrtDrvMemHandle",
            "aclrtTaskGrp",
        ),
        "void*",
    ),
}
_LENGTHS: Final = {
    ("unsigned", "long", "long"): "uint64_t",
    ("unsigned", "long"): "uint64_t",
    ("unsigned", "int"): "uint32_t",
    ("unsigned", "char"): "uint8_t",
    ("unsigned", "short"): "uint16_t",
    ("long", "long"): "int64_t",
    ("long",): "int64_t",
}


class Prototype(NamedTuple):
    """A declared function, as far as callers depend on it.

    Attributes:
        name: Its C name.
        returns: The type it returns, normalized.
        parameters: The types it takes, normalized: no names, no ``const``, handles as ``void*``.
        text: The declaration as in the header, on one line.
        source: The header.
    """

    name: str
    returns: str
    parameters: tuple[str, ...]
    text: str
    source: Path


def read_prototypes(paths: Iterable[Path], names: frozenset[str]) -> dict[str, Prototype]:
    """Read the declarations of some functions.

    Args:
        paths: Headers; one that cannot be read is passed over.
        names: The functions to look for.

    Returns:
        The first declaration of each function that was found.
    """
    found: dict[str, Prototype] = {}
    for path in paths:
        try:
            source = read_text(path, "a header", most=LARGEST, errors="replace")
        except OSError:
            continue
        for name, prototype in prototypes_in(source, path, names).items():
            found.setdefault(name, prototype)
    return found


def prototypes_in(source: str, path: Path, names: frozenset[str]) -> dict[str, Prototype]:
    """Read the declarations of some functions from text.

    Args:
        source: The text.
        path: The header.
        names: The functions to look for.
    """
    found: dict[str, Prototype] = {}
    for parts in _read(source, names):
        found.setdefault(parts[0], Prototype(*parts, path))
    return found


# Most headers are the same in two installations, or in one and here.
@functools.lru_cache(maxsize=2048)
def _read(source: str, names: frozenset[str]) -> tuple[_Parts, ...]:
    code = _ATTRIBUTE.sub(" ", _NOISE.sub(" ", source))
    code = _STRING.sub(" ", code.replace('extern "C"', " "))
    found = (_prototype(code, m) for m in _CANDIDATE.finditer(code) if m[1] in names)
    return tuple(parts for parts in found if parts is not None)


def _prototype(code: str, match: re.Match[str]) -> _Parts | None:
    end = _closing(code, match.end() - 1)
    if end is None or not code[end + 1 :].lstrip().startswith((";", "noexcept")):
        return None
    start = max(code.rfind(mark, 0, match.start()) for mark in ";{}")
    result = code[start + 1 : match.start()]
    words = [word for word in _WORD.findall(result) if not word.isupper()]
    if not words or "return" in words or "=" in result or "typedef" in words:
        return None
    inside = code[match.end() : end]
    parameters = tuple(_type(part, named=True) for part in _split(inside) if part.strip())
    return (
        match[1],
        _type(" ".join(words), named=False),
        () if parameters == ("void",) else parameters,
        " ".join(f"{' '.join(words)} {match[1]}({inside})".split()).replace(" *", "*"),
    )


def _closing(code: str, opening: int) -> int | None:
    depth = 0
    for index in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[index], 0)
        if depth == 0:
            return index
    return None


def _split(inside: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(inside):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(inside[start:index])
            start = index + 1
    return [*parts, inside[start:]]


def _type(text: str, *, named: bool) -> str:
    """Normalize a type; a parameter's name, if it has one, is what ends it."""
    words: list[str] = _WORD.findall(text.partition("=")[0])
    if "(" in words:
        return "function*"
    arrays = sum(word.startswith("[") for word in words)
    stars = "*" * (words.count("*") + words.count("&") + arrays)
    plain = [
        word
        for word in words
        if word not in {"*", "&"} | _WITHOUT_MEANING and not word.startswith("[")
    ]
    if plain == ["..."]:
        return "..."
    for spelling, normal in _LENGTHS.items():
        if tuple(plain[: len(spelling)]) == spelling:
            return normal + stars
    base = plain[0] if plain else ""
    if not named and len(plain) > 1:
        base = plain[-1]
    return _SPELLINGS.get(base, base) + stars


def differences(ours: Prototype, theirs: Prototype) -> str | None:
    """Describe how two declarations of a function differ for a caller; None if they do not."""
    if len(ours.parameters) != len(theirs.parameters):
        return f"takes {len(theirs.parameters)} arguments, not {len(ours.parameters)}"
    for index, (mine, other) in enumerate(zip(ours.parameters, theirs.parameters, strict=True), 1):
        if mine != other:
            return f"argument {index} is {other}, not {mine}"
    if ours.returns != theirs.returns:
        return f"returns {theirs.returns}, not {ours.returns}"
    return None
