# SPDX-License-Identifier: Apache-2.0
"""Device process: answers the host's requests until the host ends or disconnects.

The host holds the other end of a pipe; the end of the host kills this process.

Two threads take turns: while one of them runs kernels, the other one answers phase 1.

Every device that is opened starts one, and many programs never run an operator: so NumPy and the
operators are imported when the first operator comes.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import gc
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

from pyaclnn.base.errors import text_of
from pyaclnn.base.limits import memory_error_message
from pyaclnn.facts.chips import FAMILIES, find_chip
from pyaclnn.mock.device.turns import Turns
from pyaclnn.mock.protocol.batch import Batch
from pyaclnn.mock.protocol.mapping import open_shared
from pyaclnn.mock.protocol.wire import (
    PROTOCOL_VERSION,
    Bye,
    Check,
    CheckReply,
    Forget,
    FrameReader,
    Hello,
    Kind,
    Reply,
    Request,
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

_KINDS: dict[type, Kind] = {
    Hello: Kind.HELLO,
    Check: Kind.CHECK,
    Batch: Kind.RUN,
    Bye: Kind.BYE,
    Forget: Kind.FORGET,
}


class Server:
    """Server of the device process.

    Args:
        memory_descriptor: File descriptor of the memory file.
    """

    def __init__(self, memory_descriptor: int) -> None:
        self._memory_descriptor = memory_descriptor
        self._hello: Hello | None = None
        self._device: Device | None = None

    def answer(self, request: Request) -> Reply | CheckReply | list[Reply]:
        """Answer one request.

        Raises:
            WireError: The request makes no sense at this point.
        """
        if isinstance(request, Batch) and self._device is not None:
            return self._device.run_batch(request)
        if isinstance(request, Hello):
            return self._answer_hello(request)
        if isinstance(request, Bye):
            return Reply()
        if isinstance(request, Forget):
            return self._forget()
        if not self.is_ready() or self._device is None:
            raise WireError(f"{type(request).__name__.upper()} came before a successful HELLO")
        if isinstance(request, Check):
            return self._device.check(request.call)
        if isinstance(request, Batch):
            return self._device.run_batch(request)
        raise WireError(f"{type(request).__name__} cannot be answered")

    def is_ready(self) -> bool:
        """Return whether operators can be served; the first call loads their modules."""
        if self._device is None and self._hello is not None:
            self._device = self._start(self._hello)
        return self._device is not None

    def _forget(self) -> Reply:
        """Release the memory and the calls of the device; another one may follow."""
        from pyaclnn.mock.protocol.status import Status  # noqa: PLC0415  # many devices run nothing

        is_clean = self._device is None or self._device.close()
        self._device = self._hello = None
        os.close(self._memory_descriptor)
        self._memory_descriptor = -1
        if is_clean:
            return Reply()
        return Reply(Status.DEVICE_SETUP_ERROR, "EE9999: arrays in the device's memory are alive")

    def _answer_hello(self, hello: Hello) -> Reply:
        if self._hello is not None:
            raise WireError("a second HELLO came; one device process is one device")
        try:
            if hello.process:
                self._memory_descriptor = open_shared(hello.process, hello.descriptor)
            self._check(hello)
        except (KeyError, ValueError, OSError) as error:
            from pyaclnn.mock.protocol.status import Status  # noqa: PLC0415  # many devices run nothing

            text = error.args[0] if isinstance(error, KeyError) else text_of(error)
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
        # Threads of a product of matrices wait by spinning, and the host has as many of its own.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        gc.disable()  # what is loaded stays: to look for garbage in it costs a tenth of the time
        try:
            from pyaclnn.mock.device.device import Device, ignore_floating_point_errors  # noqa: PLC0415
            from pyaclnn.mock.protocol.memory import DeviceMemory  # noqa: PLC0415  # both load NumPy
        finally:
            gc.enable()
        ignore_floating_point_errors()
        _keep_freed_memory()
        memory = DeviceMemory(self._memory_descriptor, hello.base_address, hello.memory_bytes)
        return Device(find_chip(hello.soc_name), memory)


def _keep_freed_memory() -> None:
    """Have malloc keep what is freed, up to 64 MiB, for the results and temporaries that come next.

    It would give them back to the system and fault every page in again: of a kernel on some
    hundred KiB that is half of its time.
    """
    import ctypes  # noqa: PLC0415  # NumPy has loaded it

    trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
    adjust = ctypes.CDLL(None).mallopt
    adjust(trim_threshold, 64 << 20)
    adjust(mmap_threshold, 32 << 20)  # the most that there may be


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


class Connection:
    """The socket to the host, served by two threads.

    Args:
        descriptor: The socket's file descriptor.
        server: The server that answers.
    """

    def __init__(self, descriptor: int, server: Server) -> None:
        self._descriptor = descriptor
        self._server = server
        self._frames = FrameReader(descriptor)
        self._sending = threading.Lock()
        self._status: int | None = None
        self._helper: threading.Thread | None = None
        self._is_busy = False
        self._turns = Turns(descriptor)

    def serve(self) -> int:
        """Answer requests until the last one, on the main thread.

        Returns:
            The exit status of the process.
        """
        while (request := self._turns.next(self._read)) is not None:
            self._is_busy = not isinstance(request, Bye)  # after which both threads end
            if isinstance(request, (Check, Batch)) and self._helper is None:
                self._start_helper()
            self._answer(request)
            self._is_busy = False
        return self._status or 0

    def _start_helper(self) -> None:
        if self._server.is_ready():
            self._prepare_thread()
            self._helper = threading.Thread(target=self._help, name="helper", daemon=True)
            self._helper.start()

    def _prepare_thread(self) -> None:
        from pyaclnn.mock.device.device import ignore_floating_point_errors  # noqa: PLC0415  # loads NumPy

        ignore_floating_point_errors()

    def _help(self) -> None:
        """Do as `serve`, on another thread, which ends the process if the main thread cannot."""
        self._prepare_thread()
        while (request := self._turns.next(self._read)) is not None:
            self._answer(request)
        if self._is_busy:  # with a kernel, which may never end
            sys.stderr.flush()
            os._exit(self._status or 0)

    def _read(self) -> Request | None:
        """Read a request; None: there are no more."""
        request = None
        try:
            frame = self._frames.next()
            request = None if frame is None else decode_request(*frame)
        except WireError as error:
            self._end(_malformed(error))
        except Exception as error:  # noqa: BLE001  # a thread without its request ends the process
            self._end(_failed(error))
        if request is None:
            self._end(0)
        return request

    def _answer(self, request: Request) -> None:
        try:
            frame = memoryview(encode_reply(_KINDS[type(request)], self._server.answer(request)))
            with self._sending:
                while frame:
                    frame = frame[os.write(self._descriptor, frame) :]
        except BrokenPipeError:
            self._end(0)
        except WireError as error:
            self._end(_malformed(error))
        except Exception as error:  # noqa: BLE001  # as above
            self._end(_failed(error))
        if isinstance(request, Bye):
            self._end(0)

    def _end(self, status: int) -> None:
        """Set the exit status, unless it is set, and wake the threads that wait."""
        if self._status is None:
            self._status = status
        self._turns.end()


def serve(socket_descriptor: int, memory_descriptor: int) -> int:
    """Answer requests until `Bye`, the end of the stream or a malformed frame.

    Args:
        socket_descriptor: File descriptor of a connected stream socket.
        memory_descriptor: File descriptor of the memory file.

    Returns:
        The exit status: 0, or `MALFORMED_EXIT` or `NO_MEMORY_EXIT` after a line on standard error.
    """
    return Connection(socket_descriptor, Server(memory_descriptor)).serve()


def _failed(error: Exception) -> int:
    message = memory_error_message(error)
    if message is None:
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    sys.stderr.write(f"pyaclnn simulated NPU: {message}\n")
    return NO_MEMORY_EXIT


def _malformed(error: WireError) -> int:
    sys.stderr.write(f"pyaclnn simulated NPU: malformed frame: {error}\n")
    sys.stderr.flush()
    return MALFORMED_EXIT


def _die_with_host(lifeline: int) -> None:
    """Let the kernel of the system kill this process when the other end of a pipe is closed.

    Whatever the threads of this process do: a kernel of the user may never end, nor release the
    GIL. The processes that it has started are killed, too: the host starts this one as the leader
    of a group.
    """
    process = os.getpid()
    owner = -process if os.getpgrp() == process else process
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, owner)
    fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _exit(status: int) -> NoReturn:
    """End this process, with the threads that kernels of the user have started."""
    atexit._run_exitfuncs()  # noqa: SLF001  # Python would wait for the threads first
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a kernel of the user may have replaced it
            stream.flush()
    os._exit(status)


def main(argv: Sequence[str | int]) -> NoReturn:
    """Be the device process; never returns.

    The exit status is 0 after `Bye` or the end of the stream, `MALFORMED_EXIT` after a malformed
    frame, `NO_MEMORY_EXIT` where memory runs out.

    Args:
        argv: File descriptors of the socket, of the memory file and, optionally, of a pipe: its
            other end is the host's, and this process is killed when that is closed.
    """
    socket_descriptor, memory_descriptor, *lifelines = map(int, argv)
    for lifeline in lifelines:
        _die_with_host(lifeline)
    # The host takes the end of the socket for the end of this process.
    os.register_at_fork(after_in_child=functools.partial(os.close, socket_descriptor))
    # Ctrl-C reaches the whole process group; whether to stop is the host's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _exit(serve(socket_descriptor, memory_descriptor))
