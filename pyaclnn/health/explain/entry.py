# SPDX-License-Identifier: Apache-2.0
"""Answer about one code or text, and its place among several answers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.driver import device_nodes
from pyaclnn.health.checks.machine import Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyaclnn.facts.explanations import Explanation

__all__ = ["GENERAL", "GENERAL_KIND", "SPECIFIC", "TEXT", "Entry", "order_of"]

TEXT: Final = 0
"""Rank of a text that is explained as a whole, more exactly than by its codes."""
SPECIFIC: Final = 1
"""Rank of a code that names a cause."""
GENERAL: Final = 2
"""Rank of a code that only reports that something failed."""

GENERAL_KIND: Final = "general"
"""Kind of the texts that count where nothing else in a log is known."""
_BEHIND_TEXTS: Final = 10_000
_INNERMOST_FIRST: Final = (
    "system", "containers", "the shell", "driver", "device management", "the dynamic loader",
    "Python", "AI CPU", "device network", "operators and compilers", "framework", "PyTorch",
    "collective communication", "HCCL", "runtime", "operator compiler", "operators",
    "graph engine", "C interface",
)  # fmt: skip
"""Components of codes and kinds of texts; ranks wait for one that failed in any other."""


@dataclass(frozen=True)
class Entry:
    """One answer.

    Attributes:
        heading: The code and its name.
        meaning: The meaning of the code.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next, or None.
        notes: Further remarks, a line each.
        words: The message's own words, which are never contradicted.
        vague: 1 for a text that names a thing and no more of its cause, otherwise 0.
        turn: 1 for a text that was found in usual words instead of its own, otherwise 0.
        rank: `TEXT`, `SPECIFIC` or `GENERAL`.
        component: The component that reports it, as in ``codes.tsv``, or the kind of a text.
        place: Place among those of one rank and component; codes come behind texts.
    """

    heading: str
    meaning: str
    causes: tuple[str, ...] = ()
    next_step: str | None = None
    notes: tuple[str, ...] = ()
    rank: int = SPECIFIC
    component: str = ""
    place: int = _BEHIND_TEXTS
    words: tuple[str, ...] = ()
    vague: int = 0
    turn: int = 0

    @property
    def names_a_cause(self) -> bool:
        """True if it is no text or code that only reports or repeats that something failed."""
        return self.rank != GENERAL and self.component != GENERAL_KIND

    @classmethod
    def of(
        cls,
        heading: str,
        known: Explanation,
        *notes: str,
        rank: int = SPECIFIC,
        component: str = "",
    ) -> Entry:
        """Build an answer from an explanation; its next step is that of the case of this machine.

        Args:
            heading: The code and its name.
            known: The explanation.
            notes: Further remarks.
            rank: Its rank.
            component: The component that reports it.
        """
        step, causes = known.next_step, known.causes
        for case in known.cases:
            if _ON_THIS_MACHINE[case["when"]](_machine()):
                step = case["next_step"]
                causes = (f"on this machine: {case['cause']}", *causes)
                break
        step = step[0].upper() + step[1:]
        return cls(heading, known.meaning, causes, step, notes, rank, component)


def order_of(entry: Entry) -> tuple[int, int, int, int, int]:
    """Return the key that sorts answers: the innermost cause first, then its consequences."""
    known = entry.component in _INNERMOST_FIRST
    depth = _INNERMOST_FIRST.index(entry.component) if known else len(_INNERMOST_FIRST)
    return entry.rank, entry.vague, depth, entry.turn, entry.place


@functools.cache
def _machine() -> Machine:
    return Machine()


def _nodes_are_forbidden(machine: Machine) -> bool:
    nodes = device_nodes(machine)
    return bool(nodes) and not any(machine.may(node, "rw") for node in nodes)


_ON_THIS_MACHINE: Final[Mapping[str, Callable[[Machine], bool]]] = {
    "nodes are forbidden": _nodes_are_forbidden,
    "a container without nodes": lambda machine: machine.in_container and not device_nodes(machine),
    "a container with nodes": lambda machine: machine.in_container and bool(device_nodes(machine)),
    "no nodes": lambda machine: not device_nodes(machine),
}
