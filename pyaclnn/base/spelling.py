# SPDX-License-Identifier: Apache-2.0
"""Suggestion of the known words that are closest to a mistyped one, and the indefinite article."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest", "of_other_libraries", "with_article"]

_SPOKEN_AS_VOWELS: Final = (*"AEIOaeio", "nd")
"""First letters of nouns after "an", as in "an ndarray"."""


def with_article(noun: str) -> str:
    """Return a noun, such as the name of a class, after its indefinite article."""
    return f"{'an' if noun.startswith(_SPOKEN_AS_VOWELS) else 'a'} {noun}"


def nearest(word: str, known: Iterable[str], most: int = 1, likeness: float = 0.6) -> list[str]:
    """List the known words that are closest to a word, the closest first, whatever their case.

    Args:
        word: The unknown word.
        known: The words that exist.
        most: The most words to list.
        likeness: The least likeness, from 0 to 1 for equal words.
    """
    import difflib  # noqa: PLC0415  # only errors need it

    spelled: dict[str, str] = {}
    for name in known:
        spelled.setdefault(name.lower(), name)
    return [
        spelled[name] for name in difflib.get_close_matches(word.lower(), spelled, most, likeness)
    ]


def of_other_libraries(name: str, owner: str = "module") -> str:
    """Return what to use instead of a name of PyTorch, CuPy or NumPy; empty if it is not known.

    Args:
        name: The name that was looked up.
        owner: ``module`` or ``array``.
    """
    from pyaclnn.base.toml import read_toml  # noqa: PLC0415  # only errors need it

    rows = read_toml(Path(__file__).with_name("other_names.toml"))[owner].items()
    return next((instead for instead, names in rows if name in names.split()), "")


def did_you_mean(
    word: str, known: Iterable[str], *, lead: str = "", quote: str = "'", likeness: float = 0.6
) -> str:
    """Return the question for the closest known word; nothing if none is close.

    Args:
        word: The unknown word.
        known: The words that exist.
        lead: Prefix of the question, such as ``"; "``.
        quote: The quotation mark around the known word.
        likeness: The least likeness; see `nearest`.
    """
    found = nearest(word, known, likeness=likeness)
    return "".join(f"{lead}did you mean {quote}{name}{quote}?" for name in found)
