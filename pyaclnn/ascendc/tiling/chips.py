# SPDX-License-Identifier: Apache-2.0
"""Vector units of a chip, by its name."""

from __future__ import annotations

from pyaclnn.ascendc.tiling.arithmetic import TilingError
from pyaclnn.base.errors import repr_of
from pyaclnn.facts.chips import FAMILIES, find_family

__all__ = ["VECTOR_REGISTER_BYTES", "family_of", "has_vector_registers"]

VECTOR_REGISTER_BYTES = 256
"""The size of a vector register of Ascend 950."""


def family_of(soc: str) -> str:
    """Name the family of a chip.

    Args:
        soc: The chip's full name, as `aclrtGetSocName` gives it; case matters, as it does in CANN.

    Returns:
        910b (Atlas A2), 910_93 (Atlas A3), 950, 310p, 910 (first generation) or 310b.

    Raises:
        TilingError: No chip is called so.
    """
    family = find_family(soc)
    if family is not None:
        return family
    raise TilingError(
        f"soc is {repr_of(soc)}, which names no chip known here; it must be a full name such as "
        "Ascend910B3 (Atlas A2), Ascend910_9391 (Atlas A3), Ascend310P3 or Ascend950PR_9579"
    )


def has_vector_registers(soc: str) -> bool:
    """Return whether a chip's vector units work on registers, as Ascend 950's do.

    Args:
        soc: The chip's full name.

    Raises:
        TilingError: No chip is called so, or its cores have none of the normalization interfaces.
    """
    family = family_of(soc)
    if not FAMILIES[family].normalization:
        raise TilingError(
            f"soc is {soc!r}, whose cores have none of the Ascend C normalization interfaces; "
            "it must be a chip of Atlas A2, Atlas A3, Ascend 310P or Ascend 950"
        )
    return family == "950"
