# SPDX-License-Identifier: Apache-2.0
"""Device process: answers the host's requests until the host ends or disconnects.

The host holds the other end of a pipe; the end of the host kills this process.

One thread talks to the host, which is answered phase 1 at once; the other one runs kernels.

Every device that is opened starts one, and many programs never run an operator: so NumPy and the
operators are imported when the first operator comes.
"""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import sys
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, NoReturn

from pyaclnn.base.limits import memory_error_message
from pyaclnn.base.variable import choice
from pyaclnn.facts.chips import FAMILIES, find_chip
from pyaclnn.mock.protocol.wire import (
    PROTOCOL_VERSION,
    Bye,
    Check,
    CheckReply,
    FrameReader,
    Hello,
    Kind,
    Reply,
    Request,
    Run,
    WireError,
    decode_request,
    encode_reply,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.mock.device.device import Device

__all__ = ["MALFORMED_EXIT", "NO_MEMORY_EXIT", "main", "serve"]

MALFORMED_EXIT = 3
NO_MEMORY_EXIT = 4


class Server:
    """Server of the device process.

    Args:
        memory_descriptor: File descriptor of the memory file.
    """

    def __init__(self, memory_descriptor: int) -> None:
        self._memory_descriptor = memory_descriptor
        self._hello: Hello | None = None
        self._device: Device | None = None

    def answer(self, request: Request) -> Reply | CheckReply:
        """Answer one request.

        Raises:
            WireError: The request makes no sense at this point.
        """
        if isinstance(request, Hello):
            return self._answer_hello(request)
        if isinstance(request, Bye):
            return Reply()
        if not self.is_ready() or self._device is None:
            raise WireError(f"{type(request).__name__.upper()} came before a successful HELLO")
        if isinstance(request, Check):
            return self._device.check(request.call)
        if isinstance(request, Run):
            return self._device.run(request)
        raise WireError(f"{type(request).__name__} cannot be answered")

    def is_ready(self) -> bool:
        """Return whether operators can be served; the first call loads their modules."""
        if self._device is None and self._hello is not None:
            self._device = self._start(self._hello)
        return self._device is not None

    def _answer_hello(self, hello: Hello) -> Reply:
        if self._hello is not None:
            raise WireError("a second HELLO came; one device process is one device")
        try:
            self._check(hello)
        except (KeyError, ValueError, OSError) as error:
            from pyaclnn.mock.protocol.status import Status  # noqa: PLC0415  # many devices run nothing

            text = error.args[0] if isinstance(error, KeyError) else str(error)
            return Reply(
                Status.DEVICE_SETUP_ERROR,
                f"EE9999: simulated device {hello.device_id} cannot start: {text}",
            )
        self._hello = hello
        return Reply()

    def _check(self, hello: Hello) -> None:
        if hello.protocol_version != PROTOCOL_VERSION:
            raise ValueError(
                f"the host speaks protocol version {hello.protocol_version}; this device process "
                f"speaks {PROTOCOL_VERSION}: both must come from one installation"
            )
        _require_chip(hello.soc_name)
        choice("PYACLNN_MOCK_KERNELS", "torch")
        faults = os.environ.get("PYACLNN_MOCK_FAULTS")
        if faults:
            from pyaclnn.mock.protocol.fault_functions import require_functions  # noqa: PLC0415  # few name faults

            require_functions(faults, "PYACLNN_MOCK_FAULTS: ")
        length = os.fstat(self._memory_descriptor).st_size
        if length < hello.memory_bytes:
            raise ValueError(
                f"its memory file has {length} bytes, which is less than {hello.memory_bytes}"
            )

    def _start(self, hello: Hello) -> Device:
        gc.disable()  # what is loaded stays: to look for garbage in it costs a tenth of the time
        try:
            from pyaclnn.mock.device.device import Device, ignore_floating_point_errors  # noqa: PLC0415
            from pyaclnn.mock.protocol.memory import DeviceMemory  # noqa: PLC0415  # both load NumPy
        finally:
            gc.enable()
        ignore_floating_point_errors()
        memory = DeviceMemory(self._memory_descriptor, hello.base_address, hello.memory_bytes)
        return Device(find_chip(hello.soc_name), memory)


def _require_chip(soc_name: str) -> None:
    """Require a chip that exists, and that the simulated release of CANN knows."""
    since = FAMILIES[find_chip(soc_name).family].since
    if since is None:
        return
    from pyaclnn.facts.releases import VARIABLE, has, simulated  # noqa: PLC0415  # few need it

    release = simulated().name
    if not has(release, since):
        raise ValueError(
            f"CANN {release} does not know the chip {soc_name}, which CANN {since} introduced; set "
            f"{VARIABLE}={since}, or another chip in PYACLNN_MOCK_SOC"
        )


class Kernels(threading.Thread):
    """Thread that runs kernels one after the other, so that phase 1 need not wait for them.

    Args:
        server: The server that answers.
        descriptor: The socket's file descriptor.
    """

    def __init__(self, server: Server, descriptor: int) -> None:
        # The process ends on the host's request, or with the host, even while a kernel runs.
        super().__init__(name="kernels", daemon=True)
        self._server = server
        self._descriptor = descriptor
        self._queue: SimpleQueue[Run] = SimpleQueue()
        self._sending = threading.Lock()

    def add(self, request: Run) -> None:
        """Queue the kernels of an operator."""
        if not self.is_alive():
            self.start()
        request.encoded = bytes(request.encoded)  # the next request comes into the same buffer
        self._queue.put(request)

    def run(self) -> None:
        """Run what is queued; the base class calls this on the new thread."""
        from pyaclnn.mock.device.device import ignore_floating_point_errors  # noqa: PLC0415  # loads NumPy

        ignore_floating_point_errors()
        while True:
            self._run_next()

    def _run_next(self) -> None:
        try:
            self.send(Kind.RUN, self._server.answer(self._queue.get()))
        except BrokenPipeError:
            pass  # the other thread sees that the host is gone, too
        except WireError as error:
            os._exit(_malformed(error))  # the other thread waits for the host

    def send(self, kind: int, reply: Reply | CheckReply) -> None:
        """Send a reply; both threads do."""
        with self._sending:
            rest = memoryview(encode_reply(kind, reply))
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]


def serve(socket_descriptor: int, memory_descriptor: int) -> int:
    """Answer requests until `Bye`, the end of the stream or a malformed frame.

    Args:
        socket_descriptor: File descriptor of a connected stream socket.
        memory_descriptor: File descriptor of the memory file.

    Returns:
        The exit status: 0, or `MALFORMED_EXIT` or `NO_MEMORY_EXIT` after a line on standard error.
    """
    frames, server = FrameReader(socket_descriptor), Server(memory_descriptor)
    kernels = Kernels(server, socket_descriptor)
    try:
        while (frame := frames.next()) is not None:
            kind, payload = frame
            request = decode_request(kind, payload)
            if isinstance(request, Run) and server.is_ready():
                kernels.add(request)
                continue
            kernels.send(kind, server.answer(request))
            if isinstance(request, Bye):
                break
    except WireError as error:
        return _malformed(error)
    except BrokenPipeError:
        return 0
    except Exception as error:
        told = memory_error_message(error)
        if told is None:
            raise
        sys.stderr.write(f"pyaclnn simulated NPU: {told}\n")
        return NO_MEMORY_EXIT
    return 0


def _malformed(error: WireError) -> int:
    sys.stderr.write(f"pyaclnn simulated NPU: malformed frame: {error}\n")
    sys.stderr.flush()
    return MALFORMED_EXIT


def _die_with_host(lifeline: int) -> None:
    """Let the kernel of the system kill this process when the other end of a pipe is closed.

    Whatever the threads of this process do: a kernel of the user may never end, nor release the
    GIL.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def main(argv: Sequence[str | int]) -> NoReturn:
    """Be the device process; never returns.

    Args:
        argv: File descriptors of the socket, of the memory file and, optionally, of a pipe: its
            other end is the host's, and this process is killed when that is closed.

    Raises:
        SystemExit: Always: 0 after `Bye` or the end of the stream, `MALFORMED_EXIT` after a
            malformed frame, `NO_MEMORY_EXIT` where memory runs out.
    """
    socket_descriptor, memory_descriptor, *lifelines = map(int, argv)
    for lifeline in lifelines:
        _die_with_host(lifeline)
    # Ctrl-C reaches the whole process group; whether to stop is the host's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(serve(socket_descriptor, memory_descriptor))
