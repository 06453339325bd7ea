# SPDX-License-Identifier: Apache-2.0
"""Device memory of results, in which a kernel may compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.mock.operators.blocks import blocks_of
from pyaclnn.mock.operators.complex32 import is_complex32
from pyaclnn.mock.operators.limits import items_of
from pyaclnn.mock.operators.pairs import is_paired
from pyaclnn.mock.protocol.values import Tensor, TensorList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pyaclnn.mock.operators.arguments import Signature
    from pyaclnn.mock.operators.kernel_call import Result
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Value

__all__ = ["result_memory"]


def result_memory(
    signature: Signature, values: dict[str, Value], written: Sequence[Result], memory: DeviceMemory
) -> NDArray[Any] | list[NDArray[Any]] | None:
    """Return the memory of a result, or of each of a list.

    Args:
        signature: The operator's signature.
        values: The arguments by their C names.
        written: The results of an earlier run.
        memory: The device's memory.

    Returns:
        Contiguous arrays; None if there are several results, a tensor that NumPy cannot write
        directly, a shorter result, or a row of a list that would change what another one reads.
    """
    if len(signature.written) != 1 or not all(_is_plain(signature, r.tensor) for r in written):
        return None
    arrays = [memory.view(result.name, result.tensor) for result in written]
    pairs = zip(arrays, written, strict=True)
    if not all(a.flags.c_contiguous and a.shape == r.array.shape for a, r in pairs):
        return None
    target = values[signature.written[0]]
    if isinstance(target, Tensor):
        return arrays[0]
    if len(arrays) != len(items_of(target)):
        return None
    rows = list(enumerate(arrays))
    for name in signature.read:
        is_list = isinstance(values[name], TensorList)
        for place, item in enumerate(items_of(values[name])):
            if isinstance(item, Tensor):
                rows.append((place if is_list else -1, memory.view(name, item)))
    return arrays if _are_apart(rows) else None


def _is_plain(signature: Signature, tensor: Tensor) -> bool:
    special = is_paired(tensor) or is_complex32(tensor)
    return not special and blocks_of(tensor, signature.name) is None


def _are_apart(rows: Sequence[tuple[int, NDArray[Any]]]) -> bool:
    """Report whether contiguous arrays of different rows have no byte in common."""
    if not all(array.flags.c_contiguous for _, array in rows):
        return False
    spans = sorted(
        (array.__array_interface__["data"][0], array.nbytes, row)
        for row, array in rows
        if array.size
    )
    end, last = 0, -1
    for start, length, row in spans:
        if start < end and row != last:
            return False
        if start + length > end:
            end, last = start + length, row
    return True
