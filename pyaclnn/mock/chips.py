# SPDX-License-Identifier: Apache-2.0
"""The chips the simulated NPU can be.

Names, core counts and memory are those of CANN's platform configuration files
(CANN: runtime platform_config/<SoC>.ini), stream and event limits those of its documentation.
Where they give none, the table holds a figure of the same family: the memory of the 910 family, the
cache of most chips, and cores and memory of Ascend950PR_9579.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

__all__ = ["DEFAULT_SOC_NAME", "Chip", "all_chips", "find_chip"]

DEFAULT_SOC_NAME = "Ascend910B3"

_WITH_BF16 = frozenset({"910b", "910_93", "950"})
_REGBASE = frozenset({"950"})
_ATLAS_A2_A3 = frozenset({"910b", "910_93"})
_MARKETING = {
    "910b": "Atlas A2",
    "910_93": "Atlas A3",
    "950": "Ascend 950",
    "310p": "Atlas inference series (310P)",
    "910": "Atlas training series (910)",
    "310b": "Atlas 200I/500 A2 (310B)",
}


@dataclass(frozen=True, slots=True)
class Chip:
    """One chip.

    Attributes:
        soc_name: Full name, as ``aclrtGetSocName`` gives it.
        family: 910b (Atlas A2), 910_93 (Atlas A3), 950, 310p, 910 (first generation) or 310b.
        ai_cores: Number of AI (cube) cores.
        vector_cores: Number of separate vector cores, 0 when the AI cores do the vector work.
        memory_bytes: Device memory in bytes.
        npu_arch: Number of the core architecture, 2201 for DAV_2201.
        streams: How many streams a device has.
        events: How many events a device has.
        l2_bytes: The cache that the cores share, in bytes.
    """

    soc_name: str
    family: str
    ai_cores: int
    vector_cores: int
    memory_bytes: int
    npu_arch: int
    streams: int
    events: int
    l2_bytes: int

    @property
    def bfloat16(self) -> bool:
        """Whether the cores compute in bfloat16."""
        return self.family in _WITH_BF16

    @property
    def regbase(self) -> bool:
        """Whether the vector units work on registers: Ascend 950."""
        return self.family in _REGBASE

    @property
    def atlas_a2_a3(self) -> bool:
        """Whether this is Atlas A2 or A3, which share their kernels."""
        return self.family in _ATLAS_A2_A3

    @property
    def kernel_cores(self) -> int:
        """How many cores a vector kernel can be spread over."""
        return self.vector_cores or self.ai_cores

    @property
    def product(self) -> str:
        """The product family's name, for messages."""
        return _MARKETING[self.family]


def all_chips() -> tuple[Chip, ...]:
    """Read the table of chips in the order of ``chips.json``."""
    # A plain path and no importlib.resources: that import costs the device process 15 ms.
    path = os.path.join(os.path.dirname(__file__), "chips.json")  # noqa: PTH118, PTH120
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return tuple(Chip(**row) for row in json.load(file))


def find_chip(soc_name: str) -> Chip:
    """Find a chip by its full name.

    Args:
        soc_name: For example ``"Ascend910B3"``; case matters, as it does in CANN.

    Returns:
        The chip.

    Raises:
        KeyError: No such chip; the message lists the names.
    """
    chips = {chip.soc_name: chip for chip in all_chips()}
    try:
        return chips[soc_name]
    except KeyError:
        raise KeyError(
            f"chip {soc_name!r} is unknown to the simulated NPU; it must be one of "
            f"{', '.join(chips)}"
        ) from None
