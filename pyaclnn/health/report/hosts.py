# SPDX-License-Identifier: Apache-2.0
"""Names of machines, as schedulers write them: ``node[01-16,20],head``."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from pyaclnn.base.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["expected_hosts", "is_same_host", "listed", "machines_of", "without_domain"]

_FEW: Final = 12
"""Number of names that are listed one by one."""
_NUMBERED: Final = re.compile(r"(.*?)(\d+)(\D*)")
_MOST: Final = 1 << 20
_NAME: Final = re.compile(r"(?:[^\s,\[\]]|\[[^\[\]]*\])+")
_RANGES: Final = re.compile(r"\[([^\[\]]*)\]")
_RANGE: Final = re.compile(r"(\d+)(?:-(\d+))?")


def machines_of(paths: Iterable[str]) -> dict[PurePath, tuple[str, str]]:
    """Return the machine of each file, and the end of its path that names both.

    The machine is called like the file; where several files are called so, like the folders in
    which their paths differ, as in ``node1/doctor.json`` and ``node2/doctor.json``.

    Args:
        paths: The files.
    """
    alike: dict[str, list[PurePath]] = {}
    for path in dict.fromkeys(map(PurePath, paths)):
        alike.setdefault(path.stem, []).append(path)
    return {
        path: found
        for group in alike.values()
        for path, found in zip(group, _named_by_folders(group), strict=True)
    }


def _named_by_folders(paths: Sequence[PurePath]) -> Iterator[tuple[str, str]]:
    """Yield the machine and the shown path of each of the files that are called alike."""
    inner = [path.parts[-2::-1] for path in paths]
    levels = enumerate(zip(*inner, strict=False))
    first = next((at for at, folders in levels if len({*folders}) > 1), min(map(len, inner)))
    counts = Counter(each[first:end] for each in inner for end in range(first, len(each) + 1))
    for path, folders in zip(paths, inner, strict=True):
        ends = (end for end in range(first, len(folders) + 1) if counts[folders[first:end]] == 1)
        end = next(ends, 0) if len(paths) > 1 else first
        name = "/".join(reversed(folders[first:end])) or path.stem or str(path)
        shown = "/".join((*reversed(folders[:end]), path.name)) if end > first else path.name
        yield name, shown or str(path)


def expected_hosts(text: str) -> list[str]:
    """Return the names in a list of hosts, each once, in order.

    Args:
        text: Names with ranges in brackets, separated by commas or blanks; or a file of these, in
            which ``#`` begins a comment.

    Raises:
        ValueError: A range is wrong, there is no name, or the file cannot be read.
    """
    if os.path.lexists(text):
        try:
            lines = read_text(text, "a list of hosts").splitlines()
        except OSError as error:
            raise ValueError(f"'{text}' cannot be read: {error.strerror or error}.") from None
        text = " ".join(line.partition("#")[0] for line in lines)
    names = [name for match in _NAME.finditer(text) for name in _expanded(match[0])]
    if not names:
        raise ValueError("--expect names no host; it takes names like node[01-16], or a file")
    return list(dict.fromkeys(names))


def is_same_host(one: str, other: str) -> bool:
    """Return whether two names are of one machine; a domain counts where both have one."""
    either = "." not in one or "." not in other
    return without_domain(one) == without_domain(other) if either else one == other


def without_domain(name: str) -> str:
    """Return the part of a machine's name that two names of it have in common."""
    return name.partition(".")[0]


def listed(names: Sequence[str]) -> str:
    """Return names as a text; of many, those that differ in their last number as ranges.

    Args:
        names: The names.
    """
    if len(names) <= _FEW:
        return ", ".join(names)
    numbers: dict[tuple[str, str, int], list[int]] = {}
    others = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            others.append(name)
        else:
            numbers.setdefault((match[1], match[3], len(match[2])), []).append(int(match[2]))
    for (before, after, width), found in numbers.items():
        ordered = sorted(set(found))
        begins = [n for n, m in zip(ordered, [None, *ordered], strict=False) if n - 1 != m]
        ends = [n for n, m in zip(ordered, [*ordered[1:], None], strict=True) if n + 1 != m]
        spans = [
            f"{a:0{width}}" if a == b else f"{a:0{width}}-{b:0{width}}"
            for a, b in zip(begins, ends, strict=True)
        ]
        inside = ",".join(spans)
        others.append(f"{before}{f'[{inside}]' if len(ordered) > 1 else inside}{after}")
    return ", ".join(others)


def _expanded(name: str) -> list[str]:
    match = _RANGES.search(name)
    if match is None:
        return [name]
    middles: list[str] = []
    for part in match[1].split(","):
        bounds = _RANGE.fullmatch(part.strip())
        if bounds is None:
            raise ValueError(f"'{part}' in '{name}' is no range of numbers, such as 01-16")
        first, last = int(bounds[1]), int(bounds[2] or bounds[1])
        if not 0 <= last - first < _MOST:
            raise ValueError(f"'{part}' in '{name}' must be a range of less than {_MOST} numbers")
        middles += [f"{number:0{len(bounds[1])}}" for number in range(first, last + 1)]
    rest = _expanded(name[match.end() :])
    return [name[: match.start()] + middle + end for middle in middles for end in rest]
