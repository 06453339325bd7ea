# SPDX-License-Identifier: Apache-2.0
"""Interpretation of ASCEND_RT_VISIBLE_DEVICES as in CANN, and where it differs from the intent.

Source: CANN: runtime core/src/runtime.cc and the documentation of the variable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Reading", "read_visible"]


@dataclass(frozen=True)
class Reading:
    """Value of the variable as CANN reads it.

    Attributes:
        devices: The devices it makes visible, re-numbered from 0 in this order.
        meant: All numbers in the text.
        problem: The difference to the text; None if there is none.
    """

    devices: tuple[int, ...]
    meant: tuple[int, ...]
    problem: str | None


def read_visible(text: str, present: int) -> Reading:
    """Read the variable.

    Args:
        text: Its value.
        present: The number of devices.

    Returns:
        The visible devices, and the fault of the text.
    """
    meant = tuple(int(number) for number in re.findall(r"\d+", text))
    devices: list[int] = []
    rest = text
    problem = "it is empty, so no device is visible" if not text else None
    while rest:
        match = re.match(r"\d+", rest)
        if match is None:
            problem = f"reading stops at {rest[0]!r}"
            break
        number, rest = int(match[0]), rest[match.end() :]
        if devices and number <= devices[-1]:
            how = "is there twice" if number in devices else f"stands behind {devices[-1]}"
            return Reading((), meant, f"{number} {how}, so no device is visible")
        if number >= present:
            problem = f"there is no device {number}; reading stops there"
            break
        devices.append(number)
        if rest and rest[0] != ",":
            problem = f"reading stops at {rest[0]!r}"
            break
        if rest == ",":
            problem = "it ends with a comma"
        rest = rest[1:]
    return Reading(tuple(devices), meant, problem)
