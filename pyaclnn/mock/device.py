# SPDX-License-Identifier: Apache-2.0
"""The device process: answers the host's requests until it says goodbye or goes away."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pyaclnn.mock.chips import Chip, find_chip
from pyaclnn.mock.memory import WORKSPACE_BEFORE, DeviceMemory, DeviceMemoryError
from pyaclnn.mock.operators import OPERATORS
from pyaclnn.mock.operators.custom import find_operator
from pyaclnn.mock.operators.operator import Launch, RefusalError, Setting
from pyaclnn.mock.outputs import poison_outputs, restore_unwritten, spoil_outputs
from pyaclnn.mock.status import Status
from pyaclnn.mock.values import Flag
from pyaclnn.mock.wire import (
    PROTOCOL_VERSION,
    Bye,
    Check,
    CheckReply,
    FrameReader,
    Hello,
    Reply,
    Request,
    Run,
    WireError,
    decode_request,
    encode_reply,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.mock.operators.operator import Operator
    from pyaclnn.mock.values import Call

__all__ = ["MALFORMED_EXIT", "Device", "main", "serve"]

MALFORMED_EXIT = 3


class Device:
    """One simulated device.

    Args:
        chip: The chip to simulate.
        memory: The device's memory.
    """

    def __init__(self, chip: Chip, memory: DeviceMemory) -> None:
        self.chip = chip
        self.memory = memory

    @classmethod
    def open(cls, hello: Hello, memory_descriptor: int) -> Device:
        """Become the device a `Hello` asks for.

        Raises:
            ValueError: Another protocol version, or the memory file is too short.
            KeyError: The chip is unknown.
        """
        if hello.protocol_version != PROTOCOL_VERSION:
            raise ValueError(
                f"the host speaks protocol version {hello.protocol_version}; this device process "
                f"speaks {PROTOCOL_VERSION}: both must come from one installation"
            )
        chip = find_chip(hello.soc_name)
        return cls(chip, DeviceMemory(memory_descriptor, hello.base_address, hello.memory_bytes))

    def check(self, call: Call) -> CheckReply:
        """Run phase 1 of an operator; whatever goes wrong becomes a status."""
        try:
            operator = find_operator(call.operator)
        except Exception as error:  # noqa: BLE001 (a broken package must not stop the device)
            return CheckReply(Status.INNER, text=_fault(call.operator, error))
        if operator is None:
            return CheckReply(Status.MOCK_NOT_IMPLEMENTED, text=_not_implemented(call.operator))
        reply = CheckReply(Status.SUCCESS, operator.executor_kind, operator.output_count)
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
        poisoned = poison_outputs(self.memory, call, operator.output_count)
        try:
            operator.run(arguments, setting, self.memory)
        finally:
            restore_unwritten(poisoned)
        if call.flags & Flag.WRONG_NUMBERS:
            spoil_outputs(self.memory, call, operator.output_count)
        if workspace_size:
            self.memory.poison(request.workspace_address, workspace_size)


def serve(socket_descriptor: int, memory_descriptor: int) -> int:
    """Answer requests until `Bye`, the end of the stream or a malformed frame.

    Args:
        socket_descriptor: File descriptor of a connected stream socket.
        memory_descriptor: File descriptor of the memory file.

    Returns:
        The exit status: 0, or `MALFORMED_EXIT` after a line on standard error.
    """
    frames = FrameReader(socket_descriptor)
    device: Device | None = None
    try:
        while (frame := frames.next()) is not None:
            kind, payload = frame
            request = decode_request(kind, payload)
            reply: Reply | CheckReply
            if isinstance(request, Hello):
                device, reply = _hello(device, request, memory_descriptor)
            else:
                reply = _answer(device, request)
            _send(socket_descriptor, encode_reply(kind, reply))
            if isinstance(request, Bye):
                break
    except WireError as error:
        sys.stderr.write(f"pyaclnn simulated NPU: malformed frame: {error}\n")
        return MALFORMED_EXIT
    except BrokenPipeError:
        return 0
    finally:
        if device is not None:
            device.memory.close()
    return 0


def main(argv: Sequence[str | int]) -> NoReturn:
    """Be the device process; never returns.

    Args:
        argv: File descriptors of the socket and of the memory file.

    Raises:
        SystemExit: Always: 0 after `Bye` or the end of the stream, `MALFORMED_EXIT` after a
            malformed frame.
    """
    socket_descriptor, memory_descriptor = map(int, argv)
    # Ctrl-C reaches the whole process group; whether to stop is the host's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with np.errstate(all="ignore"):
        status = serve(socket_descriptor, memory_descriptor)
    sys.exit(status)


def _hello(
    device: Device | None, request: Hello, memory_descriptor: int
) -> tuple[Device | None, Reply]:
    if device is not None:
        raise WireError("a second HELLO came; one device process is one device")
    try:
        return Device.open(request, memory_descriptor), Reply()
    except (KeyError, ValueError, OSError) as error:
        text = error.args[0] if isinstance(error, KeyError) else str(error)
        return None, Reply(
            Status.DEVICE_SETUP_ERROR,
            f"EE9999: simulated device {request.device_id} cannot start: {text}",
        )


def _answer(device: Device | None, request: Request) -> Reply | CheckReply:
    if isinstance(request, Bye):
        return Reply()
    if device is None:
        raise WireError(f"{type(request).__name__.upper()} came before a successful HELLO")
    if isinstance(request, Check):
        return device.check(request.call)
    if isinstance(request, Run):
        return device.run(request)
    raise WireError(f"{type(request).__name__} cannot be answered")


def _send(descriptor: int, frame: bytes) -> None:
    rest = memoryview(frame)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _not_implemented(operator: str) -> str:
    return (
        f"EZ9999: the simulated NPU does not implement {operator}; it implements "
        f"{', '.join(OPERATORS)}"
    )


def _fault(operator: str, error: Exception) -> str:
    return f"EZ9999: the simulated {operator} failed: {type(error).__name__}: {error}"
