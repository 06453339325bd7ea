# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of described operators: an interpreter of their checks.

The checks, their order and their codes are CANN's (CANN: opbase composite_op, individual_op).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pyaclnn.facts.operators.checks import Code
from pyaclnn.facts.operators.limits import rank_fault, scalar_fault
from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.types import ARRAYS, PAIRED, acl_name
from pyaclnn.mock.operators import arguments_given, formats, options, shapes, types
from pyaclnn.mock.operators.operator import Launch, Plan, RefusalError
from pyaclnn.mock.operators.pairs import can_write_pairs
from pyaclnn.mock.operators.workspace import workspace_of
from pyaclnn.mock.protocol.status import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyaclnn.facts.operators.checks import Check
    from pyaclnn.mock.operators.operator import Setting
    from pyaclnn.mock.operators.request import Request

    Interpreter: TypeAlias = Callable[[Request, Check], "str | Plan | None"]

__all__ = ["phase_one"]


def phase_one(request: Request, setting: Setting) -> Plan:
    """Check a call.

    Raises:
        RefusalError: The call is refused.
    """
    request.start(setting)
    for check in request.operator.checks:
        found = _INTERPRETERS[check.kind](request, check)
        if isinstance(found, Plan):
            return found
        if found is not None:
            refusal = _refusal(request, check.code, found)
            if check.late:
                return Plan(workspace_of(request), Launch.FAILS, refusal.text)
            raise refusal
    _check_limits(request)
    _check_arrays(request)
    request.fills = request.operator.hooks.fills(request) or None
    unwritten = request.operator.hooks.unwritten(request)
    written = [tensor for tensor in request.operator.tensors if tensor.name in unwritten]
    names = tuple(tensor.c_name for tensor in written if request.wants(tensor))
    return Plan(workspace_of(request), Launch.KERNELS, unwritten=names)


def _check_limits(request: Request) -> None:
    """Refuse what no operator takes, and no check of this one has found: ranks, lossy scalars."""
    operator = request.operator
    for tensor in operator.tensors:
        given = request.tensors[tensor.name]
        if given is None or (operator.mask is not None and not request.wants(tensor)):
            continue  # CANN looks at no result that a mask leaves out
        wrong = rank_fault(tensor.c_name, given.rank)
        if wrong is not None:
            tiling = operator.build is Build.INDIVIDUAL
            raise _refusal(request, Code.TILING if tiling else Code.INVALID, wrong)
    results = [request.types[tensor.name] for tensor, _ in request.given() if tensor.written]
    for option in operator.options:
        word = request.types.get(option.name)
        wrong = word and scalar_fault(operator.c_name, option.c_name, word, results)
        if wrong:
            raise _refusal(request, Code.INVALID, wrong)


def _check_arrays(request: Request) -> None:
    """Refuse types that CANN takes and the simulated NPU does not compute."""
    for tensor, given in request.given():
        word = given.type
        if word in ARRAYS or tensor.ignored:
            continue
        if word in PAIRED and tensor.written and can_write_pairs(given):
            continue
        text = f"{tensor.c_name} has data type {acl_name(word)}, which the simulated NPU lacks here"
        name = request.operator.c_name
        raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, f"EZ9999: {name}: {text}")


def _refusal(request: Request, code: Code, wrong: str) -> RefusalError:
    """Return the refusal, whose text begins as CANN's does: EZ9999 for what fails inside of it."""
    name = request.operator.c_name
    begins = {
        Code.NULL: "EZ1001: ",
        Code.INVALID: "EZ1001: ",
        Code.NO_KERNEL: "EZ9999: ",
        Code.TILING: f"EZ9999: tiling of {name.removeprefix('aclnn')} failed: ",
        Code.GRAPH: f"EZ9999: {name}: ",
    }
    return RefusalError(Status[code.value], f"{begins[code]}{wrong}")


def _constraint(request: Request, _check: Check) -> str | None:
    operator = request.operator
    if operator.constraint is None:
        return None
    lengths = {o.name: (request.values[o.name],) for o in operator.options if o.derived is not None}
    wrong = operator.constraint({**request.known, **request.values, **request.bound, **lengths})
    if wrong is None:
        return None
    name, was, must = wrong
    return f"{operator.by_name[name].c_name} is {was}; it must be {must}"


def _rule(request: Request, check: Check) -> str | None:
    assert check.find is not None  # noqa: S101  # as all rules have
    return check.find(request)


def _each(request: Request, check: Check) -> str | None:
    assert check.find is not None  # noqa: S101  # as above
    names = (request.operator.parameters[c_name].name for c_name in check.names)
    given = (name for name in names if request.takes_part(name))
    return shapes.learned(request) or next(
        filter(None, (check.find(request, name) for name in given)), None
    )


def _chips(request: Request, _check: Check) -> str | None:
    families, chip = request.operator.types.families, request.chip
    if chip.family in families:
        return None
    return f"{chip.soc_name} ({chip.product}) is none of {', '.join(families)}"


def _kernels(request: Request, check: Check) -> str | None:
    operator, chip = request.operator, request.chip
    families = operator.types.families
    if chip.family in families:
        return None
    where = f"{chip.soc_name} ({chip.product})"
    if check.code is Code.GRAPH:
        return f"there are no kernels for {where}"
    base = operator.c_name.removeprefix("aclnn")
    return f"{base} has no kernels for {where}; it runs on the families {', '.join(families)}"


def _empty(request: Request, check: Check) -> Plan | None:
    """Finish a call without elements: nothing is computed, but some outputs may be filled."""
    operator = request.operator
    names = [operator.parameters[name].name for name in check.names] or [operator.primary.name]
    names += [tensor.name for tensor in operator.outputs if tensor.infer]
    found = (request.tensors[name] for name in names)
    if not any(given is not None and given.size == 0 for given in found):
        return None
    request.fills = {
        tensor.name: tensor.fill
        for tensor in operator.outputs
        if tensor.fill is not None
        and request.tensors[tensor.name] is not None
        and (tensor.when is not None or request.wants(tensor))
    } | operator.hooks.fills(request)
    filled = any(request.tensors[name].size for name in request.fills)
    return Plan(launch=Launch.KERNELS if filled else Launch.NOTHING)


def _no_outputs(request: Request, _check: Check) -> Plan | None:
    """Finish a call whose outputs are all without elements."""
    written = (tensor for tensor in request.operator.tensors if tensor.written)
    return None if any(request.tensors[tensor.name].size for tensor in written) else Plan()


def _wanted(request: Request, check: Check) -> Plan | None:
    """Finish a call that launches nothing: no output is wanted, or none is there."""
    written = [tensor for tensor in request.operator.tensors if tensor.written]
    if check.idle is not None and check.idle(request):
        return Plan()
    return None if any(request.takes_part(tensor.name) for tensor in written) else Plan()


_INTERPRETERS: Mapping[str, Interpreter] = {
    "pointers": arguments_given.pointers,
    "required": arguments_given.required,
    "mask": arguments_given.mask,
    "mask_length": arguments_given.mask_length,
    "selected": arguments_given.selected,
    "options": options.in_range,
    "scalars": options.scalars,
    "text": options.text,
    "agree": options.agree,
    "constraint": _constraint,
    "dtypes": types.dtypes,
    "dtypes_among": types.among,
    "dtype_row": types.row,
    "same_dtype": types.same,
    "rank": shapes.rank,
    "shape": shapes.shape,
    "same_shape": shapes.same,
    "one_element": shapes.one_element,
    "packed": shapes.packed,
    "copies": shapes.copies,
    "formats": formats.alike,
    "public_formats": formats.public,
    "same_format": formats.same,
    "fixed_format": formats.fixed,
    "nd_formats": formats.taken_as_nd,
    "chips": _chips,
    "kernels": _kernels,
    "rule": _rule,
    "each": _each,
    "empty": _empty,
    "no_outputs": _no_outputs,
    "wanted": _wanted,
}
