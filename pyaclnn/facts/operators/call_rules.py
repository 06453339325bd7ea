# SPDX-License-Identifier: Apache-2.0
"""Arguments that CANN accepts for operators without a description: NULLs, types, ranks, casts.

The table is `call_rules.txt`, whose head explains its words. A rule by the documents alone counts
for an operator with a kernel, and refuses nothing of one without.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.facts.operators.limits import MOST_AXES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DATA_TYPES", "CallRules", "ParameterRule", "call_rules"]

DATA_TYPES: Final[Mapping[str, str]] = {
    "f": "f32",
    "h": "f16",
    "b": "bf16",
    "B": "bf16",
    "d": "f64",
    "c": "i8",
    "C": "u8",
    "s": "i16",
    "S": "u16",
    "i": "i32",
    "I": "u32",
    "l": "i64",
    "L": "u64",
    "o": "bool",
    "z": "c64",
    "Z": "c128",
    "y": "COMPLEX32",
    "n": "i4",
    "k": "HIFLOAT8",
    "q": "e5m2",
    "r": "e4m3",
    "t": "e8m0",
    "u": "e2m1",
    "v": "FLOAT4_E1M2",
}
"""The letters of the table: words of `pyaclnn.facts.operators.types`, or names in CANN."""
_FILE: Final = f"{__file__.rpartition('.')[0]}.txt"
_WORD: Final = re.compile(
    r"(?P<null>\?)?(?P<types>[A-Za-z]+(?:/[\w+]+:[A-Za-z]+)*|-)(?P<documents>\?)?"
    r"(:(?P<axes>\d))?(=(?P<like>\d+)(?P<documented>\?)?)?(?P<cast>>[\d+f]*)?(?P<private>@)?"
)


class ParameterRule(NamedTuple):
    """Values that a parameter may have.

    Attributes:
        pointer: True if anything is known about NULL.
        nullable: True if NULL may be passed.
        words: The data types of a tensor, as the table has them; empty if they are not known.
        documented: True if the types are known from the documents alone.
        axes: The largest number of dimensions of a tensor.
        like: The place of the parameter whose type it has; None if there is none.
        like_documented: True if that is known from the documents alone.
        cast: The source of a cast to its type: places of parameters, or ``"f"`` for FLOAT; empty
            if any type is cast. None if there is no cast.
        private: True if it may have a format with a layout of its own.
    """

    pointer: bool = False
    nullable: bool = True
    words: str = ""
    documented: bool = False
    axes: int = MOST_AXES
    like: int | None = None
    like_documented: bool = False
    cast: tuple[int, ...] | str | None = None
    private: bool = True

    def types(self, family: str, *, bfloat16: bool) -> frozenset[str] | None:
        """Return the data types on a family of chips; None if they are not known.

        Args:
            family: The family.
            bfloat16: True if its chips compute in bfloat16.
        """
        return _types(self.words, family, bfloat16) if self.words else None

    @property
    def types_anywhere(self) -> frozenset[str] | None:
        """The data types on any chip; None if they are not known for certain."""
        if not self.words or self.documented:
            return None
        lists = (part.rpartition(":")[2] for part in self.words.split("/"))
        return frozenset(DATA_TYPES[letter] for letter in "".join(lists))


class CallRules(NamedTuple):
    """Rules for the arguments of an operator.

    Attributes:
        parameters: The rule of each parameter, in the order of C.
        promoted: The places of those that have a common type.
        broadcast: The places of those that broadcast.
        ends: The places of those that end phase 1 if they have no elements.
    """

    parameters: tuple[ParameterRule, ...]
    promoted: tuple[int, ...] = ()
    broadcast: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()


@functools.cache
def call_rules(name: str) -> CallRules | None:
    """Return the rules of an operator.

    Args:
        name: The C name.

    Returns:
        The rules; None for an operator that has a description, or that the table lacks.
    """
    line = _lines().get(name)
    if line is None:
        return None
    words, _, joint = line.partition(" | ")
    places = {rule[0]: tuple(map(int, rule[1:].split(","))) for rule in joint.split()}
    return CallRules(
        tuple(map(_parameter, words.split())),
        places.get("+", ()),
        places.get("*", ()),
        places.get("0", ()),
    )


@functools.cache
def _lines() -> Mapping[str, str]:
    with open(_FILE, encoding="utf-8") as file:  # noqa: PTH123  # as in the catalogue
        lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
    pairs = (line.split(" ", 1) for line in lines)
    return {name[1:] if name[0] == "=" else f"aclnn{name}": words for name, words in pairs}


@functools.lru_cache(maxsize=1024)
def _parameter(word: str) -> ParameterRule:
    if word in {".", "!", "?"}:
        return ParameterRule(pointer=word != ".", nullable=word != "!")
    found = _WORD.fullmatch(word)
    if found is None:
        raise ValueError(word)
    cast = found["cast"]
    return ParameterRule(
        pointer=True,
        nullable=bool(found["null"]),
        words=found["types"].strip("-"),
        documented=bool(found["documents"]),
        axes=int(found["axes"] or MOST_AXES),
        like=int(found["like"]) if found["like"] else None,
        like_documented=bool(found["documented"]),
        cast=None if cast is None else _source(cast[1:]),
        private=bool(found["private"]),
    )


def _source(text: str) -> tuple[int, ...] | str:
    return text if text == "f" else tuple(map(int, filter(None, text.split("+"))))


@functools.lru_cache(maxsize=1024)
def _types(text: str, family: str, bfloat16: bool) -> frozenset[str]:
    letters, *others = text.split("/")
    for other in others:
        families, _, own = other.partition(":")
        if family in families.split("+"):
            letters = own
    return frozenset(DATA_TYPES[letter] for letter in letters if letter != "B" or bfloat16)
