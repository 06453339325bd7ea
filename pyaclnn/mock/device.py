# SPDX-License-Identifier: Apache-2.0
"""What a simulated device does: phase 1 of operators, and their kernels in its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.mock.memory import WORKSPACE_BEFORE, DeviceMemoryError
from pyaclnn.mock.operators import OPERATORS
from pyaclnn.mock.operators.custom import find_operator
from pyaclnn.mock.operators.operator import Launch, RefusalError, Setting
from pyaclnn.mock.outputs import poison_outputs, restore_unwritten, spoil_outputs
from pyaclnn.mock.status import Status
from pyaclnn.mock.values import Flag
from pyaclnn.mock.wire import CheckReply, Reply, Run

if TYPE_CHECKING:
    from pyaclnn.mock.chips import Chip
    from pyaclnn.mock.memory import DeviceMemory
    from pyaclnn.mock.operators.operator import Operator
    from pyaclnn.mock.values import Call

__all__ = ["Device", "ignore_floating_point_errors"]


class Device:
    """One simulated device.

    Args:
        chip: The chip to simulate.
        memory: The device's memory.
    """

    def __init__(self, chip: Chip, memory: DeviceMemory) -> None:
        self.chip = chip
        self.memory = memory

    def check(self, call: Call) -> CheckReply:
        """Run phase 1 of an operator; whatever goes wrong becomes a status."""
        try:
            operator = find_operator(call.operator)
        except Exception as error:  # noqa: BLE001 (a broken package must not stop the device)
            return CheckReply(Status.INNER, text=_fault(call.operator, error))
        if operator is None:
            return CheckReply(Status.MOCK_NOT_IMPLEMENTED, text=_not_implemented(call.operator))
        reply = CheckReply(Status.SUCCESS, operator.executor_kind, operator.written_mask)
        try:
            plan = operator.check(operator.bind(call), Setting(self.chip, call.flags))
        except RefusalError as refusal:
            reply.status, reply.text = refusal.status, refusal.text
        except Exception as error:  # noqa: BLE001 (an operator's fault must not look like success)
            reply.status, reply.text = Status.INNER, _fault(call.operator, error)
        else:
            reply.launches = plan.launch
            reply.workspace_size = plan.workspace_size
            reply.text = plan.text
        return reply

    def run(self, request: Run) -> Reply:
        """Run the kernels of an operator; whatever goes wrong becomes an asynchronous status.

        The arguments are checked once more, so that no kernel ever sees what phase 1 refuses.
        """
        call = request.call
        operator = find_operator(call.operator)
        if operator is None:
            return Reply(Status.AICORE_EXCEPTION, _not_implemented(call.operator))
        try:
            arguments = operator.bind(call)
            setting = Setting(self.chip, call.flags)
            plan = operator.check(arguments, setting)
            if plan.launch == Launch.FAILS:
                return Reply(Status.AICORE_EXCEPTION, plan.text)
            if plan.launch == Launch.KERNELS:
                self._launch(operator, arguments, setting, request, plan.workspace_size)
        except RefusalError as refusal:
            return Reply(Status.AICORE_EXCEPTION, refusal.text)
        except DeviceMemoryError as error:
            return Reply(
                Status.AICORE_EXCEPTION, f"EZ9999: AI Core exception in {call.operator}: {error}"
            )
        except Exception as error:  # noqa: BLE001 (an operator's fault must not look like success)
            return Reply(Status.AICORE_EXCEPTION, _fault(call.operator, error))
        return Reply()

    def _launch(
        self,
        operator: Operator[Any],
        arguments: Any,
        setting: Setting,
        request: Run,
        workspace_size: int,
    ) -> None:
        """Run the kernels between poison and, if that is asked for, wrong numbers."""
        call = request.call
        if workspace_size:
            self.memory.poison(request.workspace_address, workspace_size, WORKSPACE_BEFORE)
        poisoned = poison_outputs(self.memory, call, operator.written_mask, operator.updated_mask)
        try:
            operator.run(arguments, setting, self.memory)
        finally:
            restore_unwritten(poisoned)
        if call.flags & Flag.WRONG_NUMBERS:
            spoil_outputs(self.memory, call, operator.written_mask)
        if workspace_size:
            self.memory.poison(request.workspace_address, workspace_size)


def ignore_floating_point_errors() -> None:
    """Overflow and invalid operations are results, on a chip; so they are for this process."""
    np.seterr(all="ignore")


def _not_implemented(operator: str) -> str:
    return (
        f"EZ9999: the simulated NPU does not implement {operator}; it implements "
        f"{', '.join(OPERATORS)}"
    )


def _fault(operator: str, error: Exception) -> str:
    return f"EZ9999: the simulated {operator} failed: {type(error).__name__}: {error}"
