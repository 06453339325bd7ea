# SPDX-License-Identifier: Apache-2.0
"""Explanation of one code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn.base import errors
from pyaclnn.base.errors import AclError

if TYPE_CHECKING:
    import re

__all__ = ["DriverCode", "Explanation", "LoaderError"]


class Explanation(NamedTuple):
    """Explanation of a code: its meaning, its causes and the next step.

    Attributes:
        meaning: The event that the code reports, in a sentence.
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

    @classmethod
    def of(cls, row: dict[str, Any]) -> Explanation:
        """Build an explanation from a row of a TOML file.

        Args:
            row: Its keys and values; ``exception`` is the name of a class.

        Raises:
            TypeError: The row has a key that is no attribute, or lacks one.
        """
        exception = getattr(errors, row.pop("exception", AclError.__name__))
        return cls(**{"causes": (), **row, "exception": exception})


class DriverCode(NamedTuple):
    """A code of the driver.

    Attributes:
        name: The name in the driver's headers.
        becomes: The name of the status code that the runtime makes of it.
        explanation: Its explanation.
    """

    name: str
    becomes: str
    explanation: Explanation


class LoaderError(NamedTuple):
    """An error text of the dynamic loader.

    Attributes:
        pattern: Fits the text; its first group, if it has one, is the library or name in question.
        explanation: Its explanation.
    """

    pattern: re.Pattern[str]
    explanation: Explanation
