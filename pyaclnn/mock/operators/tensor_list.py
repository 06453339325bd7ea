# SPDX-License-Identifier: Apache-2.0
"""Described operators on lists: a request for each place of the lists, and one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.workspace import SYSTEM_WORKSPACE
from pyaclnn.mock.operators import kernel, rules
from pyaclnn.mock.operators.operator import Launch, Plan, RefusalError, Work
from pyaclnn.mock.operators.phase_one import phase_one
from pyaclnn.mock.operators.request import Request
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import TensorList

if TYPE_CHECKING:
    from pyaclnn.facts.operators.operator import Operator as Description
    from pyaclnn.mock.operators.operator import Setting
    from pyaclnn.mock.protocol.memory import DeviceMemory

__all__ = ["Requests", "kernels_of_each", "phase_one_of_each"]

_STEPS = (
    Status.PARAM_NULLPTR,
    Status.INNER_FIND_KERNEL,
    Status.PARAM_INVALID,
    Status.INNER_TILING,
)
"""The codes of an individual operator, in the order of its checks."""


class Requests:
    """A call.

    Args:
        operator: The operator.
        arguments: Its arguments in the order of C.

    Attributes:
        operator: The operator.
        each: A request for each place that all lists have; a list that is NULL has it at each.
        lengths: Lengths of the lists, by their C names.
    """

    def __init__(self, operator: Description, *arguments: Any) -> None:
        self.operator = operator
        pairs = zip(operator.parameters, arguments, strict=True)
        self.lengths = {n: len(v.items) for n, v in pairs if isinstance(v, TensorList)}
        places = range(min(self.lengths.values(), default=1))
        if None in arguments:
            places = range(max(len(places), 1))
        self.each = [
            Request(operator, *(_at(value, place) for value in arguments)) for place in places
        ]


def _at(value: Any, place: int) -> Any:
    if not isinstance(value, TensorList):
        return value
    return value.items[place] if place < len(value.items) else None


def phase_one_of_each(requests: Requests, setting: Setting) -> Plan:
    """Check a call; the refusal of the earliest check is raised.

    Raises:
        RefusalError: The call is refused.
    """
    answers = [_answer(request, setting) for request in requests.each]
    refusals = [answer for answer in answers if isinstance(answer, RefusalError)]
    refusals += _of_lists(requests)
    if refusals:
        raise min(refusals, key=lambda refusal: _STEPS.index(refusal.status))
    plans = [answer for answer in answers if isinstance(answer, Plan)]
    if not any(plan.launch for plan in plans):
        return Plan()
    more = sum(plan.workspace_size - SYSTEM_WORKSPACE for plan in plans)
    return Plan(SYSTEM_WORKSPACE + more, Launch.KERNELS)


def _answer(request: Request, setting: Setting) -> Plan | RefusalError:
    try:
        return phase_one(request, setting)
    except RefusalError as refusal:
        return refusal


def _of_lists(requests: Requests) -> list[RefusalError]:
    """Return refusals of lists as a whole: of one type each, and equally long."""
    operator, found = requests.operator, []
    for tensor in operator.tensors:
        types = list(dict.fromkeys(r.types.get(tensor.name, "") for r in requests.each))
        if len(types) > 1 and "" not in types:  # NULL is refused before
            text = f"{tensor.c_name} has data types {', '.join(types)}; it must have one"
            found.append(rules.invalid(text))
    first = operator.primary.c_name
    for name, length in requests.lengths.items():
        if length != requests.lengths.get(first, length):
            must = f"{requests.lengths[first]}, as {first} has"
            text = f"{name} has {length} tensors; it must have {must}"
            found.append(rules.tiling_failure(operator.c_name.removeprefix("aclnn"), text))
    return found


def kernels_of_each(requests: Requests, memory: DeviceMemory) -> Work:
    """Bind the kernels of a call that phase 1 has accepted."""
    works = [kernel.kernels(request, memory) for request in requests.each]

    def run() -> None:
        for work in works:
            work.run()

    return Work(run)
