# SPDX-License-Identifier: Apache-2.0
"""Tensors whose storage has them in blocks: of a format of blocks, with the dimensions of these.

That of matrices in FRACTAL_NZ may have one dimension, as programs write it that prepare their
weights by aclnnTransMatmulWeight; a tensor of such a weight may be a transposed view.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pyaclnn.mock.protocol.dtypes import format_name, numpy_dtype
from pyaclnn.reference.kernels.blocks import IN_BLOCKS, blocked_dims, relaid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Tensor

__all__ = ["Blocks", "blocks_of"]

_PREPARING: Final = frozenset({"aclnnTransMatmulWeight"})
"""Operators that write FRACTAL_NZ to the storage of a tensor of another format."""
_ROWS: Final = 16
_BYTES: Final = 32


class Blocks(NamedTuple):
    """Storage of a tensor in blocks.

    Attributes:
        stored: The descriptor of its blocks.
        form: The name of its format.
        dims: The dimensions of the tensor that they hold.
        turned: True if the tensor is a view of that with rows and columns exchanged.
    """

    stored: Tensor
    form: str
    dims: tuple[int, ...]
    turned: bool = False

    def read(self, memory: DeviceMemory, name: str) -> NDArray[Any]:
        """Return the tensor, row by row.

        Args:
            memory: The memory of the device.
            name: The name of the tensor, for messages.
        """
        blocks = memory.dense(name, self.stored)
        whole = relaid(blocks, self.form, "ND", np.empty(self.dims, np.bool_))
        return np.array(np.swapaxes(whole, -1, -2) if self.turned else whole)

    def write(self, memory: DeviceMemory, name: str, array: NDArray[Any]) -> None:
        """Write the tensor.

        Args:
            memory: The memory of the device.
            name: The name of the tensor, for messages.
            array: Its elements.
        """
        blocks = memory.dense(name, self.stored)
        whole = np.swapaxes(array, -1, -2) if self.turned else array
        blocks[...] = relaid(whole, "ND", self.form, blocks)


def blocks_of(tensor: Tensor, written_by: str = "") -> Blocks | None:
    """Return the storage of a tensor in blocks, or None if it has no blocks.

    Args:
        tensor: The tensor.
        written_by: The C name of the operator of which it is a result.
    """
    form = "FRACTAL_NZ" if written_by in _PREPARING else format_name(tensor.format)
    if form not in IN_BLOCKS:
        return None
    stored = tensor.storage_dims
    if tensor.contiguous and blocked_dims(form, tensor.dims, stored) == stored:
        return Blocks(replace(tensor, dims=stored), form, tensor.dims)
    if form != "FRACTAL_NZ" or tensor.rank < 2:  # noqa: PLR2004  # of matrices
        return None
    *stack, rows, columns = tensor.dims
    turned = not tensor.contiguous
    if turned:
        *outer, last, first = tensor.strides
        upright = replace(tensor, dims=(*stack, columns, rows), strides=(*outer, first, last))
        if not upright.contiguous:
            return None
        rows, columns = columns, rows
    width = _BYTES // numpy_dtype(tensor.data_type).itemsize
    blocks = (*stack, -(-columns // width), -(-rows // _ROWS), _ROWS, width)
    return Blocks(replace(tensor, dims=blocks), form, (*stack, rows, columns), turned)
