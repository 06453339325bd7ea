# SPDX-License-Identifier: Apache-2.0
"""Result of a host function, for which functions before it on its stream must not wait."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from pyaclnn.runtime.own_stream import refuse_own

if TYPE_CHECKING:
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["FunctionResult"]


class FunctionResult(Future[Any]):
    """Future of a host function.

    Args:
        timeline: The timeline of its stream.
        submission: The number of the submission that calls the function.
    """

    def __init__(self, timeline: Timeline, submission: int) -> None:
        super().__init__()
        self._timeline, self._submission = timeline, submission

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the function and return its result; see ``concurrent.futures.Future``."""
        self._refuse_own("result")
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait for the function and return its exception; see ``concurrent.futures.Future``."""
        self._refuse_own("exception")
        return super().exception(timeout)

    def _refuse_own(self, routine: str) -> None:
        if not self.done():
            refuse_own(f"Future.{routine}", self._timeline, self._submission)
