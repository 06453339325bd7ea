# SPDX-License-Identifier: Apache-2.0
"""What a plan is made of: a call that has all its arrays and was not made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.operator import Operator
    from pyaclnn.runtime.stream import Stream

__all__ = ["AsGiven", "Planned"]


class Planned(Protocol):
    """A call that was checked and has all its arrays, but was not made."""

    @property
    def operator(self) -> str | Operator:
        """What is called."""

    @property
    def stream(self) -> Stream:
        """Where the work goes."""

    @property
    def arguments(self) -> Sequence[Argument]:
        """The arguments in the order of C."""

    @property
    def names(self) -> Sequence[str]:
        """Their names, by which arrays are given to a run."""

    @property
    def written(self) -> frozenset[int]:
        """The places of what the operator writes."""

    def result(self, arguments: Sequence[Argument]) -> Any:
        """Return the named results among the arguments."""


@dataclass(frozen=True)
class AsGiven:
    """A call by C names, of which nothing is known but the signature."""

    operator: Operator
    stream: Stream
    arguments: tuple[Argument, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The C names of the arguments."""
        return self.operator.names

    @property
    def written(self) -> frozenset[int]:
        """The places of the tensors that it writes."""
        return self.operator.written

    def result(self, arguments: Sequence[Argument]) -> tuple[Argument, ...]:
        """Return what is written, in the order of C."""
        return tuple(arguments[place] for place in sorted(self.written))
