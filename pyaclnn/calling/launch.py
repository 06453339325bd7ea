# SPDX-License-Identifier: Apache-2.0
"""The two-phase call of an aclnn operator, in one crossing into C.

The launcher makes the descriptors, runs phase 1, takes the stream's workspace, runs phase 2 and
destroys what it made, whatever happens. What is left here is what to do when it does not answer 0.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from pyaclnn._binding import lib
from pyaclnn.calling.arguments import Argument, describe, value_of
from pyaclnn.cann import raw
from pyaclnn.cann.gate import report
from pyaclnn.cann.library import function
from pyaclnn.cann.signatures import signatures
from pyaclnn.cann.status import describe_failure, meaning
from pyaclnn.errors import AclError, ContextError, UnsupportedError
from pyaclnn.runtime.array import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.runtime.stream import Stream

__all__ = [
    "NO_PLAN",
    "NO_TENSOR",
    "OVERLAP",
    "UNTIDY",
    "Launcher",
    "failure",
    "launch",
    "launcher",
    "make_way",
    "report_untidy",
]

NO_PLAN: Final = raw.NULL
"""Tells a launcher that the executor is not to be kept."""
NO_TENSOR: Final = raw.NULL
"""What a launcher takes for an argument that is None."""
OVERLAP: Final = int(raw.BINDING_OVERLAP)
"""A launcher's answer that the memory of a result touches that of another argument."""
UNTIDY: Final = int(raw.BINDING_UNTIDY)
"""A launcher's answer that all went well, but for destroying a descriptor."""

_EVERY_LAUNCH = (
    "aclCreateTensor",
    "aclDestroyTensor",
    "aclCreateIntArray",
    "aclDestroyIntArray",
    "aclCreateFloatArray",
    "aclDestroyFloatArray",
    "aclCreateBoolArray",
    "aclDestroyBoolArray",
    "aclDestroyAclOpExecutor",
    "aclSetAclOpExecutorRepeatable",
    "aclSetTensorAddr",
    "aclGetRecentErrMsg",
    "aclrtPeekAtLastError",
    "aclrtGetCurrentContext",
    "aclrtSetCurrentContext",
)
_TRIES = 4
"""A launch may need a larger workspace, and room for notes in its blocks, before it is accepted."""


class Launcher:
    """Calls one operator.

    Attributes:
        operator: The C name of phase 2.
        names: The C names of the arguments.
        function: The launcher itself, from the compiled binding.
    """

    def __init__(self, operator: str) -> None:
        """Resolve everything the launcher calls.

        Raises:
            MissingSymbolError: The loaded libraries do not have all of it.
            UnsupportedError: The operator takes lists or scalars, which launchers do not make.
        """
        phase1 = f"{operator}GetWorkspaceSize"
        for symbol in (*_EVERY_LAUNCH, phase1, operator):
            function(symbol)
        found = getattr(lib, f"launch_{operator}", None)
        if found is None:
            message = (
                f"{operator} has no launcher.\nHint: call its two phases through pyaclnn.cann.raw."
            )
            raise UnsupportedError(message, routine=operator)
        self.operator = operator
        self.names = signatures()[phase1].parameters[:-2]
        self.function: Any = found

    def tensor_count(self, arguments: Sequence[Argument]) -> int:
        """Count the tensor parameters, absent ones included."""
        return sum(a is None or isinstance(a, DeviceArray) for a in arguments)

    def settle(
        self, status: int, stream: Stream, arguments: Sequence[Argument], plan: Any = raw.NULL
    ) -> None:
        """Deal with an answer that is not 0: make room and call again, or raise.

        Args:
            status: What the launcher answered.
            stream: Where the work goes.
            arguments: All arguments of the call.
            plan: The plan to make, if one is to be made.

        Raises:
            AclError: CANN refused the call; the error describes every argument.
        """
        values = [value_of(argument) for argument in arguments]
        count = self.tensor_count(arguments)
        for _ in range(_TRIES):
            if not make_way(status, stream, arguments):
                break
            # Overlap was judged by the caller, element by element.
            status = self.function(stream.timeline.struct, plan, count, *values)
        if status == UNTIDY:
            report_untidy()
        elif status:
            raise failure(status, describe(self.names, arguments))


def make_way(status: int, stream: Stream, arguments: Sequence[Argument]) -> bool:
    """Remove what kept a launch from being accepted, if that is possible.

    Args:
        status: What the launcher answered.
        stream: Where the work goes.
        arguments: All arguments of the call.

    Returns:
        Whether to call again.
    """
    if status == raw.BINDING_GROW:
        stream.workspace.grow(int(lib.binding_failure().workspace_size))
    elif status == raw.BINDING_BUSY:
        for argument in arguments:
            if isinstance(argument, DeviceArray):
                argument.memory.make_room()
    else:
        return status == OVERLAP
    return True


def failure(status: int, known: dict[str, str]) -> AclError:
    """Return the error of a launch that failed on this thread just now.

    Args:
        status: What the launcher answered.
        known: The description of every argument.
    """
    if status == raw.BINDING_CLOSED:
        message = "memory of an argument was given back.\nHint: close it later."
        return ContextError(message, routine="launch", arguments=known)
    found = lib.binding_failure()
    detail = raw.ffi.string(found.text).decode(errors="replace").strip() or None
    routine = raw.ffi.string(found.routine).decode()
    return describe_failure(routine, status, detail, known, int(found.cause) or None)


def report_untidy() -> None:
    """Warn of a descriptor or executor that could not be destroyed on this thread just now."""
    found = lib.binding_failure()
    routine = raw.ffi.string(found.routine).decode()
    said = raw.ffi.string(found.text).decode(errors="replace").strip() or "CANN says nothing more."
    report(f"{routine} failed with {found.status} ({meaning(found.status).name}): {said}")


@functools.cache
def launcher(operator: str) -> Launcher:
    """Return the launcher of an operator."""
    return Launcher(operator)


def launch(operator: str, *arguments: Argument, stream: Stream) -> None:
    """Queue an aclnn operator on a stream, without waiting for it.

    The arrays' memory lives until the stream has passed the work. The workspace is the stream's.

    Args:
        operator: The C name of phase 2, e.g. ``aclnnRmsNorm``.
        *arguments: The arguments of phase 1 in its order, without the two out-parameters.
        stream: Where to queue the work.

    Raises:
        AclError: CANN refused the call; the error describes every argument.
    """
    chosen = launcher(operator)
    stream.catch_up()
    values = [value_of(argument) for argument in arguments]
    count = chosen.tensor_count(arguments)
    status = chosen.function(stream.timeline.struct, raw.NULL, count, *values)
    if status:
        chosen.settle(status, stream, arguments)
