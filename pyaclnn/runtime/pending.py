# SPDX-License-Identifier: Apache-2.0
"""Refusal of copies, and waits, where queued work has still to read or write the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.errors import ContextError
from pyaclnn.cann import raw
from pyaclnn.cann.status import code_named
from pyaclnn.runtime.context import Activation
from pyaclnn.runtime.own_stream import is_own
from pyaclnn.runtime.progress import ask_those_left, finish, is_complete, was_left_after

if TYPE_CHECKING:
    from pyaclnn.runtime.memory import Span, Use
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["require_unused", "require_written", "unfinished", "unwritten", "wait_for_use"]


def require_written(routine: str, span: Span) -> None:
    """Refuse to read what queued work has not written yet.

    A stream that is not known to have come so far is asked: others may have waited for it.

    Args:
        routine: The public function, for the message.
        span: The bytes to read.

    Raises:
        ContextError: A stream has still to write there.
        KernelError: Work on such a stream failed.
    """
    for use in _ahead(unwritten(span)):
        way = "numpy(stream=...) waits for that stream first; so does its synchronize()."
        if not use.timeline.struct.stream:
            way = "x.device.synchronize() waits for all of it, numpy(stream=...) for a stream."
        raise _still_to(routine, "write", use, way)


def require_unused(routine: str, span: Span) -> None:
    """Refuse to write where queued work has still to read or write.

    A stream that is not known to have come so far is asked: others may have waited for it.

    Args:
        routine: The public function, for the message.
        span: The bytes to write.

    Raises:
        ContextError: A stream has still to use them.
        KernelError: Work on such a stream failed.
    """
    for use in _ahead(unfinished(span)):
        verb = "write" if use in span.memory.writers(span.first, span.end) else "read"
        way = (
            "x.device.synchronize() waits for it; so does an assignment, x[...] = values. With its "
            "'stream' this is queued behind it."
        )
        raise _still_to(routine, verb, use, way)


def _ahead(uses: list[Use]) -> list[Use]:
    """Return the uses that may run while this thread does.

    A stream waits for its host function: it has run all work before it, and none behind it.
    """
    return [use for use in uses if not is_own(use.timeline)]


def wait_for_use(use: Use) -> None:
    """Wait for the work queued on the stream of a use, unless it waits for this host function.

    Drives ``aclrtSynchronizeStream``.

    Raises:
        KernelError: Work on the stream failed.
    """
    timeline = use.timeline
    if not is_own(timeline):
        with Activation(timeline.struct.context):
            finish(timeline, timeline.struct.stream, -1)


def _still_to(routine: str, verb: str, use: Use, way: str) -> ContextError:
    stream = use.timeline.struct.stream
    name = f"the stream 0x{raw.address_of(stream):x}" if stream else "the default stream"
    message = (
        f"{routine}(): work queued on {name} has still to {verb} this array, and nothing has "
        f"waited for it.\nHint: {way}"
    )
    return ContextError(message, routine=routine)


def unwritten(span: Span) -> list[Use]:
    """List what has been queued to write some bytes and has not run yet.

    A stream that is not known to have come so far is asked: others may have waited for it.

    Raises:
        KernelError: Work on such a stream failed.
    """
    writers = span.memory.writers(span.first, span.end)
    return [use for use in writers if not _has_run(use.timeline, use.written)]


def unfinished(span: Span) -> list[Use]:
    """List what has been queued to read or write some bytes and has not run yet.

    A stream that is not known to have come so far is asked: others may have waited for it.

    Raises:
        KernelError: Work on such a stream failed.
    """
    users = span.memory.users(span.first, span.end)
    return [use for use in users if not _has_run(use.timeline, use.submission)]


def _has_run(timeline: Timeline, submission: int) -> bool:
    ask_those_left()
    if not timeline.is_complete(submission) and not was_left_after(timeline, submission):
        try:
            is_complete(timeline, timeline.struct.stream)
        except ContextError as error:
            if error.code == code_named("ACL_ERROR_RT_STREAM_CAPTURED"):
                raise
            return True  # its owner has destroyed the stream, which waits for its work
    return timeline.is_complete(submission)
