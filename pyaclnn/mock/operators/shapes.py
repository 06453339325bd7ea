# SPDX-License-Identifier: Apache-2.0
"""Checks of shapes, and the lengths of axes that they compare with."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.operator import Build, ShapeError
from pyaclnn.facts.operators.parameters import Kind, Option, Parameter, Tensor
from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.words import PACKED, Word

if TYPE_CHECKING:
    from pyaclnn.facts.operators.checks import Check
    from pyaclnn.facts.operators.words import Dims
    from pyaclnn.mock.operators.request import Request
    from pyaclnn.mock.protocol.values import Tensor as Given

__all__ = ["copies", "learned", "one_element", "packed", "rank", "same", "shape"]


def rank(request: Request, check: Check) -> str | None:
    """Check numbers of axes; with a least number, of outputs that are not wanted as well."""
    for parameter in _there(request, check):
        wrong = (
            _wrong_rank(request, parameter)
            if check.most is None
            else _impossible(request, parameter, check.least, check.most)
        )
        if wrong is not None:
            return wrong
    return None


def shape(request: Request, check: Check) -> str | None:
    """Check shapes."""
    found = (_different(request, parameter) for parameter in _there(request, check))
    return learned(request) or next(filter(None, found), None)


def same(request: Request, check: Check) -> str | None:
    """Check that a tensor has the shape of another one."""
    name, other = check.names
    dims, expected = (_given(request, c_name).dims for c_name in (name, other))
    if dims == expected:
        return None
    must = shape_text(expected)
    return f"{name} has shape {shape_text(dims)}; it must be {must}, the shape of {other}"


def one_element(request: Request, check: Check) -> str | None:
    """Check that a tensor has one element."""
    (name,) = check.names
    size = _given(request, name).size
    return None if size == 1 else f"{name} has {size} elements; it must have one"


def packed(request: Request, check: Check) -> str | None:
    """Check the last axis of a tensor of packed integers."""
    name, other = check.names
    ours, theirs = (_given(request, c_name) for c_name in check.names)
    fits = ours.dims and theirs.dims and theirs.dims[-1] == PACKED * ours.dims[-1]
    if ours.type != "i32" or fits:
        return None
    return (
        f"{name} has shape {shape_text(ours.dims)}; packed into int32 its last dimension must be "
        f"an eighth of that of {other}, whose shape is {shape_text(theirs.dims)}"
    )


def copies(request: Request, _check: Check) -> str | None:
    """Check outputs whose shapes have not been compared, as the copy into them does.

    It compares shapes, but for tensors of one element (CANN: ops-math contiguous.cpp).
    """
    for tensor, given in request.given():
        if not tensor.written or "shape" not in tensor.unchecked:
            continue
        if request.chip.family == "950" and not given.size:
            continue
        expected = request.operator.dims(tensor, request.known, request.values)
        ones = (1,) * len(expected)
        if given.dims != expected and not (given.size == 1 and expected == ones):
            return (
                f"{tensor.c_name} has shape {shape_text(given.dims)}; the result has shape "
                f"{shape_text(expected)} and cannot be copied into it"
            )
    return None


def learned(request: Request) -> str | None:
    """Find `Request.known`, the lengths of all axes, once; return what makes that impossible."""
    operator = request.operator
    if request.is_learned:
        return None
    request.is_learned = True
    read_as = operator.hooks.read_as(request)
    shapes = {
        tensor.name: read_as.get(tensor.name, request.tensors[tensor.name].dims)
        for tensor in operator.inputs
        if request.tensors[tensor.name] is not None
    }
    for option in operator.options:
        if option.kind is Kind.LENGTHS and not request.values[option.name]:
            return f"{option.c_name} is empty; it must have at least one element"
    while True:
        try:
            request.known = operator.learn(shapes, request.values)
        except ShapeError as error:
            if error.tensor is operator.primary:
                return _too_short(request, shapes)
            del shapes[error.tensor.name]  # its own check finds what is wrong
            continue
        return None


def _given(request: Request, c_name: str) -> Given:
    given: Given = request.tensors[request.operator.parameters[c_name].name]
    return given


def _there(request: Request, check: Check) -> list[Parameter]:
    """Return the parameters of a check that are compared in this call."""
    named = (request.operator.parameters[name] for name in check.names)
    return [
        parameter
        for parameter in named
        if isinstance(parameter, Option)
        or request.takes_part(parameter.name)
        or (check.least is not None and request.tensors[parameter.name] is not None)
    ]


def _impossible(request: Request, parameter: Parameter, least: int | None, most: int) -> str | None:
    if isinstance(parameter, Option):
        lengths = request.values[parameter.name]
        if len(lengths) <= most:
            return None
        return f"{parameter.c_name} has {len(lengths)} elements; it must have at most {most}"
    dims = request.tensors[parameter.name].dims
    if least is None:
        least = _least(request, parameter)
    if least <= len(dims) <= most:
        return None
    if least == most:
        return f"{parameter.c_name} has shape {shape_text(dims)}; it must have one dimension"
    return (
        f"{parameter.c_name} has {len(dims)} dimensions, shape {shape_text(dims)}; it must have "
        + (f"{least} to {most}" if least else f"at most {most}")
    )


def _least(request: Request, tensor: Tensor) -> int:
    """Return the fewest axes that a tensor of this kind may have."""
    if request.operator.build is Build.INDIVIDUAL:
        return tensor.shape.least_rank
    return min(
        sum(kind in (Word.AXIS, Word.NUMBER) for kind, _ in words)
        for words in (tensor.shape.words, *tensor.shape.other)
    )


def _too_short(request: Request, shapes: dict[str, Dims]) -> str:
    operator = request.operator
    primary = operator.primary
    rank = len(shapes[primary.name])
    for _, group in primary.shape.words:
        source = operator.rank_source(group, shapes)
        if isinstance(source, Option):
            many = len(request.values[source.name])
            return (
                f"{primary.c_name} has {rank} dimensions; it must have at least the {many} of "
                f"{source.c_name}"
            )
        if isinstance(source, Tensor):
            return (
                f"{source.c_name} has {len(shapes[source.name])} dimensions; it must have at most "
                f"the {rank} of {primary.c_name}"
            )
    return f"{primary.c_name} has {rank} dimensions, which are too few"


def _wrong_rank(request: Request, parameter: Parameter) -> str | None:
    wrong = learned(request)
    if wrong is not None or isinstance(parameter, Option):
        return wrong
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
        return None
    given = request.tensors[parameter.name]
    dims: Dims = given.dims
    if "count" in parameter.unchecked:
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
    if 0 in dims and operator.build is Build.INDIVIDUAL and not operator.hooks.takes_empty(request):
        return f"{parameter.c_name} has shape {shape_text(dims)}; no dimension may be 0"
    return None
