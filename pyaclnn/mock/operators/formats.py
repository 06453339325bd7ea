# SPDX-License-Identifier: Apache-2.0
"""Checks of formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.mock.operators.request import CHANNELS_LAST
from pyaclnn.mock.protocol.dtypes import FORMATS, format_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyaclnn.facts.operators.checks import Check
    from pyaclnn.facts.operators.parameters import Parameter, Tensor
    from pyaclnn.mock.operators.request import Request
    from pyaclnn.mock.protocol.values import Tensor as Given

__all__ = [
    "TAKEN_AS_ND",
    "alike",
    "fixed",
    "is_private",
    "not_as_nd",
    "public",
    "same",
    "taken_as_nd",
]

# Prefixes of the names of formats whose memory layout is not that of a view.
_PRIVATE = ("NC1HWC0", "NDC1HWC0", "FRACTAL_")

# Formats that individual operators rewrite to ND before they look for a kernel; NDHWC is not among
# them (CANN: opbase indv_executor_tensor.cpp). Hand-written operators look at no format.
TAKEN_AS_ND = frozenset(FORMATS[name] for name in ("ND", "NCHW", "NHWC", "NCDHW", "NCL"))


def is_private(form: int) -> bool:
    """Report whether a format, a number of ``aclFormat``, has a memory layout of its own."""
    return format_name(form).startswith(_PRIVATE)


def alike(request: Request, check: Check) -> str | None:
    """Check the tensors like the primary one: a public format, its format, that for its axes."""
    for tensor, given in _alike(request):
        needed = check.by_rank.get(given.rank)
        allowed = {needed}
        if request.chip.family in request.operator.channels_last:
            allowed.add(CHANNELS_LAST.get(given.rank))
        wrong = _private(tensor, given, check.allowed) or _other(request, tensor, given)
        if wrong is None and needed is not None:
            wrong = _not_among(tensor, given, allowed)
        if wrong is not None:
            return wrong
    return None


def public(request: Request, _check: Check) -> str | None:
    """Check that no format has a layout of its own: of inputs, and of tensors like the primary."""
    shape = request.operator.primary.shape
    found = (
        _private(tensor, given)
        for tensor, given in request.given()
        if not tensor.written or tensor.shape == shape
    )
    return next(filter(None, found), None)


def same(request: Request, _check: Check) -> str | None:
    """Check that the tensors like the primary one have its format."""
    found = (_other(request, tensor, given) for tensor, given in _alike(request))
    return next(filter(None, found), None)


def fixed(request: Request, check: Check) -> str | None:
    """Check the formats of tensors by their numbers of axes."""
    for c_name in check.names:
        tensor = request.operator.parameters[c_name]
        given = request.tensors[tensor.name]
        needed = check.by_rank.get(given.rank)
        wrong = None if needed is None else _not_among(tensor, given, {needed})
        if wrong is not None:
            return wrong
    return None


def taken_as_nd(request: Request, _check: Check) -> str | None:
    """Check that formats are taken as ND."""
    pairs = ((tensor.c_name, request.tensors[tensor.name]) for tensor in request.operator.tensors)
    return next(filter(None, (not_as_nd(*pair) for pair in pairs)), None)


def not_as_nd(name: str, tensor: Given | None) -> str | None:
    """Return what is wrong with a format that is not taken as ND; an absent tensor passes."""
    if tensor is None or tensor.format in TAKEN_AS_ND:
        return None
    names = ", ".join(sorted(format_name(form) for form in TAKEN_AS_ND))
    return f"{name} has format {format_name(tensor.format)}; it must be one of {names}"


def _alike(request: Request) -> list[tuple[Tensor, Given]]:
    shape = request.operator.primary.shape
    return [(tensor, given) for tensor, given in request.given() if tensor.shape == shape]


def _private(tensor: Tensor, given: Given, barred: Collection[str] = ()) -> str | None:
    form = format_name(given.format)
    if not is_private(given.format) and form not in barred:
        return None
    more = f" and none of {', '.join(barred)}" if barred else ""
    return f"{tensor.c_name} has format {form}; it must be one without a layout of its own{more}"


def _other(request: Request, tensor: Tensor, given: Given) -> str | None:
    primary = request.operator.primary
    form = request.tensors[primary.name].format
    if given.format == form:
        return None
    return (
        f"{tensor.c_name} has format {format_name(given.format)}; it must be {format_name(form)}, "
        f"that of {primary.c_name}"
    )


def _not_among(tensor: Parameter, given: Given, allowed: Collection[str | None]) -> str | None:
    form = format_name(given.format)
    if form in allowed:
        return None
    needed = " or ".join(sorted(filter(None, allowed)))
    return f"{tensor.c_name} has {given.rank} dimensions and format {form}; it must be {needed}"
