# SPDX-License-Identifier: Apache-2.0
"""Checks of data types: rows of types that go together, by family of chips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.types import ARRAYS, acl_name, fits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyaclnn.facts.operators.checks import Check
    from pyaclnn.facts.operators.operator import Operator
    from pyaclnn.facts.operators.parameters import Tensor
    from pyaclnn.facts.operators.types import Row
    from pyaclnn.mock.operators.request import Request

__all__ = ["among", "dtypes", "kinds_of", "row", "same"]


def kinds_of(rows: Iterable[Row]) -> list[str]:
    """Return every type of some rows."""
    return list(dict.fromkeys(kind for row in rows for kinds in row.values() for kind in kinds))


def dtypes(request: Request, _check: Check) -> str | None:
    """Check one tensor after the other, as composite operators do, and find `Request.bound`.

    First required tensors must have any accepted type at all, then types must go together, the
    primary tensor's before all others.
    """
    operator = request.operator
    family, accepted = request.chip.family, operator.accepted_types
    rows = accepted.get(family) or accepted.get("*")
    if rows is None:
        rows = operator.types.families.get(family, operator.types.rows)
    kinds = kinds_of(rows)
    tensors = [tensor for tensor, _ in request.given() if "untyped" not in tensor.unchecked]
    # A result that is masked off, or not there, is not written, but its type is looked at, unless
    # the description says otherwise.
    masked = () if operator.mask is None else operator.mask.results
    tensors += [
        tensor
        for tensor in operator.outputs
        if (tensor.placeholder or tensor.c_name in masked)
        and "masked" not in tensor.unchecked
        and tensor not in tensors
        and request.tensors[tensor.name] is not None
    ]
    required = [tensor for tensor in tensors if tensor.read and not tensor.optional]
    for tensor in required:
        if request.types[tensor.name] not in _allowed(operator, tensor, {}, rows, kinds):
            return _text(request, tensor, _allowed(operator, tensor, {}, rows, kinds))
    for tensor in sorted(tensors, key=lambda tensor: tensor is not operator.primary):
        allowed = _allowed(operator, tensor, request.bound, rows, kinds)
        if request.types[tensor.name] not in allowed:
            return _text(request, tensor, allowed)
        _bind(request, tensor)
    return None


def row(request: Request, _check: Check) -> str | None:
    """Check that a kernel of an individual operator has the types of all tensors together."""
    rows = request.operator.types.families[request.chip.family]
    given = [t for t in request.operator.tensors if request.tensors[t.name] is not None]
    for tensor in given:
        _bind(request, tensor)
    if all(request.types[t.name] == _bound(request, t) for t in given) and any(
        fits(row, request.bound) for row in rows
    ):
        return None
    names = ", ".join(f"{t.c_name} {acl_name(request.types[t.name])}" for t in given)
    known = "; ".join(
        ", ".join(
            f"{t.c_name} {'/'.join(map(acl_name, row.get(t.type, (t.type,))))}" for t in given
        )
        for row in rows
    )
    return f"no kernel for {names} on {request.chip.soc_name}; it must be one of: {known}"


def among(request: Request, check: Check) -> str | None:
    """Check that each of some tensors has one of some types."""
    for c_name in check.names:
        name = request.operator.parameters[c_name].name
        if request.tensors[name] is not None and request.types[name] not in check.allowed:
            must = " or ".join(check.allowed)
            return f"{c_name} has data type {request.types[name]}; it must be {must}"
    return None


def same(request: Request, check: Check) -> str | None:
    """Check that a tensor has the type of another one."""
    name, other = check.names
    has, must = (request.types[request.operator.parameters[one].name] for one in check.names)
    return None if has == must else f"{name} has data type {has}; it must be {must}, as {other}"


def _bound(request: Request, tensor: Tensor) -> str:
    return request.bound.get(tensor.type, tensor.type)


def _bind(request: Request, tensor: Tensor) -> None:
    if tensor.type not in ARRAYS and "/" not in tensor.type:
        request.bound.setdefault(tensor.type, request.types[tensor.name])


def _allowed(
    operator: Operator,
    tensor: Tensor,
    bound: dict[str, str],
    rows: tuple[Row, ...],
    kinds: list[str],
) -> list[str]:
    if "type" in tensor.unchecked:
        return kinds
    allowed = operator.types.allowed(tensor.type, bound, rows)
    return [kind for kind in allowed if kind in kinds or "/" not in tensor.type]


def _text(request: Request, tensor: Tensor, allowed: list[str]) -> str:
    return (
        f"{tensor.c_name} has data type {acl_name(request.types[tensor.name])}; it must be "
        f"{' or '.join(map(acl_name, allowed))}"
    )
