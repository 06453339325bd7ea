# SPDX-License-Identifier: Apache-2.0
"""What individual operators share: kernel lookup by data types and the kernel's tiling.

The wrapper generated from an operator's definition checks nothing but NULL pointers. It then looks
for a kernel by the data types and formats of all tensors, and what is wrong with a shape is found
by the kernel's tiling function (CANN: opbase src/nnopbase/individual_op).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pyaclnn.mock.dtypes import data_type_name
from pyaclnn.mock.operators import rules
from pyaclnn.mock.operators.operator import RefusalError
from pyaclnn.mock.status import Status
from pyaclnn.mock.values import Flag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.mock.chips import Chip
    from pyaclnn.mock.values import Tensor

__all__ = ["Combinations", "Tiling", "find_kernel", "float_attribute", "out_pointers"]

# Data types of all tensors in the order of the signature, one row for each kernel.
Combinations: TypeAlias = tuple[tuple[int, ...], ...]


class Tiling:
    """The conditions of one kernel's tiling function; the first that fails refuses with 561002.

    Args:
        operator: The operator's name in messages.
    """

    def __init__(self, operator: str) -> None:
        self._operator = operator

    def require(self, condition: bool, text: str) -> None:
        """Refuse with a text unless the condition holds."""
        if not condition:
            raise rules.tiling_failure(self._operator, text)

    def rank_in_range(self, name: str, tensor: Tensor) -> None:
        """Require 1 to 8 dimensions."""
        self.require(
            1 <= tensor.rank <= rules.MAX_RANK,
            f"{name} has {tensor.rank} dimensions; it must have 1 to {rules.MAX_RANK}",
        )


def out_pointers(flags: int) -> None:
    """Require the two pointers at the end of phase 1; here the executor is looked at first."""
    rules.out_pointers(flags, (Flag.NO_EXECUTOR_POINTER, Flag.NO_WORKSPACE_POINTER))


def find_kernel(
    operator: str,
    names: Sequence[str],
    tensors: Sequence[Tensor],
    combinations: Mapping[str, Combinations],
    chip: Chip,
) -> None:
    """Look for the kernel of a combination of data types and formats.

    Args:
        operator: The operator's name in messages.
        names: Parameter names of the tensors.
        tensors: All tensors, inputs then outputs.
        combinations: Rows of data types by chip family; a family that is absent has no kernels.
        chip: The chip to find the kernel for.

    Raises:
        RefusalError: 561003 if the chip is not configured, whatever the combination; 161002 for a
            combination without kernel.
    """
    configured = combinations.get(chip.family)
    if configured is None:
        raise RefusalError(
            Status.INNER_FIND_KERNEL,
            f"EZ9999: {operator} has no kernels for {chip.soc_name} ({chip.product}); "
            f"it runs on the families {', '.join(combinations)}",
        )
    rules.formats_are_taken(zip(names, tensors, strict=True))
    key = tuple(tensor.data_type for tensor in tensors)
    if key not in configured:
        rows = "; ".join(_combination_text(names, row) for row in configured)
        raise rules.invalid(
            f"{operator} has no kernel for {_combination_text(names, key)} on {chip.soc_name}; "
            f"it must be one of: {rows}"
        )


def _combination_text(names: Sequence[str], row: Sequence[int]) -> str:
    return ", ".join(
        f"{name} {data_type_name(code)}" for name, code in zip(names, row, strict=True)
    )


def float_attribute(value: float) -> float:
    """Narrow a ``double`` argument to the ``float`` attribute the kernel gets."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))
