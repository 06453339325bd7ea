# SPDX-License-Identifier: Apache-2.0
"""Lengths, types and option values of sample calls, derived from a description."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.parameters import Kind
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.facts.operators.words import Word

if TYPE_CHECKING:
    from pyaclnn.facts.operators.operator import Operator
    from pyaclnn.facts.operators.parameters import Option
    from pyaclnn.facts.operators.words import Dims, Lengths

__all__ = ["lengths_in", "types_in", "value_of"]

_PART = 16
_FEW = 2
"""The length of axes that the leading tensor does not have."""


def lengths_in(operator: Operator, shape: Dims) -> Lengths:
    """Divide a shape among the words of the leading tensor: the last axis to the last group.

    Args:
        operator: The operator.
        shape: The shape of its leading tensor.
    """
    words = operator.primary.shape.words
    groups = [name for kind, name in words if kind is Word.GROUP]
    axes = [name for kind, name in words if kind is Word.AXIS]
    shape = _divided(shape, len(axes))
    known: Lengths = {name: (length,) for name, length in zip(axes, shape, strict=False)}
    rest = shape[len(axes) :]
    if len(groups) > 1:
        known[groups[-1]] = rest[-1:]
        rest = rest[:-1]
    known |= dict.fromkeys(groups[:1], rest)
    if operator.lengths is not None:
        known |= operator.lengths({**{o.name: o.default for o in operator.options}, **known})
    others = [name for tensor in operator.inputs for name in sorted(tensor.shape.names)]
    return {**dict.fromkeys(others, (_FEW,)), **known}


def _divided(shape: Dims, axes: int) -> Dims:
    """Return a shape of as many elements on more axes; the last axes take the remainder."""
    while len(shape) < axes:
        part = gcd(shape[-1], _PART)
        shape = (*shape[:-1], part, shape[-1] // part)
    return shape


def types_in(operator: Operator, word: str, family: str | None) -> dict[str, str]:
    """Return the type of each word of types: the leading tensor's, else float32 if allowed.

    Args:
        operator: The operator.
        word: The type of its leading tensor.
        family: The chip family that must have a kernel for it; None for any.
    """
    rows = operator.types.families.get(family or "") or operator.types.rows
    bound: dict[str, str] = {}
    for tensor in operator.inputs:
        words = {name: kind for name, kind in bound.items() if name not in ARRAYS}
        allowed = operator.types.allowed(tensor.type, words, rows)
        kind = word
        if kind not in allowed or (tensor.made_by is not None and "f32" in allowed):
            kind = "f32" if "f32" in allowed else allowed[0]
        bound[tensor.type] = kind
    return bound


def value_of(option: Option, known: Lengths) -> Any:
    """Return the value of an option.

    Args:
        option: The option.
        known: The lengths that are known.
    """
    if option.sample is not None:
        return option.sample(known)
    return known[option.shape.words[0][1]] if option.kind is Kind.LENGTHS else option.default
