# SPDX-License-Identifier: Apache-2.0
"""Descriptors of a trace at a call: tensors, lists of them, and what executors were made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.capture.tensor import Tensor

if TYPE_CHECKING:
    from pyaclnn.capture.trace import Call

__all__ = ["Descriptors", "Launch", "Operand"]

_MOST_LAUNCHES: Final = 4096
"""Executors that are remembered; those that are used again are few."""


class Operand(NamedTuple):
    """A tensor in a call of an operator.

    Attributes:
        parameter: The place of its parameter.
        name: The C name of that.
        element: Its place in a list.
        tensor: Its descriptor.
    """

    parameter: int
    name: str
    element: int
    tensor: Tensor


class Launch(NamedTuple):
    """An operator between its phases: its C name, its tensors, the call of its first phase."""

    name: str
    operands: tuple[Operand, ...]
    call: Call


class Descriptors:
    """Descriptors of a trace at a call: tensors, lists of them, and what executors were made of."""

    def __init__(self) -> None:
        self.made: dict[int, Call] = {}
        """The handle of each tensor, scalar, array or list -> the call that made it."""
        self.launches: dict[int, Launch] = {}
        """The handle of each executor -> what it was made of."""

    def learn(self, call: Call) -> None:
        """Note what a call has made or destroyed; a failed one has not."""
        if call.failed:
            return
        if call.name.startswith("aclCreate"):
            self.made[call.result if isinstance(call.result, int) else 0] = call
        elif call.name.endswith(PHASE_1):
            self.launches[call.handle("executor")] = self.launched(call)
        elif call.name.startswith("aclDestroy"):
            handle = call.handle(next(iter(call.arguments)))
            self.launches.pop(handle, None)
            for each in (handle, *self._elements(handle)):
                self.made.pop(each, None)
        while len(self.launches) > _MOST_LAUNCHES:
            self.launches.pop(next(iter(self.launches)))

    def _elements(self, handle: int) -> tuple[int, ...]:
        made = self.made.get(handle)
        return made.numbers("value") if made is not None and made.name.endswith("List") else ()

    def reach(self, call: Call) -> int:
        """Return the bytes from the address that a call gives a tensor to its last element."""
        made = call if call.name == "aclCreateTensor" else self.made.get(call.handle("tensor"))
        tensor = None if made is None else _tensor_of(made)
        begin = 0 if made is None else made.handle("tensorData")
        return 0 if tensor is None else tensor.begin - begin + tensor.span

    def launched(self, call: Call) -> Launch:
        """Return the tensors that a first phase is given."""
        operands: list[Operand] = []
        for place, (name, value) in enumerate(call.arguments.items()):
            letter = call.letters[name]
            handles: tuple[int, ...] = ()
            if isinstance(value, int) and letter[0] in "tT":
                handles = (value,) if letter[0] == "t" else self._elements(value)
            operands += [
                Operand(place, name, element, _tensor_of(self.made[handle]))
                for element, handle in enumerate(handles)
                if handle in self.made
            ]
        return Launch(call.name.removesuffix(PHASE_1), tuple(operands), call)


def _tensor_of(call: Call) -> Tensor:
    shape = call.numbers("viewDims")
    strides = call.numbers("stride")
    if len(strides) < len(shape):
        strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    tensor = Tensor(call.handle("dataType"), shape, strides, call.handle("tensorData"))
    offset = call.handle("offset") * (tensor.dtype.itemsize if tensor.dtype else 0)
    return tensor._replace(begin=tensor.begin + offset)
