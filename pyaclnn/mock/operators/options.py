# SPDX-License-Identifier: Apache-2.0
"""What phase 1 says of options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.parameters import Kind
from pyaclnn.facts.operators.types import TYPES

if TYPE_CHECKING:
    from pyaclnn.facts.operators.parameters import Option
    from pyaclnn.mock.operators.request import Request

__all__ = ["wrong_option", "wrong_scalar"]


def wrong_option(request: Request) -> str | None:
    """Say what is wrong with the first option that is out of its range, or None."""
    for option in request.operator.options:
        if option.loose or option.derived is not None:
            continue
        wrong = (
            _wrong_axes(request, option)
            or wrong_scalar(request, option)
            or _out_of_range(request, option)
        )
        if wrong is not None:
            return wrong
    return None


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


def wrong_scalar(request: Request, option: Option) -> str | None:
    """Say that a scalar has another type than those that its operator looks for, or None."""
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
    rank = max(len(request.tensors[request.operator.leader.name].dims), 1)
    axes = request.values[option.name]
    for axis in axes:
        if not -rank <= axis < rank:
            return f"{option.c_name} has {axis}; it must be {-rank} to {rank - 1}"
    if len({axis % rank for axis in axes}) != len(axes):
        return f"{option.c_name} is {list(axes)}; an axis may be there only once"
    return None
