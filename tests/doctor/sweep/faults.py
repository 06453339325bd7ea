# SPDX-License-Identifier: Apache-2.0
"""Enumeration of faults: nothing is listed, everything is read from a healthy machine."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.machine import variables
from tests.doctor.parts import SOURCES
from tests.doctor.sweep import ways

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.doctor.installations import Fabricated

__all__ = ["Fault", "enumerate_faults", "paired", "sampled"]

ANSWERS: Final = ("507899", "after:507899", "slow:20000", "lost", "wrong", "async:507015", "hang")
TOOL_ANSWERS: Final = ("empty", "garbage", "fails", "hangs", "endless", "critical", "negative")
_FEW: Final = 6


@dataclass(frozen=True, order=True)
class Fault:
    """One fault.

    Attributes:
        layout: The layout of the machine's CANN.
        kind: The kind of the target: ``file``, ``folder``, ``link``, ``node``, ``variable``,
            ``number``, ``limit``, ``answer`` or ``tool``.
        target: The path below the machine's root, or the name.
        way: The name of the way in which it is broken.
    """

    layout: str
    kind: str
    target: str
    way: str

    def __str__(self) -> str:
        return f"{self.layout} {self.kind} {self.target}: {self.way}"


def enumerate_faults(made: Fabricated) -> Iterator[Fault]:
    """Enumerate all faults of a healthy machine."""

    def every(kind: str, target: str, names: Iterable[str]) -> Iterator[Fault]:
        for name in names:
            yield Fault(made.layout, kind, target, name)

    for path in sorted(made.root.rglob("*")):
        kind, target = _kind_of(made, path), str(path.relative_to(made.root))
        table = {"link": ways.LINK, "folder": ways.FOLDER, "node": ways.NODE, "file": ways.FILE}
        names = [name for name in table[kind] if _applies(path, kind, name)]
        yield from every(kind, target, names)
    for name, entry in sorted(made.environment.items()):
        if str(made.root) in entry and not name.startswith(("KIT_", "PYACLNN_")):
            yield from every("variable", name, ways.VARIABLE)
    for row in variables():
        if row.kind == "number" and row.pattern:
            yield from every("number", row.name, ways.WORDS)
    for name in ways.LIMITS:
        yield from every("limit", name, ["low"])
    source = (SOURCES / "user.c").read_text(encoding="utf-8")
    for function in sorted(set(re.findall(r"\bacl\w+(?=[,(] ?\w)", source))):
        yield from every("answer", function, ANSWERS)
    yield from every("tool", "npu-smi", TOOL_ANSWERS)


def _kind_of(made: Fabricated, path: Path) -> str:
    if path.is_symlink():
        return "link"
    if path.is_dir():
        return "folder"
    return "node" if path.parent == made.root / "dev" else "file"


def _applies(path: Path, kind: str, way: str) -> bool:
    if kind != "file":
        return True
    content = path.read_bytes()
    if way == "of another processor":
        return content[:4] == b"\x7fELF"
    if way == "of another release":
        versioned = re.search(rb"(?<![\w.])\d+(?=\.\d)", content)
        return content[:4] != b"\x7fELF" and path.suffix in {".info", ".cfg"} and bool(versioned)
    return bool(content) or way not in {"emptied", "truncated", "zeroed", "half zeroed"}


def sampled(faults: list[Fault], seed: int) -> list[Fault]:
    """Order faults so that the first few are of every kind, folder and way.

    Of the faults below one folder at most a few are taken before those of other folders.
    """
    chance = random.Random(seed)
    groups: dict[tuple[str, str], list[Fault]] = defaultdict(list)
    for fault in chance.sample(faults, len(faults)):
        parent = fault.target.rpartition("/")[0] if fault.kind in {"file", "folder"} else ""
        groups[fault.kind, parent].append(fault)
    ordered: list[Fault] = []
    kinds: dict[str, list[list[Fault]]] = defaultdict(list)
    for (kind, _), members in sorted(groups.items()):
        kinds[kind].append(members)
    queues = {
        kind: [fault for turn in range(max(map(len, lists))) for fault in _turn(lists, turn)]
        for kind, lists in kinds.items()
    }
    while any(queues.values()):
        for kind, queue in queues.items():
            count = _FEW if kind in {"file", "folder", "variable"} else 1
            ordered += queue[:count]
            del queue[:count]
    return ordered


def paired(faults: list[Fault], seed: int) -> list[tuple[Fault, ...]]:
    """Pair the faults of machines of one layout; the first few pairs are of every kind."""
    chance = random.Random(seed)
    layouts = []
    for layout in sorted({fault.layout for fault in faults}):
        alike = [fault for fault in faults if fault.layout == layout]
        begin = chance.randrange(1, _FEW)  # so that kinds meet others
        layouts.append(zip(sampled(alike, seed), sampled(alike, seed + 1)[begin:], strict=False))
    return [pair for turn in zip(*layouts, strict=False) for pair in turn]


def _turn(lists: list[list[Fault]], turn: int) -> list[Fault]:
    return [members[turn] for members in lists if turn < len(members)]
