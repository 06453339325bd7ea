# SPDX-License-Identifier: Apache-2.0
"""Poison of outputs that a kernel may leave unwritten, and injected wrong numbers after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.mock.protocol.memory import DeviceMemory, DeviceMemoryError
from pyaclnn.mock.protocol.values import Tensor, TensorList

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.values import Call, Value

__all__ = [
    "OUTPUT_POISON",
    "PoisonedOutput",
    "poison_output",
    "poison_outputs",
    "restore_unwritten",
    "spoil_outputs",
]

# A NaN in every floating type; seen in a result, the kernel has not written there.
OUTPUT_POISON = 0x7FFB
_WORD = OUTPUT_POISON * 0x0001_0001_0001_0001
_WIDEST = 8


class PoisonedOutput(NamedTuple):
    """An output that was filled with poison.

    Attributes:
        bits: Its elements as unsigned integers, in device memory.
        pattern: The poison of one element.
        before: Its contents.
    """

    bits: NDArray[Any]
    pattern: int
    before: NDArray[Any]


def poison_outputs(
    memory: DeviceMemory, call: Call, written: int, updated: int = 0
) -> list[PoisonedOutput]:
    """Fill every output with `OUTPUT_POISON`, as far as no input lies there.

    Memory that cannot be reached is left to the kernel, which then fails.

    Args:
        memory: The device's memory.
        call: The call.
        written: The arguments that are written, a bit each.
        updated: Those of them that are read as well.

    Returns:
        The filled parts, for `restore_unwritten`.
    """
    values = list(call.arguments.values())
    inputs = list(_arrays(memory, _some(values, ~written | updated)))
    outputs = _arrays(memory, _some(values, written))
    return [found for array in outputs if (found := poison_output(array, inputs)) is not None]


def poison_output(array: NDArray[Any], inputs: Iterable[NDArray[Any]]) -> PoisonedOutput | None:
    """Fill an output with `OUTPUT_POISON`, unless an input lies there."""
    if array.itemsize > _WIDEST or any(np.may_share_memory(array, other) for other in inputs):
        return None
    bits = array.view(f"u{array.itemsize}")
    pattern = _WORD & ((1 << (8 * array.itemsize)) - 1)
    poisoned = PoisonedOutput(bits, pattern, bits.copy())
    bits[...] = pattern
    return poisoned


def restore_unwritten(poisoned: Iterable[PoisonedOutput]) -> None:
    """Restore the contents of outputs that the kernel left alone, such as masked ones."""
    for output in poisoned:
        if (output.bits == output.pattern).all():
            output.bits[...] = output.before


def spoil_outputs(memory: DeviceMemory, call: Call, written: int) -> None:
    """Change every element of every output, to test those who check results.

    Args:
        memory: The device's memory.
        call: The call.
        written: The arguments that are written, a bit each.
    """
    values = list(call.arguments.values())
    for array in _arrays(memory, _some(values, written)):
        if array.dtype == np.bool_:
            array[...] = ~array
        elif array.dtype.kind in "iu":
            array[...] += 1
        else:
            array[...] = array * array.dtype.type(1.5) + array.dtype.type(1)


def _some(values: Sequence[Value], mask: int) -> list[Value]:
    return [value for place, value in enumerate(values) if mask >> place & 1]


def _arrays(memory: DeviceMemory, values: Sequence[Value]) -> Iterator[NDArray[Any]]:
    for value in values:
        for tensor in value.items if isinstance(value, TensorList) else (value,):
            if isinstance(tensor, Tensor):
                try:
                    yield memory.view("tensor", tensor)
                except (DeviceMemoryError, KeyError, ValueError):
                    continue
