# SPDX-License-Identifier: Apache-2.0
"""The two-phase call of an aclnn operator.

Phase 1 checks the arguments and answers with an executor and the size of the workspace it wants.
Phase 2 queues the work and consumes the executor, also when it fails.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pyaclnn import raw
from pyaclnn.array import DeviceArray
from pyaclnn.buffer import allocate
from pyaclnn.call import call, cleanup
from pyaclnn.descriptors import Descriptors
from pyaclnn.handle import count_live
from pyaclnn.signatures import signatures

if TYPE_CHECKING:
    from typing_extensions import Self

    from pyaclnn.descriptors import Argument
    from pyaclnn.stream import Stream

__all__ = ["Executor", "launch"]


class Executor:
    """The executor of one call: created by phase 1, then either submitted or destroyed.

    Attributes:
        workspace_size: Bytes of workspace that phase 2 needs.
        state: ``created``, ``submitted`` or ``destroyed``.
    """

    def __init__(self, operator: str, values: list[object], descriptors: Descriptors) -> None:
        """Run phase 1.

        Args:
            operator: The C name of phase 2, e.g. ``aclnnRmsNorm``.
            values: The arguments as the C function takes them, without the two out-parameters.
            descriptors: What they were made by; must outlive the executor.

        Raises:
            AclError: The operator refused the arguments; nothing was created.
        """
        self._operator = operator
        self._describe = descriptors.describe
        size = raw.ffi.new("uint64_t *")
        executor = raw.ffi.new("aclOpExecutor **")
        call(f"{operator}GetWorkspaceSize", *values, size, executor, describe=descriptors.describe)
        count_live("executor", +1)
        self._executor = executor[0]
        self.workspace_size = int(size[0])
        self.state = "created"

    def submit(self, workspace: object, stream: Stream) -> None:
        """Run phase 2, which consumes the executor whatever comes of it.

        Args:
            workspace: The address of the workspace, NULL if none is needed.
            stream: Where to queue the work; its context is current.

        Raises:
            AclError: The work could not be queued.
        """
        self._leave("submitted")
        call(
            self._operator,
            workspace,
            self.workspace_size,
            self._executor,
            stream.pointer,
            describe=self._describe,
        )

    def destroy(self) -> None:
        """Give up an executor that was not submitted; does nothing otherwise."""
        if self.state == "created":
            self._leave("destroyed")
            cleanup("aclDestroyAclOpExecutor", self._executor)

    def _leave(self, state: str) -> None:
        if self.state != "created":
            message = f"an executor that is {self.state} cannot become {state}"
            raise RuntimeError(message)
        self.state = state
        count_live("executor", -1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.destroy()


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
    names = signatures()[f"{operator}GetWorkspaceSize"].parameters[:-2]
    with stream.device.active(), Descriptors() as descriptors:
        values = [
            descriptors.add(name, argument) for name, argument in zip(names, arguments, strict=True)
        ]
        with Executor(operator, values, descriptors) as executor:
            memory = [a.buffer.resource for a in arguments if isinstance(a, DeviceArray)]
            if not executor.workspace_size:
                with stream.using(*memory):
                    executor.submit(raw.NULL, stream)
                return
            block = stream.lane.workspace(
                executor.workspace_size,
                functools.partial(allocate, device=stream.device, kind="workspace"),
            )
            try:
                with stream.using(*memory, block):
                    executor.submit(block.pointer, stream)
            finally:
                block.unpin()
