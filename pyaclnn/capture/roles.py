# SPDX-License-Identifier: Apache-2.0
"""Roles of functions: what a replay does with their calls, and what these make, end or choose."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.files import read_text
from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Role", "role_of", "roles", "with_contents"]

_ROLES: Final = Path(__file__).with_name("roles.tsv")


class Role(frozenset[str]):
    """Words of a function; one that the tables do not have has none."""

    def word(self, name: str) -> str:
        """Return the value of a word NAME=VALUE, or an empty text."""
        return next((word[len(name) + 1 :] for word in self if word.startswith(f"{name}=")), "")


@functools.cache
def roles() -> Mapping[str, tuple[Role, tuple[tuple[str, str], ...]]]:
    """Return the words of each function of ``roles.tsv``, and its parameters if they are given."""
    rows = (line.split("\t") for line in read_text(_ROLES, "a table").splitlines())
    return {
        name: (Role(words.split()), tuple(_pair(given) for text in rest for given in text.split()))
        for name, words, *rest in rows
    }


def _pair(given: str) -> tuple[str, str]:
    name, _, letter = given.partition(":")
    return name, letter


@functools.cache
def role_of(name: str) -> Role:
    """Return the words of a function; those of operators follow from the phase, and few have more.

    Args:
        name: Its C name.
    """
    words = roles()[name][0] if name in roles() else Role()
    if name.removesuffix(PHASE_1) in catalogue():
        if name.endswith(PHASE_1):
            return Role(("run", "phase-1", "harmless", "end=aclDestroyAclOpExecutor"))
        return Role(("run", "phase-2", *words, *["guessed"] * catalogue()[name].guessed))
    return words


def with_contents() -> tuple[str, ...]:
    """Return the C names of the operators and collectives whose contents are recorded."""
    shared = (n for n, (words, _) in roles().items() if words & {"collective", "gathered"})
    return (*catalogue(), *shared)
