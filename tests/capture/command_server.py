# SPDX-License-Identifier: Apache-2.0
"""Processes of the command ``pyaclnn``, forked from one that has imported it already.

A start costs a third of a second, most of it for imports, and these tests start hundreds. A child
has the environment, the folder and the files of its request, and ends as a process of its own.
"""

from __future__ import annotations

import functools
import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyaclnn.__main__ import main

__all__ = ["end", "run"]

_IMPORTED = ("cli", "capture.commands", "capture.compare", "capture.example", "capture.replay",
             "capture.show", "capture.uncalled")  # fmt: skip
_PATIENCE = 300
"""Seconds."""


def run(arguments: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command in the current folder, with an environment of its own.

    Args:
        arguments: The arguments of the command.
        variables: Its whole environment.

    Raises:
        TimeoutError: It has not ended in time.
    """
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("out", "err")]
        request = [arguments, variables, os.getcwd(), *map(str, files)]  # noqa: PTH109
        server.stdin.write(f"{json.dumps(request)}\n")
        server.stdin.flush()
        if not select.select([server.stdout], [], [], _PATIENCE)[0]:
            server.kill()
            end()
            raise TimeoutError(f"pyaclnn {' '.join(arguments)}")
        status = int(server.stdout.readline())
        out, err = (path.read_text() for path in files)
    return subprocess.CompletedProcess(["pyaclnn", *arguments], status, out, err)


@functools.cache
def _server() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def end() -> None:
    """End the process that the others are forked from, if there is one."""
    if _server.cache_info().currsize:
        _server().communicate()  # closes its input, and waits
        _server.cache_clear()


def _serve() -> int:
    """Fork a child for each request, and answer with its status; return the status of a child."""
    for name in _IMPORTED:
        __import__(f"pyaclnn.{name}")
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            return _command(*request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    return 0


def _command(arguments: list[str], variables: Any, folder: str, out: str, err: str) -> int:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    for number, path in enumerate((os.devnull, out, err)):
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    sys.argv = ["pyaclnn", *arguments]
    return main()


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose names are those of the tests
    sys.exit(_serve())
