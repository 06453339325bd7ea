# SPDX-License-Identifier: Apache-2.0
"""The two-phase call of an aclnn operator, in one crossing into C.

The launcher makes the descriptors, runs phase 1, takes the stream's workspace, runs phase 2 and
destroys what it made, whatever happens. What is left here is what to do when it does not answer 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyaclnn._binding import lib
from pyaclnn.base.errors import AclError, ContextError
from pyaclnn.calling.arguments import arrays_in, frozen
from pyaclnn.calling.operator import NO_PLAN, Operator, operator
from pyaclnn.cann import raw
from pyaclnn.cann.gate import report, silence
from pyaclnn.cann.status import describe_failure, meaning
from pyaclnn.runtime.stream import catch_up

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.runtime.stream import Stream

__all__ = [
    "CLEANUP_FAILED",
    "OVERLAP",
    "TRIES",
    "failure",
    "launch",
    "launch_operator",
    "make_way",
    "release_plan",
    "report_cleanup",
    "settle",
]

OVERLAP: Final = int(raw.BINDING_OVERLAP)
"""The launcher's answer that the memory of a result touches that of another argument."""
CLEANUP_FAILED: Final = int(raw.BINDING_UNTIDY)
"""The launcher's answer that all went well, but for destroying a descriptor."""

TRIES: Final = 100
"""A launch may need a larger workspace, and room for notes in its blocks, before it is accepted;
other threads may take away what it was given."""
_REFUSALS: Final = {
    int(raw.BINDING_CLOSED): "memory of an argument was given back.\nHint: close it later.",
    int(raw.BINDING_GROW): "other threads took the stream's workspace away each time it had grown."
    "\nHint: trim and exchange workspaces when nothing is launched.",
    int(raw.BINDING_BUSY): "other threads used the arguments on further streams each time there "
    "was room to note this use.\nHint: use an array on fewer streams at a time.",
}


def settle(
    chosen: Operator,
    status: int,
    stream: Stream,
    arguments: Sequence[Argument],
    message: bytes,
    plan: Any = NO_PLAN,
) -> None:
    """Deal with an answer that is not 0: make room and call again, or raise.

    Args:
        chosen: The operator that was launched.
        status: Status of the launcher.
        stream: Where the work goes.
        arguments: All arguments of the call.
        message: The same as they were launched.
        plan: The plan to make, if one is to be made.

    Raises:
        AclError: CANN refused the call; the error describes every argument.
    """
    for _ in range(TRIES):
        if not make_way(status, stream, arguments):
            break
        # Overlap was judged by the caller, element by element.
        status = chosen.function(stream._timeline.struct, plan, 1, message)
    if status == CLEANUP_FAILED:
        report_cleanup()
    elif status:
        raise failure(status, chosen.describe(arguments))


def make_way(status: int, stream: Stream, arguments: Sequence[Argument]) -> bool:
    """Remove what kept a launch from being accepted, if that is possible.

    Args:
        status: Status of the launcher.
        stream: Where the work goes.
        arguments: All arguments of the call.

    Returns:
        True to call again.
    """
    if status == raw.BINDING_GROW:
        stream.workspace._grow(int(lib.binding_failure().workspace_size))
    elif status == raw.BINDING_BUSY:
        for array in arrays_in(arguments):
            array._memory.make_room()
    else:
        return status == OVERLAP
    return True


def failure(status: int, known: dict[str, str]) -> AclError | MemoryError:
    """Return the error of a launch that failed on this thread just now.

    Args:
        status: Status of the launcher.
        known: The description of every argument.
    """
    if status == raw.BINDING_MEMORY:
        return MemoryError("the host has no memory left to make a launch")
    if status in _REFUSALS:
        return ContextError(_REFUSALS[status], routine="launch", arguments=known)
    found = lib.binding_failure()
    detail = raw.ffi.string(found.text).decode(errors="replace").strip() or None
    routine = raw.ffi.string(found.routine).decode()
    return describe_failure(routine, int(found.status), detail, known, int(found.cause) or None)


def report_cleanup() -> None:
    """Warn of a descriptor or executor that could not be destroyed on this thread just now."""
    found = lib.binding_failure()
    routine = raw.ffi.string(found.routine).decode()
    said = raw.ffi.string(found.text).decode(errors="replace").strip() or "CANN says nothing more."
    report(f"{routine} failed with {found.status} ({meaning(found.status).name}): {said}")


def release_plan(struct: Any) -> None:
    """Release what a plan keeps; never raises."""
    if not silence.finalised and lib.binding_plan_close(struct):
        report_cleanup()


def launch(
    name: str, *arguments: Argument, stream: Stream, written: frozenset[int] | None = None
) -> None:
    """Queue an aclnn operator on a stream, without waiting for it; see ``launch_operator``.

    Args:
        name: The C name of phase 2, e.g. ``aclnnRmsNorm``.
        *arguments: The arguments of phase 1 in its order, without the two out-parameters.
        stream: Where to queue the work.
        written: The places of the tensors it writes; see :class:`Operator`.
    """
    launch_operator(operator(name, written), *arguments, stream=stream)


def launch_operator(
    chosen: Operator,
    *arguments: Argument,
    stream: Stream,
    judge: Callable[[], None] | None = None,
    plan: Any = NO_PLAN,
) -> None:
    """Queue an operator on a stream, without waiting for it.

    The arrays' memory lives until the stream has passed the work. The workspace is the stream's.

    Args:
        chosen: The operator.
        *arguments: The arguments of phase 1 in its order, without the two out-parameters.
        stream: Where to queue the work.
        judge: Called if a result seems to lie in the memory of another argument, by its first and
            last byte; raises if it does, and that is wrong. None if the caller has judged that.
        plan: Plan that keeps the executor, or the descriptors; ``NO_PLAN`` for none.

    Raises:
        InvalidArgumentError: An argument is not of the type that C takes.
        AclError: CANN refused the call; the error describes every argument.
    """
    given = frozen(arguments)
    message = chosen.message(given)
    catch_up(stream)
    judged = int(judge is None)
    status = chosen.function(stream._timeline.struct, plan, judged, message)
    if status == OVERLAP and judge is not None:
        judge()
    if status:
        settle(chosen, status, stream, given, message, plan)
