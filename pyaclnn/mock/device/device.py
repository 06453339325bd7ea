# SPDX-License-Identifier: Apache-2.0
"""Simulated device: phase 1 of operators, and their kernels in its memory."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.facts.releases import simulated
from pyaclnn.mock.device.checked import CheckedCall, CheckedCalls
from pyaclnn.mock.operators.finding import find_operator
from pyaclnn.mock.operators.operator import Launch, RefusalError, Setting
from pyaclnn.mock.operators.outputs import poison_outputs, restore_unwritten, spoil_outputs
from pyaclnn.mock.protocol.memory import WORKSPACE_BEFORE, DeviceMemoryError
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import Flag
from pyaclnn.mock.protocol.wire import CheckReply, Reply
from pyaclnn.reference.kernels.kernel import KernelLimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.facts.chips import Chip
    from pyaclnn.mock.operators.outputs import PoisonedOutput
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Call
    from pyaclnn.mock.protocol.wire import Batch, Run

__all__ = ["Device", "ignore_floating_point_errors"]

# Seconds after which a batch goes back to the host, which then sees how far its streams are.
_LONGEST_BATCH = 0.004


class Device:
    """One simulated device.

    Args:
        chip: The chip to simulate.
        memory: The device's memory.
        release: The release of CANN to simulate, in short; None for the one that
            ``PYACLNN_MOCK_CANN`` names, which the host's libraries tell the device process.

    Raises:
        ReleaseError: There is no such release.
    """

    def __init__(self, chip: Chip, memory: DeviceMemory, release: str | None = None) -> None:
        self.chip = chip
        self.release = release or simulated().name
        self.memory = memory
        self.calls = CheckedCalls()

    def check(self, call: Call) -> CheckReply:
        """Run phase 1 of an operator; whatever goes wrong becomes a status.

        The call is kept for `run`, by the number of the answer.
        """
        reply = CheckReply(Status.SUCCESS)
        try:
            checked = self._checked(call, reply)
        except RefusalError as refusal:
            reply.status, reply.text = refusal.status, refusal.text
            return reply
        except KernelLimitError as limit:
            reply.status, reply.text = Status.MOCK_NOT_IMPLEMENTED, str(limit)
            return reply
        except BaseException as error:  # noqa: BLE001 (SystemExit among them: it ends the call alone)
            reply.status, reply.text = Status.INNER, _fault(call.operator, error)
            return reply
        plan = checked.plan
        reply.launches, reply.workspace_size = plan.launch, plan.workspace_size
        reply.text = plan.text
        reply.unwritten = checked.operator.mask_of(plan.unwritten)
        if plan.launch == Launch.KERNELS:
            reply.number = self.calls.add(checked)
        return reply

    def run_batch(self, batch: Batch) -> list[Reply]:
        """Run the operators of a batch, until one fails, or the host has waited for long enough.

        Returns:
            The answers to those that have run, at least to the first one.

        Raises:
            WireError: A call is not well-formed.
        """
        replies: list[Reply] = []
        until = monotonic() + _LONGEST_BATCH
        for request in batch.runs:
            replies.append(self.run(request))
            if replies[-1].status or monotonic() > until:
                break
        return replies

    def run(self, request: Run) -> Reply:
        """Run the kernels of an operator; whatever goes wrong becomes an asynchronous status.

        They run on what phase 1 has left. A call with an unknown number goes through
        phase 1 first, so that no kernel ever sees what that refuses.

        Raises:
            WireError: The call is not well-formed.
        """
        self.memory.mapped = request.mapped
        checked = self.calls.find(request)
        call = request.decoded() if checked is None else checked.call
        try:
            checked = checked or self._checked(call, CheckReply(Status.SUCCESS))
            if checked.plan.launch == Launch.FAILS:
                return Reply(Status.AICORE_EXCEPTION, checked.plan.text)
            if checked.plan.launch == Launch.KERNELS:
                return self._launch(checked, request.workspace_address)
        except RefusalError as refusal:
            return Reply(Status.AICORE_EXCEPTION, refusal.text)
        except KernelLimitError as limit:
            return Reply(Status.MOCK_NOT_IMPLEMENTED, str(limit))
        except BaseException as error:  # noqa: BLE001 (SystemExit among them: it ends the call alone)
            return Reply(Status.AICORE_EXCEPTION, _fault(call.operator, error))
        return Reply()

    def _checked(self, call: Call, reply: CheckReply) -> CheckedCall:
        """Run phase 1; notes in the reply what is known of the operator even if it refuses."""
        operator = find_operator(call, self.release)
        if operator is None:
            raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, _not_implemented(call.operator))
        reply.executor_kind, reply.written = operator.executor_kind, operator.written_mask
        reply.apart = operator.apart
        arguments, setting = operator.bind(call), Setting(self.chip, call.flags)
        return CheckedCall(operator, arguments, setting, operator.check(arguments, setting), call)

    def _launch(self, checked: CheckedCall, workspace: int) -> Reply:
        """Run the kernels between poison and, if that is asked for, wrong numbers."""
        operator, call, size = checked.operator, checked.call, checked.plan.workspace_size
        if size and not self._is_out_of_reach(checked, workspace):
            self.memory.poison(workspace, size, WORKSPACE_BEFORE)
        poisoned: Sequence[PoisonedOutput] = ()
        if not operator.shows_unwritten:
            poisoned = poison_outputs(
                self.memory, call, operator.written_mask, operator.updated_mask
            )
        try:
            found = operator.run(checked.arguments, checked.setting, self.memory) or ()
        finally:
            restore_unwritten(poisoned)
        if call.flags & Flag.WRONG_NUMBERS:
            spoil_outputs(self.memory, call, operator.written_mask)
        if size:
            self.memory.poison(workspace, size)
        if not found:
            return Reply()
        places = {id(tensor): place for place, tensor in enumerate(call.tensors)}
        return Reply(shapes=tuple((places[id(tensor)], dims) for tensor, dims in found))

    def _is_out_of_reach(self, checked: CheckedCall, workspace: int) -> bool:
        """Return whether the kernel reads nothing of its workspace: poison after it is enough."""
        if not checked.operator.shows_unwritten:
            return False
        size, tensors = checked.plan.workspace_size, checked.call.tensors
        try:
            return self.memory.is_apart(workspace, size, tensors)
        except (DeviceMemoryError, KeyError, ValueError):  # the kernel reports those that it uses
            return False


def ignore_floating_point_errors() -> None:
    """Overflow and invalid operations are results, on a chip; so they are for this process."""
    np.seterr(all="ignore")


def _not_implemented(operator: str) -> str:
    return (
        f"EZ9999: the simulated NPU does not implement {operator}: no table has it, and no package "
        "for the simulated NPU in ASCEND_CUSTOM_OPP_PATH. Give it a kernel: a NumPy function under "
        f'@pyaclnn.mock.operator("{operator}"), in a file that PYACLNN_MOCK_OPERATORS names'
    )


def _fault(operator: str, error: BaseException) -> str:
    from pyaclnn.base.errors import text_of, type_name  # noqa: PLC0415  # few programs need it
    from pyaclnn.base.limits import memory_error_message  # noqa: PLC0415  # as above

    if isinstance(error, DeviceMemoryError):
        return f"EZ9999: AI Core exception in {operator}: {error}"
    what = memory_error_message(error) or f"{type_name(error)}: {text_of(error)}"
    return f"EZ9999: the simulated {operator} failed: {what}"
