# SPDX-License-Identifier: Apache-2.0
"""What a chip is to a kernel: the size of its unified buffer and the macros that name it."""

from __future__ import annotations

from typing import NamedTuple

from pyaclnn.mock.chips import DEFAULT_SOC_NAME, find_chip
from pyaclnn.tiling.chips import UNIFIED_BUFFER_BYTES

__all__ = ["DEFAULT_SOC_NAME", "Target", "find_target"]

# The order is that of the enumeration Family in ascendc/core.h.
_FAMILIES = ("910b", "910_93", "950", "310p", "910", "310b")

_CCE_AICORE = {"910b": 220, "910_93": 220, "950": 310, "310p": 200, "910": 100, "310b": 300}


class Target(NamedTuple):
    """A chip to build and run for.

    Attributes:
        soc_name: Its full name.
        family: The number by which the emulation knows its family.
        unified_buffer: Bytes of on-chip memory of a vector core.
        macros: Macros that a kernel's source can ask.
    """

    soc_name: str
    family: int
    unified_buffer: int
    macros: tuple[str, ...]


def find_target(soc_name: str) -> Target:
    """Find a chip by its full name.

    Args:
        soc_name: For example ``"Ascend910B3"``; `pyaclnn.mock.chips` has the list.

    Raises:
        ValueError: No chip is called so.
    """
    try:
        chip = find_chip(soc_name)
    except KeyError as error:
        raise ValueError(f"soc: {error.args[0]}") from None
    return Target(
        soc_name,
        _FAMILIES.index(chip.family),
        UNIFIED_BUFFER_BYTES[chip.family],
        (f"__NPU_ARCH__={chip.npu_arch}", f"__CCE_AICORE__={_CCE_AICORE[chip.family]}"),
    )
