# SPDX-License-Identifier: Apache-2.0
"""Checks of options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.parameters import Kind, Option
from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.types import TYPES
from pyaclnn.mock.operators.shapes import learned

if TYPE_CHECKING:
    from pyaclnn.facts.operators.checks import Check
    from pyaclnn.mock.operators.request import Request

__all__ = ["agree", "in_range", "scalars", "text"]


def in_range(request: Request, _check: Check) -> str | None:
    """Check the ranges of options."""
    for option in request.operator.options:
        if option.unchecked or option.derived is not None:
            continue
        wrong = (
            _wrong_axes(request, option)
            or _wrong_scalar(request, option)
            or _out_of_range(request, option)
        )
        if wrong is not None:
            return wrong
    return None


def scalars(request: Request, _check: Check) -> str | None:
    """Check the types of scalars."""
    found = (_wrong_scalar(request, option) for option in request.operator.options)
    return next(filter(None, found), None)


def text(request: Request, check: Check) -> str | None:
    """Check that a string is the only one that is accepted."""
    (name,), (must,) = check.names, check.allowed
    value = request.values[request.operator.parameters[name].name]
    return None if value in (None, must) else f"{name} is {value!r}; it must be {must!r}"


def agree(request: Request, check: Check) -> str | None:
    """Check that options that repeat lengths have those of the primary tensor."""
    wrong = learned(request)
    for name in check.names:
        option = request.operator.parameters[name]
        if wrong is None and isinstance(option, Option):
            wrong = _other_lengths(request, option)
    return wrong


def _other_lengths(request: Request, option: Option) -> str | None:
    value, primary = request.values[option.name], request.operator.primary.c_name
    if option.kind is Kind.LENGTHS:
        expected = request.known[option.shape.words[0][1]]
        if value == expected:
            return None
        return (
            f"{option.c_name} is {shape_text(value)}; it must be {shape_text(expected)}, the last "
            f"dimensions of {primary}"
        )
    must = option.derived(request.known) if option.derived is not None else value
    return (
        None
        if value == must
        else f"{option.c_name} is {value}; it must be {must}, as {primary} has"
    )


def _out_of_range(request: Request, option: Option) -> str | None:
    value = request.values[option.name]
    if option.kind is Kind.STRING:
        # Only the beginning is compared.
        if value is None or value.startswith(option.choices):
            return None
        return f"{option.c_name} is {value!r}; it must be {' or '.join(option.choices)}"
    if option.kind is Kind.REAL and request.operator.build is Build.INDIVIDUAL:
        value = float(np.float32(value))  # tiling sees the kernel's attribute, which is a float
    text = f"{option.c_name} is {value}; it must be"
    if option.least is not None and value < option.least:
        return f"{text} at least {option.least}"
    if option.above is not None and not value > option.above:
        return f"{text} above {option.above}"
    if option.most is not None and value > option.most:
        return f"{text} at most {option.most}"
    return None


def _wrong_scalar(request: Request, option: Option) -> str | None:
    if option.kind is not Kind.SCALAR or not option.word:
        return None
    kind, allowed = request.types[option.name], option.word.split("/")
    if kind in allowed:
        return None
    must = " or ".join(TYPES[word].numpy for word in allowed)
    return f"{option.c_name} has data type {kind}; it must be {must}"


def _wrong_axes(request: Request, option: Option) -> str | None:
    if option.kind is not Kind.AXES:
        return None
    rank = max(len(request.tensors[request.operator.primary.name].dims), 1)
    axes = request.values[option.name]
    for axis in axes:
        if not -rank <= axis < rank:
            return f"{option.c_name} has {axis}; it must be {-rank} to {rank - 1}"
    if len({axis % rank for axis in axes}) != len(axes):
        return f"{option.c_name} is {list(axes)}; an axis may be there only once"
    return None
