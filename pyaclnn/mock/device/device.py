# SPDX-License-Identifier: Apache-2.0
"""Simulated device: phase 1 of operators, and their kernels in its memory."""

from __future__ import annotations

import functools
import warnings
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.facts.releases import simulated
from pyaclnn.mock.device.checked import CheckedCall, CheckedCalls
from pyaclnn.mock.device.kernel_launch import KernelLaunch
from pyaclnn.mock.operators.finding import find_operator
from pyaclnn.mock.operators.operator import Launch, RefusalError, Setting
from pyaclnn.mock.protocol.batch import Reads, decode_run, run_number
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.wire import CheckReply, Reply
from pyaclnn.reference.kernels.kernel import KernelLimitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.facts.chips import Chip
    from pyaclnn.mock.protocol.batch import Batch, Run
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Call

__all__ = ["Device", "ignore_floating_point_errors"]

# Seconds after which a batch goes back to the host, which then sees how far its streams are.
_LONGEST_BATCH = 0.004
_MILLISECOND = 0.001
_MOST_LAUNCHES = 4096


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
        self._launches: dict[bytes, KernelLaunch] = {}

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
        start = before = monotonic()
        for message in batch.messages:
            reply = self._run_item(message)
            now = monotonic()
            if now - before >= _MILLISECOND:
                reply = replace(reply, milliseconds=int((now - before) / _MILLISECOND))
            replies.append(reply)
            if reply.status or now - start > _LONGEST_BATCH:
                break
            before = now
        return replies

    def _run_item(self, message: bytes | Reads) -> Reply:
        if isinstance(message, Reads):
            return _answer_of("copy", functools.partial(self._read, message))
        launch = self._launches.get(message) or self._with_other_scalars(message)
        if launch is None:
            return self.run(decode_run(message), message)
        return _answer_of(launch.operator, launch.run)

    def _read(self, reads: Reads) -> Reply:
        self.memory.read(reads.process, reads.descriptor, reads.ranges)
        return Reply()

    def _with_other_scalars(self, message: bytes) -> KernelLaunch | None:
        """Return the launch whose message differs in values of scalars alone, with these set."""
        checked = self.calls.with_number(run_number(message))
        if checked is None or not checked.any_scalars:
            return None
        launch = self._launches.get(checked.launch_key(message))
        if launch is not None:
            checked.set_scalars(message)
        return launch

    def run(self, request: Run, message: bytes = b"") -> Reply:
        """Run the kernels of an operator; whatever goes wrong becomes an asynchronous status.

        They run on what phase 1 has left. A call with an unknown number goes through
        phase 1 first, so that no kernel ever sees what that refuses.

        Args:
            request: The call.
            message: The bytes of the request, by which its launch is kept; empty for none.

        Raises:
            WireError: The call is not well-formed.
        """
        self.memory.mapped = request.mapped
        checked = self.calls.find(request)
        call = request.decoded() if checked is None else checked.call

        def run() -> Reply:
            known = checked or self._checked(call, CheckReply(Status.SUCCESS))
            if known.plan.launch == Launch.FAILS:
                return Reply(Status.AICORE_EXCEPTION, known.plan.text)
            if known.plan.launch == Launch.NOTHING:
                return Reply()
            if not (message and checked) or request.mapped:
                return KernelLaunch(self.memory, known, request).run()
            launch = KernelLaunch(self.memory, known, request)
            reply = launch.run()
            if launch.is_lasting:
                self._keep(checked.launch_key(message), launch)
            return reply

        return _answer_of(call.operator, run)

    def _keep(self, message: bytes, launch: KernelLaunch) -> None:
        if len(self._launches) >= _MOST_LAUNCHES:
            self._launches.clear()
        self._launches[message] = launch

    def close(self) -> bool:
        """Unmap the memory; arrays that are still alive keep it mapped until they go.

        Returns:
            True if there are none.
        """
        self._launches.clear()
        self.calls.clear()
        return self.memory.close()

    def _checked(self, call: Call, reply: CheckReply) -> CheckedCall:
        """Run phase 1; notes in the reply what is known of the operator even if it refuses."""
        operator = find_operator(call, self.release)
        if operator is None:
            raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, _not_implemented(call.operator))
        reply.executor_kind, reply.written = operator.executor_kind, operator.written_mask
        reply.apart = 2 if operator.reads_bases else operator.apart
        arguments, setting = operator.bind(call), Setting(self.chip, call.flags)
        plan = operator.check(arguments, setting)
        checked = CheckedCall(operator, arguments, setting, plan, call)
        reply.any_scalars = checked.any_scalars
        reply.spares_workspace = checked.operator.shows_unwritten
        return checked


def ignore_floating_point_errors() -> None:
    """Overflow and invalid operations are results, on a chip; so they are for this process.

    So are means of nothing, of which NumPy warns in another way.
    """
    np.seterr(all="ignore")
    warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)


def _answer_of(operator: str, run: Callable[[], Reply]) -> Reply:
    """Run kernels; whatever goes wrong becomes an asynchronous status."""
    try:
        return run()
    except RefusalError as refusal:
        return Reply(Status.AICORE_EXCEPTION, refusal.text)
    except KernelLimitError as limit:
        return Reply(Status.MOCK_NOT_IMPLEMENTED, str(limit))
    except BaseException as error:  # noqa: BLE001 (SystemExit among them: it ends the call alone)
        return Reply(Status.AICORE_EXCEPTION, _fault(operator, error))


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
