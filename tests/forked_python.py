# SPDX-License-Identifier: Apache-2.0
"""Python that has imported what programs of tests need, and forks a child for each of them.

It stands alone: ``python forked_python.py DESCRIPTOR`` with a socket to `tests.fork_server`. A
child is a process like any other: its own environment, folder, arguments and end.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import linecache
import os
import runpy
import selectors
import socket
import sys
import types
import warnings
from typing import Any

_LOADED = (
    "importlib.metadata",
    "numpy",
    "pyaclnn",
    "pyaclnn.cli",
    "pyaclnn._binding",
    "pyaclnn.aclnn",
    *(f"pyaclnn.calling.{name}" for name in ("described", "described_function", "plan")),
    "pyaclnn.cann.raw",
    "pyaclnn.cann.library",
    *(
        f"pyaclnn.capture.{name}"
        for name in ("commands", "compare", "example", "replay", "session")
    ),
    *("pyaclnn.capture.show", "pyaclnn.capture.uncalled"),
    "pyaclnn.facts.explanations",
    *(f"pyaclnn.health.command.{name}" for name in ("explain", "run", "smoke")),
    "pyaclnn.mock.control.injection",
    "pyaclnn.ops",
    "pyaclnn.runtime.array",
    "pyaclnn.runtime.configuration",
    "pyaclnn.runtime.creation",
    "pyaclnn.runtime.pinned",
    "pyaclnn.runtime.stream",
)
"""Importing a module opens no library, which `tests.architecture` proves."""


def _serve(channel: socket.socket) -> dict[str, Any] | None:
    """Fork for each request.

    Returns:
        In a child what it is to run; in the server, which nobody needs any more, None.
    """
    answers: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as ready:
        ready.register(channel, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is not channel:
                    process, answer = answers.pop(key.fd)
                    os.write(answer, str(os.waitpid(process, 0)[1]).encode())
                    ready.unregister(key.fd)
                    os.close(key.fd)
                    os.close(answer)
                    continue
                received = socket.recv_fds(channel, 1, 5, socket.MSG_CMSG_CLOEXEC)
                if not received[0]:
                    return None
                given, *streams, answer = received[1]
                process = os.fork()
                if process == 0:
                    with open(given, "rb") as file:  # noqa: PTH123  # it has no path
                        request: dict[str, Any] = json.load(file)
                    for standard, stream in enumerate(streams):
                        os.dup2(stream, standard)
                    os.closerange(len(streams), max(received[1]) + 1)
                    return request
                for descriptor in (given, *streams):
                    os.close(descriptor)
                os.write(answer, f"{process} ".encode())
                ended = os.pidfd_open(process)
                answers[ended] = (process, answer)
                ready.register(ended, selectors.EVENT_READ)


def _run(folder: str, environment: dict[str, str], words: list[str]) -> None:
    """Do what Python does with a command line."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    while words[0] == "-W":
        _, action, *words = words
        sys.warnoptions.append(action)
        warnings.simplefilter(action)  # type: ignore[arg-type]
    option, what, *arguments = words
    sys.argv[:] = ["-c", *arguments]
    _open_streams()
    if option == "-m":
        sys.path[0] = folder
        runpy.run_module(what, run_name="__main__", alter_sys=True)
        return
    sys.path[0] = ""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if sys.version_info >= (3, 13):  # whose tracebacks show lines of such a program
        linecache.cache["<string>"] = (len(what), None, what.splitlines(keepends=True), "<string>")
    try:
        exec(compile(what, "<string>", "exec"), main.__dict__)  # noqa: S102  # it is `python -c`
    except Exception as error:  # noqa: BLE001  # reported as Python does, without this file
        trace = error.__traceback__
        trace = None if trace is None else trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(1)


def _open_streams() -> None:
    """Open the standard streams again: those of the server know of its files, which may seek."""
    for name, mode, buffering in (("stdin", "r", -1), ("stdout", "w", -1), ("stderr", "w", 1)):
        old = getattr(sys, name)
        at, how = old.fileno(), (mode, buffering, old.encoding, old.errors)
        new = open(at, *how, closefd=False)  # noqa: SIM115  # it stays open
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _keep(modules: dict[str, types.ModuleType]) -> None:
    """Have Python not take modules apart when it ends.

    That would copy every page that a fork has in common with the server, and take longer than all
    else that most programs do. What a program itself has made and imported is taken apart as ever.
    """
    for name, module in modules.items():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(module))
        sys.modules.pop(name, None)


def main() -> None:
    """Serve until the other end of the socket is closed."""
    modules: dict[str, types.ModuleType] = {}
    atexit.register(_keep, modules)  # registered first, called last
    for name in _LOADED:
        importlib.import_module(name)
    sys.modules["pyaclnn.cli"].parser()  # its table is read once
    modules.update(sys.modules)
    del modules["__main__"]
    gc.collect()
    gc.freeze()  # pages that no collection touches stay common
    request = _serve(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        _run(**request)


if __name__ == "__main__":
    main()
