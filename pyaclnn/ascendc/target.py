# SPDX-License-Identifier: Apache-2.0
"""Chips as targets of kernels: the size of the unified buffer, and the macros of the chip.

As a program it prints the macros of the chips that are named, or of all, for the modules of CMake.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from pyaclnn.facts.chips import DEFAULT_SOC_NAME, FAMILIES, all_chips, find_chip

__all__ = ["DEFAULT_SOC_NAME", "Target", "find_target"]


class Target(NamedTuple):
    """A chip to build and run for.

    Attributes:
        soc_name: Its full name.
        family: The number of its family in the emulation.
        unified_buffer: Bytes of on-chip memory of a vector core.
        macros: Macros that a kernel's source can ask, or a header of the emulation.
    """

    soc_name: str
    family: int
    unified_buffer: int
    macros: tuple[str, ...]


def find_target(soc_name: str) -> Target:
    """Find a chip by its full name.

    Args:
        soc_name: For example ``"Ascend910B3"``; `pyaclnn.facts.chips` has the list.

    Raises:
        ValueError: No chip is called so.
    """
    try:
        chip = find_chip(soc_name)
    except KeyError as error:
        raise ValueError(f"soc: {error.args[0]}") from None
    family = FAMILIES[chip.family]
    number = list(FAMILIES).index(chip.family)
    return Target(
        soc_name,
        number,
        family.unified_buffer,
        (
            f"__NPU_ARCH__={chip.npu_arch}",
            f"__CCE_AICORE__={family.cce_aicore}",
            f"PYACLNN_FAMILY={number}",
            f"PYACLNN_UNIFIED_BUFFER={family.unified_buffer}",
            f"PYACLNN_CUBE_CORES={chip.ai_cores}",
            f"PYACLNN_VECTOR_CORES={chip.kernel_cores}",
        ),
    )


if __name__ == "__main__":
    for chip in sys.argv[1:] or [each.soc_name for each in all_chips()]:
        sys.stdout.write(f"{' '.join((chip, *find_target(chip).macros))}\n")
