# SPDX-License-Identifier: Apache-2.0
"""Explanation of one code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn.base import errors
from pyaclnn.base.errors import AclError

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

__all__ = ["DriverCode", "Explanation", "Line", "Message", "Wording", "Writer"]


class Explanation(NamedTuple):
    """Explanation of a code: its meaning, its causes and the next step.

    Attributes:
        meaning: The event that the code reports, in a sentence.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next: a sentence that starts in lower case.
        exception: The exception class the code becomes.
        replaced_by: The name of the code that newer CANN returns instead, or None.
        cases: Causes that can be seen on a machine: ``when``, ``cause`` and ``next_step`` of each.
    """

    meaning: str
    causes: tuple[str, ...]
    next_step: str
    exception: type[AclError] = AclError
    replaced_by: str | None = None
    cases: tuple[Mapping[str, str], ...] = ()

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


class Line(NamedTuple):
    """A text that programs around CANN print, without a code of CANN.

    In its explanation, ``%s`` is replaced by the subject, ``%q`` by the line's own statement, and
    ``%n`` by the first name of an option, variable or argument in it.

    Attributes:
        pattern: Fits the text; its first group, if it has one, is the subject.
        kind: Those who print it, with an article.
        consequence_in: The component in which it is a consequence of something else; None for a
            cause.
        explanation: Its explanation.
    """

    pattern: re.Pattern[str]
    kind: str
    consequence_in: str | None
    explanation: Explanation


class Wording(NamedTuple):
    """Words for an event that is mostly reported in others.

    Attributes:
        pattern: Fits the words.
        text: The usual words, with references to groups of the pattern.
    """

    pattern: re.Pattern[str]
    text: str


class Message(NamedTuple):
    """A code of CANN's messages, of HCCL or of the driver.

    Attributes:
        code: The code, such as ``EE1001``, ``HCCL 7`` or ``driver 12``.
        name: The name in the headers; empty if it has none.
        component: The component that writes it.
        whose: Those who can mend it: "program", "machine" or "both".
        meaning: The event that it reports, in sentences.
        next_step: The one thing to do next, a sentence.
        status: Status codes of the C interface that come with it.
    """

    code: str
    name: str
    component: str
    whose: str
    meaning: str
    next_step: str
    status: tuple[int, ...]

    @property
    def is_general(self) -> bool:
        """True if it names no cause: an internal error, or one that accompanies another."""
        general = {"9999", "8888", "EE1001", "EZ9903", "HCCL_E_INTERNAL", "HCCL_E_RUNTIME"}
        return bool(general & {self.code[-4:], self.code, self.name})


class Writer(NamedTuple):
    """A program whose lines can be told.

    Attributes:
        pattern: Fits its lines.
        kinds: The kinds of texts that they can report, besides the general ones.
    """

    pattern: re.Pattern[str]
    kinds: frozenset[str]
