# SPDX-License-Identifier: Apache-2.0
"""The C functions of the simulated NPU, and the few steps every test of them begins with.

Also the first line of the programs that tests run in a process of their own, so it stands alone.
"""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyaclnn import _binding
from pyaclnn.cann.signatures import signature, signatures
from pyaclnn.mock import libdir

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "DEVICE_TO_HOST",
    "HOST_TO_DEVICE",
    "NULL",
    "RmsNormGrad",
    "call",
    "children",
    "device_memory",
    "event",
    "ffi",
    "has_ended",
    "held",
    "in_thread",
    "lib",
    "load",
    "message",
    "new_rows",
    "pinned",
    "read",
    "stream",
    "tensor",
    "value",
    "wait_until",
    "write",
]

ffi: Any = _binding.ffi


class _Functions:
    """The functions of the binding, and those of the operators."""

    operators: Any = None

    def __getattr__(self, name: str) -> Any:
        declared = signature(name) if self.operators and not hasattr(_binding.lib, name) else None
        if declared is None:
            return getattr(_binding.lib, name)
        address = _binding.lib.binding_symbol(self.operators, name.encode())
        setattr(self, name, ffi.cast(declared.c_type, address))
        return vars(self)[name]

    def __dir__(self) -> list[str]:
        return sorted({*dir(_binding.lib), *(signatures() if self.operators else ())})


lib: Any = _Functions()
NULL: Any = ffi.NULL
HOST_TO_DEVICE = 1
DEVICE_TO_HOST = 2

new_rows = itertools.count(10)
"""Numbers of rows that no operator of this process had before."""


def load() -> None:
    """Fill the binding's slots from the mock libraries, whatever backend the package has chosen."""
    libraries = []
    for name in ("ascendcl", "nnopbase", "opapi"):
        library = lib.binding_open(str(libdir() / f"lib{name}.so").encode())
        assert library != NULL, ffi.string(lib.binding_error()).decode()
        libraries.append(library)
    for index in range(lib.binding_function_count):
        symbol = lib.binding_functions[index].name
        any(lib.binding_resolve(symbol, library) == 1 for library in libraries)
    lib.operators = libraries[-1]


def message() -> str:
    """Take the thread's recent error message; empty when there is none."""
    text = lib.aclGetRecentErrMsg()
    return "" if text == NULL else ffi.string(text).decode()


def call(name: str, *arguments: Any) -> None:
    """Call a function that must succeed."""
    status = getattr(lib, name)(*arguments)
    assert status == 0, f"{name} answered {status}: {message()}"


def value(name: str, ctype: str, *arguments: Any) -> Any:
    """Call a function that must succeed and whose first parameter is where the result goes."""
    result = ffi.new(f"{ctype} *")
    call(name, result, *arguments)
    return result[0]


def stream() -> Any:
    return value("aclrtCreateStream", "aclrtStream")


def event(flag: int | None = None, constructor: str = "aclrtCreateEventExWithFlag") -> Any:
    """Make an event; without a flag by the plain constructor."""
    if flag is None:
        made = value("aclrtCreateEvent", "aclrtEvent")
    else:
        made = value(constructor, "aclrtEvent", flag)
    events_made.append(made)
    return made


events_made: list[Any] = []
"""Events that :func:`event` created in the current test; they are destroyed after it."""
memory_to_free: list[Any] = []
"""Device memory that is freed with the context of the test."""


def device_memory(size: int) -> Any:
    return value("aclrtMalloc", "void *", size, 0)


def pinned(size: int) -> Any:
    """Allocate pinned host memory; a character pointer to it."""
    return ffi.cast("unsigned char *", value("aclrtMallocHost", "void *", size))


def write(address: Any, content: bytes) -> None:
    """Copy bytes to the device and wait."""
    call("aclrtMemcpy", address, len(content), content, len(content), HOST_TO_DEVICE)


def read(address: Any, size: int) -> bytes:
    """Copy bytes from the device and wait; queued work is not waited for."""
    content = ffi.new("unsigned char[]", size)
    call("aclrtMemcpy", content, size, address, size, DEVICE_TO_HOST)
    return bytes(ffi.buffer(content, size))


def tensor(dims: Sequence[int], address: Any, dtype: int = 0) -> Any:
    """Make a contiguous aclTensor, of float32 unless said otherwise."""
    made = lib.aclCreateTensor(
        list(dims), len(dims), dtype, NULL, 0, lib.ACL_FORMAT_ND, list(dims), len(dims), address
    )
    assert made != NULL, message()
    return made


def in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in a thread of its own and give its result."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join(300)
    assert len(results) == 1, "the thread failed or did not end"
    return results[0]


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until a condition holds; whether it did in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def children() -> list[int]:
    """Give the processes that this process has started."""
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text(encoding="ascii").split()]


def has_ended(pid: int) -> bool:
    """Return whether a process has ended; a zombie counts as ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def held() -> tuple[int, int, int]:
    """Count what an open device holds: descriptors, processes, mappings of 1 GiB and more."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    ranges = [[int(end, 16) for end in line.split()[0].split("-")] for line in maps]
    large = [1 for start, end in ranges if end - start >= 1 << 30]
    return len(list(Path("/proc/self/fd").iterdir())), len(children()), len(large)


class RmsNormGrad:
    """The arguments of an individual operator over rows of 8 columns, all ones.

    Args:
        broken: dx lies at NULL, which the kernel trips over and phase 1 does not look at.
        rows: Number of rows; a number of its own by default, so that no cache knows it.
    """

    def __init__(self, *, broken: bool = False, rows: int | None = None) -> None:
        rows = next(new_rows) if rows is None else rows
        shapes = ((rows, 8), (rows, 8), (rows,), (8,), (rows, 8), (8,))
        self.bytes = rows * 8 * 4
        self.memory = [device_memory(self.bytes) for _ in shapes]
        ones = b"\x00\x00\x80\x3f"
        for address, shape in zip(self.memory[:4], shapes[:4], strict=True):
            write(address, ones * (shape[0] * (shape[1] if len(shape) > 1 else 1)))
        self.tensors = [
            tensor(shape, address) for shape, address in zip(shapes, self.memory, strict=True)
        ]
        if broken:
            call("aclSetRawTensorAddr", self.tensors[4], NULL)
        self.workspace = NULL
        self.size = 0

    @property
    def dx(self) -> bytes:
        """The first bytes of dx as they are now."""
        return read(self.memory[4], 64)

    def check(self) -> Any:
        """Run phase 1, and allocate the workspace; the executor."""
        size = ffi.new("uint64_t *")
        executor = ffi.new("aclOpExecutor **")
        call("aclnnRmsNormGradGetWorkspaceSize", *self.tensors, size, executor)
        if size[0] > self.size:
            memory_to_free.append(self.workspace)
            self.workspace = device_memory(size[0])
        self.size = size[0]
        return executor[0]

    def run(self, executor: Any, on: Any = NULL) -> int:
        """Run phase 2 and give its status."""
        status: int = lib.aclnnRmsNormGrad(self.workspace, self.size, executor, on)
        return status

    def launch(self, on: Any = NULL) -> None:
        """Run both phases."""
        assert self.run(self.check(), on) == 0, message()

    def close(self) -> None:
        for made in self.tensors:
            call("aclDestroyTensor", made)
        for address in self.memory:
            call("aclrtFree", address)
        if self.workspace != NULL:
            call("aclrtFree", self.workspace)
