# SPDX-License-Identifier: Apache-2.0
"""One status code in words, and what is to be done about codes of several tables."""

from __future__ import annotations

from typing import Final, NamedTuple

from pyaclnn.base.errors import AclError

__all__ = ["AICPU", "LOG", "LOST", "OLD", "REBUILD", "RELEASE", "WAIT", "Explanation", "says"]

AICPU: Final = "see that the AI CPU operators of this CANN are installed and readable."
LOG: Final = "read CANN's text for this failure; its log (plog) may say more."
LOST: Final = (
    "the device stopped answering; close its objects and restart the process. "
    "On hardware, look at `npu-smi info` and the device log."
)
OLD: Final = "this chip, driver or CANN version does not offer it; the driver may be too old."
REBUILD: Final = "convert the model again with the ATC of the CANN that loads it."
RELEASE: Final = (
    "release device arrays that are no longer needed, or see who else uses this device."
)
WAIT: Final = "the work is still queued; wait again with more time, or without a timeout."


class Explanation(NamedTuple):
    """What a status code says, why it comes up and what to do about it.

    Attributes:
        meaning: What happened, in a sentence.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next: a sentence that starts in lower case.
        exception: The exception class the code becomes.
        replaced_by: The name of the code that newer CANN returns instead, or None.
    """

    meaning: str
    causes: tuple[str, ...]
    next_step: str
    exception: type[AclError] = AclError
    replaced_by: str | None = None


def says(
    meaning: str,
    *causes: str,
    do: str,
    raises: type[AclError] = AclError,
    now: str | None = None,
) -> Explanation:
    """Build an `Explanation`, in the order in which one reads it.

    Args:
        meaning: What happened.
        causes: Likely causes, the likeliest first.
        do: The one thing to do next.
        raises: The exception class the code becomes.
        now: The code that newer CANN returns instead.
    """
    return Explanation(meaning, causes, do, raises, now)
