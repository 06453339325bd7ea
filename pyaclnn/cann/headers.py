# SPDX-License-Identifier: Apache-2.0
"""Reader of the C headers of operators, without a preprocessor and without a C compiler.

Such a header declares functions and nothing else, so that what is left when comments, directives
and attributes are taken away is a list of declarations. Each header is read for itself: two of
CANN's own share an include guard, and one of them would be lost. Anything not understood is
reported with its file and line, and costs only itself.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.files import read_text, refusal
from pyaclnn.facts.releases import DEFAULT, RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "LARGEST",
    "Declaration",
    "Header",
    "declared_in",
    "no_header",
    "parameter_types",
    "read_header",
]

_BLANK: Final = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | ("(?:[^"\\\n]|\\.)*") | ^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_ATTRIBUTE: Final = re.compile(
    r"""__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)
    | \bACL_DEPRECATED_MESSAGE\s*\((?:"(?:[^"\\\n]|\\.)*"|[^()])*\) | \bACL_DEPRECATED\b
    | \b(?:ACLNN_API|ACL_STUBS_OPERATOR|(?:ACL|OP_API)_FUNC_VISIBILITY)\b
    | \bACL_STUBS_NEWER\s*\([^()]*\) | \bACL_STUBS_C_(?:BEGIN|END)\b | \bextern\s+"C"\s*\{?""",
    re.DOTALL | re.VERBOSE,
)
_FUNCTION: Final = re.compile(r"\b(aclnnStatus|aclError|int32_t|int)\s+(\w+)\s*\(([^()]*)\)\s*;")
_PARAMETER: Final = re.compile(
    r"(?:(const)\s+)?((?:unsigned\s+)?[A-Za-z_]\w*)(?:\s+(const)\b)?\s*((?:\*\s*(?:const\b\s*)?)*)"
    r"([A-Za-z_]\w*)\s*(\[\w*\])?"
)
_REST: Final = re.compile(r"(?:typedef\s+)?(?:enum|struct)\b[^{};]*(?:\{[^{}]*\})?[^{};]*;|[\s{};]")
_NEWER: Final = re.compile(
    r"^[ \t]*#[ \t]*(?:(if)\b(.*)|(ifn?def)\b|(else|elif)\b|(endif)\b)", re.MULTILINE
)
_CONDITION: Final = re.compile(r"ACL_STUBS_CANN\s*(>=|<)\s*(\d+)")
_ORDER: Final = list(RELEASES)
_BY_LEVEL: Final = {release.headers: name for name, release in RELEASES.items()}
_LONG: Final = 160
LARGEST: Final = 8 << 20
"""The limit of a header's size in bytes."""


class Declaration(NamedTuple):
    """A function as a header declares it.

    Attributes:
        name: Its C name.
        returns: The C type of its result.
        types: The C types of its parameters, as ``const aclTensor *``.
        parameters: Their names.
        since: The first release that has it.
        line: The line of the header.
        until: The first later release that does not have it any more, or None.
    """

    name: str
    returns: str
    types: tuple[str, ...]
    parameters: tuple[str, ...]
    since: str
    line: int
    until: str | None = None


class Header(NamedTuple):
    """Contents of a header.

    Attributes:
        declarations: Its functions, in order.
        problems: The declarations that were not understood, each with its file and line.
    """

    declarations: tuple[Declaration, ...]
    problems: tuple[str, ...]


def no_header(path: Path) -> str | None:
    """Return why a file that is named as a header cannot be one; None if it can.

    Args:
        path: The file.
    """
    return refusal(path, "a header", most=LARGEST)


def read_header(path: Path) -> Header:
    """Read one header.

    Args:
        path: The file.

    Raises:
        OSError: It cannot be read.
    """
    text = read_text(path, "a header", most=LARGEST, errors="replace")
    declarations, problems = _read(text)
    return Header(declarations, tuple(f"{path}:{line}: {what}" for line, what in problems))


# Most headers are the same in two installations, or in one and here.
@functools.lru_cache(maxsize=2048)
def _read(text: str) -> tuple[tuple[Declaration, ...], tuple[tuple[int, str], ...]]:
    limited = list(_limited_parts(text))
    plain = _ATTRIBUTE.sub(_same_length, _BLANK.sub(_same_length, text))
    found: list[Declaration] = []
    problems: list[tuple[int, str]] = []
    at = 0
    for match in _FUNCTION.finditer(plain):
        problems += _left_over(plain, at, match.start())
        at = match.end()
        line = plain.count("\n", 0, match.start()) + 1
        pairs, unclear = _parameters(match[3])
        if unclear:
            problems.append((line, f"{match[2]}: parameter {unclear!r}"))
            continue
        around = [limits for start, end, limits in limited if start <= match.start() < end]
        since = max([DEFAULT, *(limit.since for limit in around)], key=_ORDER.index)
        until = next((limit.until for limit in around if limit.until), None)
        types, names = tuple(kind for kind, _ in pairs), tuple(name for _, name in pairs)
        found.append(Declaration(match[2], match[1], types, names, since, line, until))
    problems += _left_over(plain, at, len(plain))
    return tuple(found), tuple(problems)


def declared_in(text: bytes) -> Iterator[str]:
    """Return the names that may be operators of a header: those of a first phase, in its text."""
    for match in re.finditer(rb"\b(\w+)GetWorkspaceSize\s*\(", text):
        yield match[1].decode()


def _same_length(match: re.Match[str]) -> str:
    """Blank out what was found, so that what follows stays at its place; strings stay."""
    kept = match.re is _BLANK and match[1]
    return match[0] if kept else "\n".join([" " * len(line) for line in match[0].split("\n")])


class _Limits(NamedTuple):
    """The releases that have a stretch of a header, as in `Declaration`."""

    since: str
    until: str | None


def _limits_of(condition: str) -> _Limits | None:
    known = [(sign, _BY_LEVEL.get(int(level))) for sign, level in _CONDITION.findall(condition)]
    since = next((name for sign, name in known if name and sign == ">="), DEFAULT)
    until = next((name for sign, name in known if name and sign == "<"), None)
    return _Limits(since, until) if known else None


def _limited_parts(text: str) -> Iterator[tuple[int, int, _Limits]]:
    """Find the stretches that only some releases have."""
    opened: list[tuple[int, _Limits | None]] = []
    for match in _NEWER.finditer(text):
        if match[1] or match[3]:
            opened.append((match.end(), _limits_of(match[2] or "")))
        elif opened:
            start, limits = opened.pop()
            if limits is not None:
                yield start, match.start(), limits
            if match[4]:
                opened.append((match.end(), None))


def parameter_types(text: str) -> tuple[str, ...]:
    """Return the C types of a list of parameters; empty if one of them is not understood."""
    pairs, _ = _parameters(text)
    return tuple(kind for kind, _ in pairs)


def _parameters(text: str) -> tuple[list[tuple[str, str]], str | None]:
    """The types and names in a parameter list, or the part of it that is not understood."""
    pairs: list[tuple[str, str]] = []
    for piece in text.split(","):
        words = " ".join(piece.split())
        if words in {"", "void"}:
            continue
        pair = _parameter(words)
        if pair is None:
            return [], words
        pairs.append(pair)
    return pairs, None


@functools.lru_cache(maxsize=2048)  # operators have many of the same words
def _parameter(words: str) -> tuple[str, str] | None:
    """Return the type and the name of a parameter; None if it is not understood."""
    match = _PARAMETER.fullmatch(words)
    if match is None:
        return None
    stars = "*" * (match[4].count("*") + bool(match[6]))
    constant = "const " if match[1] or match[3] else ""
    return f"{constant}{match[2]} {stars}".rstrip(), match[5]


def _left_over(text: str, start: int, end: int) -> list[tuple[int, str]]:
    if not _REST.sub("", text[start:end]):
        return []
    rest = _REST.sub(_same_length, text[start:end])
    begin = start + len(rest) - len(rest.lstrip())
    return [(text.count("\n", 0, begin) + 1, " ".join(rest.split())[:_LONG])]
