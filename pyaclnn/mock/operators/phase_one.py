# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of described operators: composite ones (pattern C) and individual ones (pattern W).

The order of steps and their codes are CANN's (CANN: opbase composite_op and individual_op).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.parameters import Kind, Option
from pyaclnn.facts.operators.quirks import quirks_of
from pyaclnn.facts.operators.request import shape_text
from pyaclnn.mock.operators import rules
from pyaclnn.mock.operators.operator import Launch, Plan, RefusalError
from pyaclnn.mock.operators.options import wrong_option, wrong_scalar
from pyaclnn.mock.operators.request import CHANNELS_LAST
from pyaclnn.mock.operators.shapes import wrong_shape
from pyaclnn.mock.operators.types import wrong_column, wrong_type
from pyaclnn.mock.operators.workspace import workspace_of
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import Flag

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.facts.operators.parameters import Parameter, Tensor
    from pyaclnn.mock.operators.operator import Setting
    from pyaclnn.mock.operators.request import Request
    from pyaclnn.mock.protocol.values import Tensor as Given

__all__ = ["phase_one"]

_POINTERS = (Kind.LENGTHS, Kind.AXES, Kind.MASK, Kind.SCALAR, Kind.STRING)


def phase_one(request: Request, setting: Setting) -> Plan:
    """Check a call.

    Raises:
        RefusalError: The call is refused.
    """
    request.start(setting, deterministic=bool(setting.flags & Flag.DETERMINISTIC))
    individual = request.operator.build is Build.INDIVIDUAL
    return (_individual if individual else _composite)(request, setting)


def _composite(request: Request, setting: Setting) -> Plan:
    operator = request.operator
    rules.out_pointers(setting.flags)
    steps, _, late = operator.order.partition("!")
    for letter in steps if operator.mask else steps.replace("m", ""):
        if letter == "e":
            if _is_empty(request):
                return _filled(request)
        elif letter.islower():
            _STEPS[letter](request)
        else:
            _in_the_graph(request, _STEPS[letter.lower()])
    try:
        for letter in late:
            _STEPS[letter](request)
    except RefusalError as error:
        return Plan(workspace_of(request), Launch.FAILS, error.text)
    if quirks_of(operator.quirks).idle(request):
        return Plan()
    if not any(request.wants(tensor) for tensor in operator.tensors if tensor.written):
        return Plan()
    return _launched(request)


def _in_the_graph(request: Request, step: Callable[[Request], None]) -> None:
    """Look for what nobody checks before the graph of kernels is put together."""
    request.late = True
    try:
        step(request)
    except RefusalError as error:
        text = error.text.removeprefix("EZ1001: ")
        raise RefusalError(
            Status.INNER_NULLPTR, f"EZ9999: {request.operator.c_name}: {text}"
        ) from None
    finally:
        request.late = False


def _individual(request: Request, setting: Setting) -> Plan:
    operator, chip = request.operator, setting.chip
    base = operator.c_name.removeprefix("aclnn")
    _nulls(request)
    rules.out_pointers(setting.flags, (Flag.NO_EXECUTOR_POINTER, Flag.NO_WORKSPACE_POINTER))
    rows = operator.types.families.get(chip.family)
    if rows is None:
        raise RefusalError(
            Status.INNER_FIND_KERNEL,
            f"EZ9999: {base} has no kernels for {chip.soc_name} ({chip.product}); it runs on the "
            f"families {', '.join(operator.types.families)}",
        )
    rules.formats_are_taken(
        (tensor.c_name, request.tensors[tensor.name]) for tensor in operator.tensors
    )
    _refuse_if(wrong_column(request, rows))
    for option in operator.options:
        _refuse_if(wrong_scalar(request, option))
    if all(request.tensors[tensor.name].size == 0 for tensor in operator.tensors if tensor.written):
        return Plan()
    wrong = wrong_shape(request) or wrong_option(request)
    if wrong is not None:
        raise rules.tiling_failure(base, wrong)
    request.fills = quirks_of(operator.quirks).fills(request) or None
    return Plan(workspace_of(request), Launch.KERNELS)


def _launched(request: Request) -> Plan:
    """The graph of kernels of a composite operator, and what fails in it."""
    operator, chip = request.operator, request.chip
    failure = quirks_of(operator.quirks).failure(request)
    if chip.family not in operator.types.families:
        text = f"there are no kernels for {chip.soc_name} ({chip.product})"
        if not operator.listed:
            raise RefusalError(Status.INNER_NULLPTR, f"EZ9999: {operator.c_name}: {text}")
        failure = failure or text
    broken = quirks_of(operator.quirks).breaks(request)
    if broken is not None:
        raise RefusalError(Status.INNER_NULLPTR, f"EZ9999: {operator.c_name}: {broken}")
    _copies(request)
    if failure is not None:
        text = f"EZ9999: {operator.c_name}: {failure}"
        return Plan(workspace_of(request), Launch.FAILS, text)
    unwritten = quirks_of(operator.quirks).unwritten(request)
    names = tuple(t.c_name for t in operator.tensors if t.name in unwritten and request.wants(t))
    return Plan(workspace_of(request), Launch.KERNELS, unwritten=names)


def _copies(request: Request) -> None:
    """Nobody has compared these shapes so far; it is the final copy into a result that gives up.

    It compares shapes, but for tensors of one element (CANN: ops-math contiguous.cpp).
    """
    for tensor, given in request.given():
        if not tensor.written or "shape" not in tensor.loose:
            continue
        if request.chip.family == "950" and not given.size:
            continue
        expected = request.operator.dims(tensor, request.known, request.values)
        ones = (1,) * len(expected)
        if given.dims != expected and not (given.size == 1 and expected == ones):
            raise RefusalError(
                Status.INNER_NULLPTR,
                f"EZ9999: {tensor.c_name} has shape {shape_text(given.dims)}; the result has shape "
                f"{shape_text(expected)} and cannot be copied into it",
            )


def _nulls(request: Request) -> None:
    operator, mask = request.operator, request.operator.mask
    masked = () if mask is None or "m" not in operator.order else (mask.c_name, *mask.results)
    for parameter in operator.parameters.values():
        if request.values[parameter.name] is None and parameter.c_name not in masked:
            _present(request, parameter)


def _masked(request: Request) -> None:
    """The mask, and the results that it selects."""
    operator, mask = request.operator, request.operator.mask
    assert mask is not None  # noqa: S101  # who has the letter has a mask
    wanted, masked = request.values[mask.name], mask.results
    if wanted is None:
        raise _null(request, mask)
    if len(wanted) != len(masked):
        text = f"{mask.c_name} has {len(wanted)} elements; it must have {len(masked)}: "
        status = Status.PARAM_NULLPTR if operator.short_is_null else Status.PARAM_INVALID
        raise RefusalError(status, f"EZ1001: {text}{', '.join(masked)}")
    for name, wants in zip(masked, wanted, strict=True):
        parameter = operator.parameters[name]
        if wants and request.tensors[parameter.name] is None:
            raise _null(request, parameter)


def _present(request: Request, parameter: Parameter) -> None:
    """Refuse the NULL that was given for a parameter, unless it may be."""
    if parameter.c_name in request.operator.needed:
        raise _null(request, parameter)
    if isinstance(parameter, Option):
        may_be = parameter.null or parameter.c_name.endswith("Optional")
        if parameter.kind in _POINTERS and not may_be:
            raise _null(request, parameter)
        return
    tensor = next(t for t in request.operator.tensors if t.c_name == parameter.c_name)
    if tensor.optional or tensor.c_name.endswith("Optional"):
        return
    if tensor.placeholder or request.wants(tensor):
        raise _null(request, tensor)


def _null(request: Request, parameter: Parameter) -> RefusalError:
    """The refusal of NULL, with the code that this operator has for it."""
    if parameter.c_name in request.operator.null_is_invalid:
        return rules.invalid(f"{parameter.c_name} is NULL; it must point to an existing object")
    return rules.null_pointer(parameter.c_name)


def _is_empty(request: Request) -> bool:
    operator = request.operator
    names = operator.idle_without or (operator.leader.c_name,)
    looked_at = [operator.parameters[name].name for name in names]
    looked_at += [tensor.name for tensor in operator.results if tensor.infer]
    found = (request.tensors[name] for name in looked_at)
    return any(given is not None and given.size == 0 for given in found)


def _filled(request: Request) -> Plan:
    """Nothing is computed; some results are filled."""
    request.fills = {
        tensor.name: tensor.fill
        for tensor in request.operator.results
        if tensor.fill is not None
        and request.tensors[tensor.name] is not None
        and (tensor.when is not None or request.wants(tensor))
    } | quirks_of(request.operator.quirks).fills(request)
    filled = any(request.tensors[name].size for name in request.fills)
    return Plan(launch=Launch.KERNELS if filled else Launch.NOTHING)


def _refuse_if(wrong: str | None) -> None:
    if wrong is not None:
        raise rules.invalid(wrong)


def _types(request: Request) -> None:
    own = quirks_of(request.operator.quirks).types
    _refuse_if((own or wrong_type)(request))


def _refused(request: Request) -> None:
    """What words do not say."""
    operator = request.operator
    _refuse_if(quirks_of(operator.quirks).refuse(request))
    if operator.refuse is None:
        return
    lengths = {o.name: (request.values[o.name],) for o in operator.options if o.derived is not None}
    wrong = operator.refuse({**request.known, **request.values, **request.bound, **lengths})
    if wrong is not None:
        name, was, must = wrong
        _refuse(f"{operator.by_name[name].c_name} is {was}; it must be {must}")


def _null_for_the_kernel(request: Request) -> None:
    wrong = quirks_of(request.operator.quirks).nulls(request)
    if wrong is not None:
        raise RefusalError(Status.PARAM_NULLPTR, f"EZ1001: {wrong}")


def _tiled(request: Request) -> None:
    wrong = wrong_shape(request)
    if wrong is not None:
        raise rules.tiling_failure(request.operator.c_name.removeprefix("aclnn"), wrong)


def _refuse(wrong: str) -> NoReturn:
    raise rules.invalid(wrong)


def _formats(request: Request) -> None:
    operator = request.operator
    for tensor, value in _alike(request):
        _refuse_if(rules.wrong_format(tensor.c_name, value, operator.barred))
        _is_alike(request, tensor, value)
        needed = (operator.formats or {}).get(value.rank)
        allowed = {needed}
        if request.chip.family in operator.channels_last:
            allowed.add(CHANNELS_LAST.get(value.rank))
        if needed is not None:
            _refuse_if(rules.not_format(tensor.c_name, value, allowed))


def _chip(request: Request) -> None:
    families, chip = request.operator.types.families, request.chip
    if chip.family not in families:
        raise rules.invalid(f"{chip.soc_name} ({chip.product}) is none of {', '.join(families)}")


def _private_formats(request: Request) -> None:
    for tensor, value in request.given():
        if not tensor.written or tensor.shape == request.operator.leader.shape:
            _refuse_if(rules.wrong_format(tensor.c_name, value, request.operator.barred))


def _equal_formats(request: Request) -> None:
    for tensor, value in _alike(request):
        _is_alike(request, tensor, value)


def _alike(request: Request) -> list[tuple[Tensor, Given]]:
    """The tensors that are like the leading one, that among them."""
    shape = request.operator.leader.shape
    return [(tensor, value) for tensor, value in request.given() if tensor.shape == shape]


def _is_alike(request: Request, tensor: Tensor, value: Given) -> None:
    leader = request.operator.leader
    given = request.tensors[leader.name]
    _refuse_if(rules.other_format(tensor.c_name, value, leader.c_name, given))


_STEPS: dict[str, Callable[[Request], None]] = {
    "n": _nulls,
    "m": _masked,
    "d": _types,
    "a": lambda request: _refuse_if(wrong_option(request)),
    "r": _refused,
    "s": lambda request: _refuse_if(wrong_shape(request)),
    "t": _tiled,
    "w": _null_for_the_kernel,
    "f": _formats,
    "p": _private_formats,
    "c": _chip,
    "q": _equal_formats,
}
