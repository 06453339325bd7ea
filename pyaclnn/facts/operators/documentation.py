# SPDX-License-Identifier: Apache-2.0
"""Parts of docstrings that follow from a description."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.parameters import Kind
from pyaclnn.facts.operators.words import Word

if TYPE_CHECKING:
    from pyaclnn.facts.operators.parameters import Option, Tensor

__all__ = ["WIDTH", "item", "limits_in_words", "shape_in_words"]

WIDTH = 96
"""The length of the longest line."""


def item(name: str, text: str) -> list[str]:
    """Wrap the item of a section, such as an argument."""
    return textwrap.wrap(
        f"{name}: {text}", WIDTH, initial_indent="    ", subsequent_indent="        "
    )


def shape_in_words(tensor: Tensor) -> str:
    """Write a shape as documents do, for example ``(*rows, *norm)``."""
    written = {
        Word.AXIS: "{}",
        Word.GROUP: "*{}",
        Word.ONES: "*1 for {}",
        Word.COUNT: "any, with an element for each of {}",
        Word.PADDED: "*{}, ones may follow",
        Word.LIKE: "that of {}",
        Word.NUMBER: "{}",
    }
    words = [written[kind].format(name) for kind, name in tensor.shape.words]
    return f"({', '.join(words)})"


def limits_in_words(option: Option) -> str:
    """Write the accepted values of an option, with a leading semicolon; empty without limits."""
    if option.kind is Kind.STRING:
        return f"; {' or '.join(map(repr, option.choices))}"
    finite = "finite, " if option.kind is Kind.REAL else ""
    if option.least is not None and option.most is not None:
        return f"; {finite}{option.least} to {option.most}"
    if option.least is not None:
        return f"; {finite}{option.least} or more"
    return f"; {finite}above {option.above}" if option.above is not None else ""
