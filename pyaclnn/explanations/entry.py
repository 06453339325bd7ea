# SPDX-License-Identifier: Apache-2.0
"""One status code in words."""

from __future__ import annotations

from dataclasses import dataclass

from pyaclnn.errors import AclError

__all__ = ["Explanation", "explained"]


@dataclass(frozen=True)
class Explanation:
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


def explained(
    exception: type[AclError],
    meaning: str,
    *causes: str,
    do: str,
    now: str | None = None,
) -> Explanation:
    """Build an `Explanation`, in the order in which one reads it.

    Args:
        exception: The exception class the code becomes.
        meaning: What happened.
        causes: Likely causes, the likeliest first.
        do: The one thing to do next.
        now: The code that newer CANN returns instead.
    """
    return Explanation(meaning, causes, do, exception, now)
