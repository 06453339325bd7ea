# SPDX-License-Identifier: Apache-2.0
"""What a chip's name says about its vector units."""

from __future__ import annotations

import re

from pyaclnn.tiling.arithmetic import TilingError

__all__ = [
    "DEFAULT_SOC_NAME",
    "UNIFIED_BUFFER_BYTES",
    "VECTOR_REGISTER_BYTES",
    "family_of",
    "has_vector_registers",
]

DEFAULT_SOC_NAME = "Ascend910B3"

VECTOR_REGISTER_BYTES = 256
"""The size of a vector register of Ascend 950."""

UNIFIED_BUFFER_BYTES = {
    "910b": 192 << 10,
    "910_93": 192 << 10,
    "950": 248 << 10,
    "310p": 256 << 10,
    "910": 256 << 10,
    "310b": 248 << 10,
}
"""The unified buffer of a vector core by family (CANN: platform_config/<SoC>.ini, ub_size)."""

# "Ascend910B" without a digit is a chip of the first generation; all of Atlas A2 carry one.
_FAMILIES = {
    "950": r"Ascend950\w*|Ascend910_95\w*",
    "910_93": r"Ascend910_93\w+",
    "910b": r"Ascend910B\d\w*(-\d)?",
    "310p": r"Ascend310P\d",
    "910": r"Ascend910(Pro|Premium)?[AB]",
    "310b": r"Ascend310B\d",
}
_WITHOUT_NORMALIZATION = {"910", "310b"}


def family_of(soc: str) -> str:
    """Name the family of a chip.

    Args:
        soc: The chip's full name, as `aclrtGetSocName` gives it; case matters, as it does in CANN.

    Returns:
        910b (Atlas A2), 910_93 (Atlas A3), 950, 310p, 910 (first generation) or 310b.

    Raises:
        TilingError: No chip is called so.
    """
    for family, pattern in _FAMILIES.items():
        if re.fullmatch(pattern, soc):
            return family
    raise TilingError(
        f"soc is {soc!r}, which names no chip known here; it must be a full name such as "
        "Ascend910B3 (Atlas A2), Ascend910_9391 (Atlas A3), Ascend310P3 or Ascend950PR_9579"
    )


def has_vector_registers(soc: str) -> bool:
    """Tell whether a chip's vector units work on registers, as Ascend 950's do.

    Args:
        soc: The chip's full name.

    Raises:
        TilingError: No chip is called so, or its cores have none of the normalization interfaces.
    """
    family = family_of(soc)
    if family in _WITHOUT_NORMALIZATION:
        raise TilingError(
            f"soc is {soc!r}, whose cores have none of the Ascend C normalization interfaces; "
            "it must be a chip of Atlas A2, Atlas A3, Ascend 310P or Ascend 950"
        )
    return family == "950"
