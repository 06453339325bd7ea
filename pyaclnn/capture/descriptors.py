# SPDX-License-Identifier: Apache-2.0
"""Descriptors of a trace at a call: tensors, lists of them, and what executors were made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.capture.tensor import Tensor
from pyaclnn.capture.trace import Call, read_trace
from pyaclnn.runtime.dtypes import numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from pyaclnn.capture.trace import Value

__all__ = ["Descriptors", "Launch", "Operand", "arguments_of", "is_number", "shown"]

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

    def value(self, letter: str, value: Value) -> Any:
        """Return an argument that is no tensor as Python has it.

        Args:
            letter: The letter of the parameter.
            value: The recorded argument.
        """
        if letter in "aAIFB":
            made = self.made.get(value) if isinstance(value, int) else None
            return None if made is None else self._value_of(letter, made)
        if letter == "y" and isinstance(value, int):
            return str(numpy_dtype(value))
        return bool(value) if letter == "b" else value

    def _value_of(self, letter: str, made: Call) -> Any:
        """Return a scalar, or the elements of an array or a list of scalars."""
        elements = made.arguments["value"]
        if letter == "a" and isinstance(elements, bytes):
            return np.frombuffer(elements, numpy_dtype(made.handle("dataType")))[0].item()
        if letter == "A" and isinstance(elements, tuple):
            return [self.value("a", handle) for handle in elements]
        if isinstance(elements, bytes):
            return np.frombuffer(elements, np.float32 if letter == "F" else np.bool_).tolist()
        return [] if elements is None else list(elements) if isinstance(elements, tuple) else None

    def words(self, call: Call, launch: Launch | None) -> str:
        """Return the arguments of a call in words: tensors by dtype and shape, scalars by value.

        Args:
            call: The call.
            launch: The call that it prepares, if it is a first phase.
        """
        tensors: dict[str, list[Tensor]] = {}
        for operand in () if launch is None else launch.operands:
            tensors.setdefault(operand.name, []).append(operand.tensor)
        return ", ".join(
            f"{name}={self._word(call.letters[name], value, tensors.get(name, []))}"
            for name, value in call.arguments.items()
        )

    def _word(self, letter: str, value: Value, tensors: list[Tensor]) -> str:
        if tensors:
            words = [f"{each.dtype or each.acl_type}{list(each.shape)}" for each in tensors]
            return words[0] if letter[0] == "t" else f"[{', '.join(words)}]"
        known = self.value(letter[0], value) if letter[0] in "aAIFB" else None
        return shown(value, letter) if known is None else repr(known)

    def launch(self, call: Call, *, first_only: bool = False) -> Launch | None:
        """Return what a first phase of an operator, or a second, launches; None for other calls."""
        if call.name.endswith(PHASE_1):
            return self.launched(call)
        is_second = call.letters.get("executor") == "h" and not first_only
        found = self.launches.get(call.handle("executor")) if is_second else None
        return found if found is not None and found.name == call.name else None

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


def is_number(value: Value, letter: str) -> bool:
    """Return whether a recorded argument is the number that a call has answered, in bytes."""
    return isinstance(value, bytes) and letter[0] in "oS" and len(value) <= 8  # noqa: PLR2004


def shown(value: Value, letter: str) -> str:
    """Return a value in words, by the letter of its parameter."""
    if isinstance(value, bytes):
        if not is_number(value, letter):
            return f"{len(value)} bytes"
        number = int.from_bytes(value, "little")
        return f"0x{number:x}" if letter.startswith("o>") or letter[0] == "S" else str(number)
    if value is None:
        return "NULL"
    if letter[0] in "htTaAIFB" and isinstance(value, int):
        return f"0x{value:x}" if value else "NULL"
    return str(list(value)) if isinstance(value, tuple) else repr(value)


def arguments_of(path: Path, numbers: AbstractSet[int]) -> dict[int, str]:
    """Return the arguments of some calls of a trace in words; of second phases those of the first.

    Args:
        path: The trace.
        numbers: The numbers of the calls.
    """
    found: dict[int, str] = {}
    descriptors = Descriptors()
    for call in read_trace(path) if numbers else ():
        if isinstance(call, Call):
            descriptors.learn(call)
            if call.number in numbers:
                launch = descriptors.launch(call)
                given = call if launch is None else launch.call
                found[call.number] = descriptors.words(given, launch)
                if len(found) == len(numbers):
                    break
    return found


def _tensor_of(call: Call) -> Tensor:
    shape = call.numbers("viewDims")
    strides = call.numbers("stride")
    if len(strides) < len(shape):
        strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    tensor = Tensor(call.handle("dataType"), shape, strides, call.handle("tensorData"))
    offset = call.handle("offset") * (tensor.dtype.itemsize if tensor.dtype else 0)
    return tensor._replace(begin=tensor.begin + offset)
