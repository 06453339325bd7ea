# SPDX-License-Identifier: Apache-2.0
"""Matrices whose storage is FRACTAL_NZ: blocks of 16 rows by 32 bytes, column by column.

The storage has the dimensions of the blocks, or one dimension as programs write it that prepare
their weights by aclnnTransMatmulWeight; a tensor of such a weight may be a transposed view.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pyaclnn.mock.protocol.dtypes import format_name, numpy_dtype
from pyaclnn.reference.kernels.graph_functions import relaid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Tensor

__all__ = ["Fractal", "fractal_of"]

_PREPARING: Final = frozenset({"aclnnTransMatmulWeight"})
"""Operators that write FRACTAL_NZ to the storage of a tensor of another format."""
_ROWS: Final = 16
_BYTES: Final = 32


class Fractal(NamedTuple):
    """Storage of a tensor in FRACTAL_NZ.

    Attributes:
        blocks: The descriptor of its blocks.
        dims: The dimensions of the matrices that they hold.
        turned: Whether the tensor is a view of these with rows and columns exchanged.
    """

    blocks: Tensor
    dims: tuple[int, ...]
    turned: bool

    def read(self, memory: DeviceMemory, name: str) -> NDArray[Any]:
        """Return the tensor's matrices, row by row.

        Args:
            memory: The memory of the device.
            name: The name of the tensor, for messages.
        """
        blocks = memory.dense(name, self.blocks)
        whole = relaid(blocks, "FRACTAL_NZ", "ND", np.empty(self.dims, np.bool_))
        return np.array(np.swapaxes(whole, -1, -2) if self.turned else whole)

    def write(self, memory: DeviceMemory, name: str, array: NDArray[Any]) -> None:
        """Write the tensor's matrices.

        Args:
            memory: The memory of the device.
            name: The name of the tensor, for messages.
            array: The matrices.
        """
        blocks = memory.dense(name, self.blocks)
        whole = np.swapaxes(array, -1, -2) if self.turned else array
        blocks[...] = relaid(whole, "ND", "FRACTAL_NZ", blocks)


def fractal_of(tensor: Tensor, written_by: str = "") -> Fractal | None:
    """Return the storage of a tensor in FRACTAL_NZ, or None if it is in another format.

    Args:
        tensor: The tensor.
        written_by: The C name of the operator of which it is a result.
    """
    if tensor.rank < 2:  # noqa: PLR2004  # of matrices
        return None
    if format_name(tensor.format) != "FRACTAL_NZ" and written_by not in _PREPARING:
        return None
    *stack, rows, columns = tensor.dims
    if len(tensor.storage_dims) == tensor.rank + 2 and tensor.contiguous:
        return Fractal(replace(tensor, dims=tensor.storage_dims), tensor.dims, turned=False)
    turned = not tensor.contiguous
    if turned:
        *outer, last, first = tensor.strides
        upright = replace(tensor, dims=(*stack, columns, rows), strides=(*outer, first, last))
        if not upright.contiguous:
            return None
        rows, columns = columns, rows
    width = _BYTES // numpy_dtype(tensor.data_type).itemsize
    blocks = (*stack, -(-columns // width), -(-rows // _ROWS), _ROWS, width)
    return Fractal(replace(tensor, dims=blocks), (*stack, rows, columns), turned)
