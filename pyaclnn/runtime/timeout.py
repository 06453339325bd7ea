# SPDX-License-Identifier: Apache-2.0
"""Timeouts: seconds above, the milliseconds of CANN below."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of

__all__ = ["milliseconds"]

_LONGEST: Final = 2**31 - 1


def milliseconds(timeout: float | None, routine: str) -> int:
    """Convert a timeout to what CANN's waiting functions take.

    Args:
        timeout: Seconds, more than 0; None to wait as long as it takes.
        routine: The function that was given it, for the message.

    Returns:
        Whole milliseconds, at least 1, or -1 for no limit.

    Raises:
        InvalidArgumentError: It is not a positive finite number, or longer than CANN can wait.
    """
    if timeout is None:
        return -1
    seconds = _number(timeout)
    if not 0 < seconds * 1000 <= _LONGEST:
        raise InvalidArgumentError.of(
            routine,
            "timeout",
            repr_of(timeout),
            f"a number of seconds above 0 and at most {_LONGEST // 1000}, or None to wait without "
            "limit",
            "to ask without waiting, use is_done().",
        )
    return math.ceil(seconds * 1000)


def _number(value: object) -> float:
    if isinstance(value, (np.integer, np.floating)):
        return float(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
