# SPDX-License-Identifier: Apache-2.0
"""The chips, and what the families of chips have in common: one table for everybody.

Names, core counts and memory are those of CANN's platform configuration files
(CANN: runtime platform_config/<SoC>.ini), stream and event limits those of its documentation.
Where they give none, the table holds a figure of the same family: the memory of the 910 family, the
cache of most chips, and cores and memory of Ascend950PR_9579.
"""

from __future__ import annotations

import functools
import json
import os
import re
from typing import Final, NamedTuple

__all__ = [
    "DEFAULT_SOC_NAME",
    "FAMILIES",
    "Chip",
    "Family",
    "all_chips",
    "find_chip",
    "find_family",
]

DEFAULT_SOC_NAME: Final = "Ascend910B3"


class Family(NamedTuple):
    """Properties that the chips of a family share.

    Attributes:
        pattern: A regular expression for their full names.
        product: The product family's name, for messages.
        unified_buffer: Bytes of the unified buffer of a vector core (ub_size).
        cce_aicore: The value of ``__CCE_AICORE__`` in the compiler of kernels.
        package: Name of the packages with their kernels.
        bfloat16: True if the cores compute in bfloat16.
        normalization: True if the cores have the normalization interfaces of Ascend C.
        since: The first release of CANN that knows the chips, in short; None for every release.
    """

    pattern: str
    product: str
    unified_buffer: int
    cce_aicore: int
    package: str
    bfloat16: bool = False
    normalization: bool = True
    since: str | None = None


# The order is that of the enumeration Family in ascendc/core.h. "Ascend910B" without a digit is a
# chip of the first generation; all of Atlas A2 carry one.
FAMILIES: Final = {
    "910b": Family(r"Ascend910B\d\w*(-\d)?", "Atlas A2", 192 << 10, 220, "910b", bfloat16=True),
    "910_93": Family(r"Ascend910_93\w+", "Atlas A3", 192 << 10, 220, "A3", bfloat16=True),
    "950": Family(
        r"Ascend950\w*|Ascend910_95\w*",
        "Ascend 950",
        *(248 << 10, 310, "950"),
        bfloat16=True,
        since="9.1",
    ),
    "310p": Family(r"Ascend310P\d", "Atlas inference series (310P)", 256 << 10, 200, "310p"),
    "910": Family(
        r"Ascend910(Pro|Premium)?[AB]",
        "Atlas training series (910)",
        *(256 << 10, 100, "910"),
        normalization=False,
    ),
    "310b": Family(
        r"Ascend310B\d",
        "Atlas 200I/500 A2 (310B)",
        *(248 << 10, 300, "310b"),
        normalization=False,
    ),
}
"""The families of chips by the names that CANN gives the folders of their kernels."""


class Chip(NamedTuple):
    """One chip.

    Attributes:
        soc_name: Full name, as ``aclrtGetSocName`` gives it.
        family: 910b (Atlas A2), 910_93 (Atlas A3), 950, 310p, 910 (first generation) or 310b.
        ai_cores: Number of AI (cube) cores.
        vector_cores: Number of separate vector cores, 0 when the AI cores do the vector work.
        memory_bytes: Device memory in bytes.
        npu_arch: Number of the core architecture, 2201 for DAV_2201.
        streams: Number of streams of a device.
        events: Number of events of a device.
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
        """True if the cores compute in bfloat16."""
        return FAMILIES[self.family].bfloat16

    @property
    def kernel_cores(self) -> int:
        """Number of cores for a vector kernel."""
        return self.vector_cores or self.ai_cores

    @property
    def product(self) -> str:
        """The product family's name, for messages."""
        return FAMILIES[self.family].product


@functools.cache  # a device looks its chip up twice when it is opened
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


def find_family(soc_name: str) -> str | None:
    """Name the family of a chip, which need not be in the table of chips.

    Args:
        soc_name: Its full name, as ``aclrtGetSocName`` gives it; case matters, as it does in CANN.

    Returns:
        A key of `FAMILIES`, or None if no chip is called so.
    """
    return next((n for n, f in FAMILIES.items() if re.fullmatch(f.pattern, soc_name)), None)
