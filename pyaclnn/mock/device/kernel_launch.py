# SPDX-License-Identifier: Apache-2.0
"""Launch of the kernels of a call in device memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.mock.operators.outputs import poison_outputs, restore_unwritten, spoil_outputs
from pyaclnn.mock.protocol.memory import WORKSPACE_BEFORE, DeviceMemoryError
from pyaclnn.mock.protocol.values import Flag
from pyaclnn.mock.protocol.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.mock.device.checked import CheckedCall
    from pyaclnn.mock.operators.operator import Work
    from pyaclnn.mock.operators.outputs import PoisonedOutput
    from pyaclnn.mock.protocol.batch import Run
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Tensor

__all__ = ["KernelLaunch"]

_DONE = Reply()


class KernelLaunch:
    """A checked call with its memory.

    Args:
        memory: The device's memory.
        checked: The call, whose tensors are where they are in this launch.
        request: The request, with the workspace.

    Attributes:
        operator: The C name of the operator.
    """

    __slots__ = (
        "_checked",
        "_memory",
        "_poisons_before",
        "_size",
        "_work",
        "_workspace",
        "operator",
    )

    def __init__(self, memory: DeviceMemory, checked: CheckedCall, request: Run) -> None:
        self.operator = checked.call.operator
        self._memory, self._checked = memory, checked
        self._workspace = request.workspace_address
        self._work: Work | None = None
        # A kernel in NumPy does not touch its workspace; one of a package writes to it.
        is_spared = checked.operator.shows_unwritten and not request.workspace_size
        self._size = 0 if is_spared else checked.plan.workspace_size
        self._poisons_before = bool(self._size) and not self._is_out_of_reach()

    @property
    def is_lasting(self) -> bool:
        """True if `run` may be called again while the tensors are where they are.

        It has run once.
        """
        return (
            self._work is not None
            and self._work.is_lasting
            and self._checked.operator.shows_unwritten
            and self._memory.is_whole
            and not self._checked.call.flags & Flag.WRONG_NUMBERS
        )

    def run(self) -> Reply:
        """Run the kernels between poison."""
        if self._poisons_before:
            self._memory.poison(self._workspace, self._size, WORKSPACE_BEFORE)
        found = self._first() if self._work is None else self._work.run()
        if self._size:
            self._memory.poison(self._workspace, self._size)
        if not found:
            return _DONE
        tensors = self._checked.call.tensors
        places = {id(tensor): place for place, tensor in enumerate(tensors)}
        return Reply(shapes=tuple((places[id(tensor)], dims) for tensor, dims in found))

    def _first(self) -> Sequence[tuple[Tensor, tuple[int, ...]]] | None:
        """Bind the kernels and run them, between poison and wrong numbers if asked for."""
        memory, checked = self._memory, self._checked
        operator, call = checked.operator, checked.call
        poisoned: Sequence[PoisonedOutput] = ()
        if not operator.shows_unwritten:
            poisoned = poison_outputs(memory, call, operator.written_mask, operator.updated_mask)
        try:
            self._work = operator.kernels(checked.arguments, memory)
            found = self._work.run()
        finally:
            restore_unwritten(poisoned)
        if call.flags & Flag.WRONG_NUMBERS:
            spoil_outputs(memory, call, operator.written_mask)
        return found

    def _is_out_of_reach(self) -> bool:
        """Return whether the kernel reads nothing of its workspace: poison after it is enough."""
        checked = self._checked
        if not checked.operator.shows_unwritten:
            return False
        size, tensors = checked.plan.workspace_size, checked.call.tensors
        try:
            return self._memory.is_apart(self._workspace, size, tensors)
        except (DeviceMemoryError, KeyError, ValueError):  # the kernel reports those that it uses
            return False
