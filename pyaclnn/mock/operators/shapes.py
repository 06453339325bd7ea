# SPDX-License-Identifier: Apache-2.0
"""What phase 1 says of shapes, in the order of the operator's description."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.operator import Build, ShapeError
from pyaclnn.facts.operators.parameters import Kind, Option, Parameter, Tensor
from pyaclnn.facts.operators.quirks import quirks_of
from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.words import MAX_RANK, Word

if TYPE_CHECKING:
    from pyaclnn.facts.operators.words import Dims
    from pyaclnn.mock.operators.request import Request

__all__ = ["wrong_shape"]

_POSSIBLE, _AXES = "^", "#"


def wrong_shape(request: Request) -> str | None:
    """Say what is wrong with the first shape that is wrong, or None; finds `request.known`."""
    operator = request.operator
    quirks = quirks_of(operator.quirks)
    learned = False
    for parameter, sign in operator.shape_checks:
        if isinstance(parameter, Tensor) and (
            request.tensors[parameter.name] is None or not request.wants(parameter)
        ):
            continue
        if request.late != (sign != _POSSIBLE and _is_late(parameter)):
            continue
        if sign == _POSSIBLE:
            wrong = _impossible(request, parameter)
        else:
            wrong = None if learned else _learn(request)
            learned = True
            if wrong is None and sign == _AXES:
                wrong = _wrong_axes(request, parameter)
            elif wrong is None and parameter.name in quirks.FITS:
                wrong = quirks.FITS[parameter.name](request)
            elif wrong is None:
                wrong = _different(request, parameter)
        if wrong is not None:
            return wrong
    wrong = None if learned else _learn(request)
    return wrong or (None if request.late else quirks.beyond(request))


def _is_late(parameter: Parameter) -> bool:
    """Whether its shape is compared by the kernels alone."""
    return isinstance(parameter, Tensor) and "late" in parameter.loose


def _impossible(request: Request, parameter: Parameter) -> str | None:
    """A number of axes that no tensor of this kind has."""
    if isinstance(parameter, Option):
        lengths = request.values[parameter.name]
        if len(lengths) <= MAX_RANK:
            return None
        return f"{parameter.c_name} has {len(lengths)} elements; it must have at most {MAX_RANK}"
    assert isinstance(parameter, Tensor)  # noqa: S101  # there are no others
    dims = request.tensors[parameter.name].dims
    least = min(
        sum(kind in (Word.AXIS, Word.NUMBER) for kind, _ in words)
        for words in (parameter.shape.words, *parameter.shape.other)
    )
    if request.operator.build is Build.INDIVIDUAL:
        least = parameter.shape.least_rank
    if least <= len(dims) <= MAX_RANK:
        return None
    return (
        f"{parameter.c_name} has {len(dims)} dimensions, shape {shape_text(dims)}; it must have "
        + (f"{least} to {MAX_RANK}" if least else f"at most {MAX_RANK}")
    )


def _learn(request: Request) -> str | None:
    """Find the lengths of all axes; what makes that impossible, or None."""
    operator = request.operator
    shapes = {
        tensor.name: request.tensors[tensor.name].dims
        for tensor in operator.inputs
        if request.tensors[tensor.name] is not None
    }
    leader = operator.leader
    for option in operator.options:
        if option.kind is Kind.LENGTHS and not request.values[option.name]:
            return f"{option.c_name} is empty; it must have at least one element"
    while True:
        try:
            request.known = operator.learn(shapes, request.values)
        except ShapeError as error:
            if error.tensor is not leader:
                # What is wrong with it is said where it is looked at itself.
                del shapes[error.tensor.name]
                continue
            return _too_short(request, shapes)
        return None


def _too_short(request: Request, shapes: dict[str, Dims]) -> str:
    operator = request.operator
    leader = operator.leader
    rank = len(shapes[leader.name])
    for _, group in leader.shape.words:
        teller = operator.teller(group, shapes)
        if isinstance(teller, Option):
            many = len(request.values[teller.name])
            return (
                f"{leader.c_name} has {rank} dimensions; it must have at least the {many} of "
                f"{teller.c_name}"
            )
        if isinstance(teller, Tensor):
            return (
                f"{teller.c_name} has {len(shapes[teller.name])} dimensions; it must have at most "
                f"the {rank} of {leader.c_name}"
            )
    return f"{leader.c_name} has {rank} dimensions, which are too few"


def _wrong_axes(request: Request, parameter: Parameter) -> str | None:
    assert isinstance(parameter, Tensor)  # noqa: S101  # there are no others
    dims = request.tensors[parameter.name].dims
    expected = request.operator.dims(parameter, request.known, request.values)
    if len(dims) == len(expected) or parameter.shape.padded or parameter.shape.counted:
        return None
    return (
        f"{parameter.c_name} has {len(dims)} dimensions, shape {shape_text(dims)}; it must have "
        f"{len(expected)}"
    )


def _different(request: Request, parameter: Parameter) -> str | None:
    operator, known = request.operator, request.known
    if isinstance(parameter, Option):
        return _wrong_option(request, parameter)
    assert isinstance(parameter, Tensor)  # noqa: S101  # there are no others
    given = request.tensors[parameter.name]
    dims: Dims = given.dims
    if "shape" in parameter.loose:
        return None
    if "count" in parameter.loose:
        expected = operator.dims(parameter, known, request.values)
        good = given.size == prod(expected)
        must = f"have {prod(expected)}"
    elif parameter.shape.counted is not None:
        good = parameter.shape.fits(dims, known)
        must = f"have one for each of {prod(known[parameter.shape.counted])} rows"
    elif parameter.shape.like is not None:
        like = operator.by_name[parameter.shape.like]
        expected = request.tensors[like.name].dims
        good = dims == expected
        must = f"be {shape_text(expected)}, the shape of {like.c_name}"
    elif parameter.infer is None and not parameter.packed:
        good = parameter.shape.fits(dims, known)
        must = f"be {shape_text(parameter.shape.dims(known))}"
    else:
        kind = request.types[parameter.name]
        expected = operator.dims(parameter, known, request.values, kind)
        good, must = dims == expected, f"be {shape_text(expected)}"
    if not good:
        elements = f" and {given.size} elements" if must.startswith("have") else ""
        return f"{parameter.c_name} has shape {shape_text(dims)}{elements}; it must {must}"
    if (
        0 in dims
        and operator.build is Build.INDIVIDUAL
        and not quirks_of(operator.quirks).takes_empty(request)
    ):
        return f"{parameter.c_name} has shape {shape_text(dims)}; no dimension may be 0"
    return None


def _wrong_option(request: Request, option: Option) -> str | None:
    value = request.values[option.name]
    if option.kind is Kind.LENGTHS:
        expected = request.known[option.shape.words[0][1]]
        if value == expected:
            return None
        return (
            f"{option.c_name} is {shape_text(value)}; it must be {shape_text(expected)}, the last "
            f"dimensions of {request.operator.leader.c_name}"
        )
    must = option.derived(request.known) if option.derived is not None else value
    if value == must:
        return None
    return f"{option.c_name} is {value}; it must be {must}, as {request.operator.leader.c_name} has"
