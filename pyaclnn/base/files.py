# SPDX-License-Identifier: Apache-2.0
"""Opener of files that a user or an installation names; it limits their kind, size and time.

A name in an installation can be that of a pipe, whose opening would wait for a writer, of a device,
whose opening can have effects, or of a file without end. A shell passes pipes and devices to a
command as files, as in ``pyaclnn doctor compare <(ssh node pyaclnn doctor --json)``.
"""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import time
from typing import Any, Final

__all__ = [
    "LARGEST",
    "FileRefusedError",
    "open_file",
    "read_file",
    "read_json",
    "read_text",
    "refusal",
]

LARGEST: Final = 64 << 20
"""The default limit of a size in bytes."""
_FOR_A_WRITER: Final = 5.0
"""Seconds in which a program must open the other end of a named pipe."""
_FOR_A_STREAM: Final = 600.0
"""Seconds in which a pipe or a device must have passed its whole content."""
_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class FileRefusedError(OSError):
    """A file is of the wrong kind, too large or too slow; ``strerror`` gives the reason."""


def open_file(
    path: str | os.PathLike[str],
    what: str = "a file of this kind",
    *,
    most: int = LARGEST,
    streams: bool = False,
) -> io.BufferedReader:
    """Open a file for reading, without waiting for another program.

    Args:
        path: The file; links are followed.
        what: The kind of file with its article, for messages.
        most: The limit of its size in bytes. Streams and files of the kernel state no size.
        streams: True if it may also be a pipe or a character device, whose reads have a time limit.

    Returns:
        The file, opened for bytes.

    Raises:
        FileRefusedError: It is no ordinary file, or is too large.
        OSError: It cannot be opened.
    """
    # A device must not be opened in order to see what it is.
    _check(os.stat(path), path, what, most, streams=streams)  # noqa: PTH116  # a str is usual
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        _check(status, path, what, most, streams=streams)
    except OSError:
        os.close(descriptor)
        raise
    return io.BufferedReader(
        io.FileIO(descriptor) if stat.S_ISREG(status.st_mode) else _Stream(descriptor)
    )


def refusal(path: str | os.PathLike[str], what: str, *, most: int = LARGEST) -> str | None:
    """Return why `open_file` refuses a file; None if it does not, or if there is no such file."""
    try:
        return _reason(os.stat(path), what, most)  # noqa: PTH116  # as above
    except OSError:
        return None  # reading it reports the error


def read_file(
    path: str | os.PathLike[str],
    what: str = "a file of this kind",
    *,
    most: int = LARGEST,
    streams: bool = False,
) -> bytes:
    """Read a whole file; see `open_file` for the arguments.

    Raises:
        FileRefusedError: It is no ordinary file, is too large, or takes too long.
        OSError: It cannot be read.
    """
    with open_file(path, what, most=most, streams=streams) as file:
        content: bytes | None = file.read(most + 1)
    if content is None:  # a file of the kernel, such as /proc/kmsg
        raise FileRefusedError(errno.EAGAIN, "it contains nothing yet", os.fspath(path))
    if len(content) > most:
        raise FileRefusedError(errno.EFBIG, f"it is larger than {most >> 20} MiB", os.fspath(path))
    return content


def read_text(
    path: str | os.PathLike[str],
    what: str = "a file of this kind",
    *,
    most: int = LARGEST,
    errors: str = "strict",
) -> str:
    """Read a text file in UTF-8 with any line ends; see `open_file` for the other arguments.

    Args:
        path: The file.
        what: The kind of file with its article, for messages.
        most: The limit of its size in bytes.
        errors: As of `bytes.decode`.

    Raises:
        OSError: It cannot be read, or is no ordinary file of an acceptable size.
        UnicodeDecodeError: It is no UTF-8, and `errors` is ``strict``.
    """
    text = read_file(path, what, most=most).decode(errors=errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: str | os.PathLike[str], what: str = "a JSON file") -> Any:
    """Read a JSON file.

    Args:
        path: The file.
        what: The kind of file with its article, for messages.

    Returns:
        The value.

    Raises:
        OSError: It cannot be read, or is no ordinary file of an acceptable size.
        ValueError: It is no JSON, or is nested too deeply.
    """
    try:
        return json.loads(read_file(path, what))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _check(
    status: os.stat_result, path: str | os.PathLike[str], what: str, most: int, *, streams: bool
) -> None:
    mode = status.st_mode
    if streams and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    reason = _reason(status, what, most)
    if reason is not None:
        code = errno.EFBIG if stat.S_ISREG(mode) else errno.EINVAL
        raise FileRefusedError(code, reason, os.fspath(path))


def _reason(status: os.stat_result, what: str, most: int) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "it is no ordinary file"
    if status.st_size > most:
        return f"it is too large for {what}: {status.st_size} bytes"
    return None


class _Stream(io.FileIO):
    """Pipe or device whose reads end at a deadline."""

    def __init__(self, descriptor: int) -> None:
        """Own an open descriptor that does not block."""
        super().__init__(descriptor)
        self._deadline = time.monotonic() + _FOR_A_STREAM
        self._begun = False

    def readinto(self, buffer: Any, /) -> int:
        """Wait for content, and read it; 0 at the end."""
        count = super().readinto(buffer)
        if count == 0 and not self._begun:
            # Also the answer of a pipe that no program has opened yet.
            self._wait(_FOR_A_WRITER, "it is a pipe that no program writes to")
            count = super().readinto(buffer)
        self._begun = True
        while count is None:
            left = self._deadline - time.monotonic()
            self._wait(left, f"it did not end within {_FOR_A_STREAM:.0f} seconds")
            count = super().readinto(buffer)
        return count

    def _wait(self, seconds: float, reason: str) -> None:
        import select  # noqa: PLC0415  # pipes alone are waited for

        changes = select.poll()
        changes.register(self.fileno(), select.POLLIN)
        if not changes.poll(max(seconds, 0) * 1000):
            raise FileRefusedError(errno.ETIMEDOUT, reason)
