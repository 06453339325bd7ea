# SPDX-License-Identifier: Apache-2.0
"""Shapes in words: ``"rows* norm*"`` are two groups of axes, ``"N C"`` two axes.

A word is

* ``C``       one axis, the same length wherever the word stands;
* ``rows*``   a group of axes, perhaps none;
* ``1*norm``  a one for each axis of a group;
* ``#rows``   as many elements as a group, in any shape;
* ``rows~``   a group; ones may follow, and trailing ones of it may be left out;
* ``=mean``   the shape of another tensor;
* ``8``       an axis of that length.

A ``|`` separates shapes that are all accepted.
"""

from __future__ import annotations

from enum import Enum
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAX_RANK", "NO_AXES", "PACKED", "Dims", "Lengths", "Shape", "Word"]

Dims: TypeAlias = "tuple[int, ...]"
Lengths: TypeAlias = "dict[str, Dims]"
"""The known lengths: those of an axis (one number) or of a group of axes by its word."""

MAX_RANK = 8
"""The most axes that an aclnn tensor may have. Source: CANN: ops-nn, operator documents."""

PACKED = 8
"""Number of 4-bit numbers in an element of int32, along the last axis."""


class Word(Enum):
    """The kinds of words."""

    AXIS = "axis"
    GROUP = "group"
    ONES = "ones"
    COUNT = "count"
    PADDED = "padded"
    LIKE = "like"
    NUMBER = "number"


class Shape(NamedTuple):
    """The shape of a tensor in words.

    Attributes:
        text: The words as they are written.
        words: The kind of each word and its name.
        other: Other shapes that are accepted.
    """

    text: str
    words: tuple[tuple[Word, str], ...]
    other: tuple[tuple[tuple[Word, str], ...], ...] = ()

    @classmethod
    def of(cls, text: str) -> Shape:
        """Read words."""
        first, *others = (tuple(map(_word, part.split())) for part in text.split("|"))
        return cls(text, first, tuple(others))

    @property
    def names(self) -> set[str]:
        """The axes and groups whose lengths follow from this shape."""
        return {name for kind, name in self.words if kind in (Word.AXIS, Word.GROUP, Word.PADDED)}

    @property
    def like(self) -> str | None:
        """The tensor whose shape this is, if the shape is ``=name``."""
        return next((name for kind, name in self.words if kind is Word.LIKE), None)

    @property
    def counted(self) -> str | None:
        """The group whose number of elements is all that counts, if so."""
        return next((name for kind, name in self.words if kind is Word.COUNT), None)

    @property
    def padded(self) -> str | None:
        """The group that ones may follow, if there is one."""
        return next((name for kind, name in self.words if kind is Word.PADDED), None)

    @property
    def least_rank(self) -> int:
        """The fewest axes of such a shape, where at least one group has one."""
        axes = sum(kind in (Word.AXIS, Word.NUMBER) for kind, _ in self.words)
        return axes or min(1, len(self.words))

    def groups_to_count(self, ranks: Mapping[str, int]) -> list[str]:
        """Return the groups whose number of axes is unknown."""
        kinds = (Word.GROUP, Word.ONES)
        names = dict.fromkeys(name for kind, name in self.words if kind in kinds)
        return [name for name in names if name not in ranks]

    def rank(self, ranks: Mapping[str, int]) -> int:
        """Return the number of axes, without groups that are not in ``ranks``."""
        many = (Word.GROUP, Word.ONES, Word.PADDED)
        return sum(ranks.get(name, 0) if kind in many else 1 for kind, name in self.words)

    def learn(self, dims: Dims, ranks: Mapping[str, int], known: Lengths) -> None:
        """Note the lengths of axes and groups that are not known yet.

        Args:
            dims: The shape of a tensor that is described so.
            ranks: Number of axes of each group.
            known: The known lengths; grows.
        """
        at = 0
        for kind, name in self.words:
            length = ranks.get(name, 0) if kind in (Word.GROUP, Word.ONES) else 1
            if kind in (Word.AXIS, Word.GROUP):
                known.setdefault(name, dims[at : at + length])
            at += length

    def dims(self, known: Mapping[str, Dims]) -> Dims:
        """The shape that this is, where lengths are known; the plain one of those that fit."""
        found: list[int] = []
        for kind, name in self.words:
            if kind is Word.NUMBER:
                found.append(int(name))
            elif kind is Word.ONES:
                found += [1] * len(known[name])
            else:
                found += known[name]
        return tuple(found)

    def fits(self, dims: Dims, known: Mapping[str, Dims]) -> bool:
        """Return whether a tensor of a shape can be passed for this."""
        if self.counted is not None:
            return prod(dims) == prod(known[self.counted])
        if self.padded is not None:
            lead = known[self.padded]
            shorter = min(len(lead), len(dims))
            rest = dims[shorter:] if shorter == len(lead) else lead[shorter:]
            return dims[:shorter] == lead[:shorter] and prod(rest) == 1
        return dims == self.dims(known) or any(
            dims == Shape("", words).dims(known) for words in self.other
        )


NO_AXES = Shape("", ())
"""The shape of a tensor without axes, or one that words do not describe."""


def _word(text: str) -> tuple[Word, str]:
    if text.startswith("1*"):
        return Word.ONES, text[2:]
    if text.startswith("#"):
        return Word.COUNT, text[1:]
    if text.startswith("="):
        return Word.LIKE, text[1:]
    if text.endswith("*"):
        return Word.GROUP, text[:-1]
    if text.endswith("~"):
        return Word.PADDED, text[:-1]
    return (Word.NUMBER if text.isdigit() else Word.AXIS), text
