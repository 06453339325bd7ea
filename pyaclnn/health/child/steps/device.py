# SPDX-License-Identifier: Apache-2.0
"""Steps without operators: load CANN, initialise it, open the device, and use it."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.elf import fault_of_library
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, cleanup, fetch, text
from pyaclnn.health.checks.finding import Finding, found, ok, value
from pyaclnn.health.child.failures import explained
from pyaclnn.health.report.record import Evidence
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.event import Event
from pyaclnn.runtime.initialization import ensure_runtime, owns_runtime
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pyaclnn.health.child.session import Session

__all__ = []

_SIZES: Final = (1, 31, 32, 33, 4096, 65537, 1 << 20, (16 << 20) + 5)
_MOST_DEVICES: Final = 1024
"""More than any machine has: a larger count is no count."""
_LITTLE: Final = 256 << 20
"""Free bytes with which a device opens, but hardly any program runs."""
_GUARD: Final = 64
_GUARD_BYTE: Final = 0xA5
_BLOCKS: Final = 4
_SEED: Final = 20240521
_CALLBACK_TIMEOUT_MS: Final = 200
_CALLBACK_PATIENCE: Final = 2.0


def _loads(session: Session) -> Finding:
    info = session.load()
    refusals = {path: _refusal(path) for path in info.files["operators"]}
    broken = [Evidence("path", str(path), text) for path, text in refusals.items() if text]
    if broken:
        name = Path(broken[0].label).name
        reason = broken[0].text
        # Of a library for another processor the loader says that it is not there.
        damage = fault_of_library(Path(broken[0].label))
        if damage:
            return found("DEV-101.damaged", *broken, name=name, reason=damage)
        return explained(found("DEV-101.broken", *broken, name=name, reason=reason), reason)
    files = [Evidence("path", group, str(paths[0])) for group, paths in info.files.items()]
    return ok(f"loaded from {info.directory}", *files)


def _refusal(path: Path) -> str | None:
    """Load a library that would otherwise be loaded when its first function is called."""
    try:
        ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    except OSError as error:
        return str(error).removeprefix(f"{path}: ")
    return None


def _initialises(session: Session) -> Finding:
    session.load()
    ensure_runtime()
    if not owns_runtime():
        code = raw.ACL_ERROR_REPEAT_INITIALIZE
        return found("DEV-102.not_first", Evidence("function", "aclInit", f"returned {code}"))
    soc_name = text("aclrtGetSocName")
    session.facts["soc_name"] = soc_name
    if not soc_name:
        return found("DEV-102.no_chip", Evidence("function", "aclrtGetSocName", "returned NULL"))
    return ok(f"aclInit succeeds; the chip is {soc_name}", value("aclrtGetSocName", soc_name))


def _counts(session: Session) -> Finding:
    session.load()
    ensure_runtime()
    count = int(fetch("aclrtGetDeviceCount", OUT))
    expected = session.task.expected_devices
    seen = (value("aclrtGetDeviceCount", count), value("expected", expected))
    if count > _MOST_DEVICES:
        session.facts["devices"] = 1
        return found("DEV-103.absurd", *seen, count=count)
    session.facts["devices"] = count
    if count == 0:
        return found("DEV-103.none", *seen)
    if expected is not None and count < expected:
        return found("DEV-103.fewer", *seen, count=count, expected=expected)
    return ok(f"{count} device{'s' * (count != 1)} can be used", *seen)


def _opens(session: Session) -> Finding:
    begun = time.monotonic()
    device = session.device
    seconds = time.monotonic() - begun
    memory = device.memory_info()
    seen = value("aclrtGetMemInfo", f"free {memory.free}, total {memory.total} bytes")
    if memory.free < _LITTLE:
        free, total = memory.free / 2**20, memory.total / 2**30
        return found("DEV-104.little_memory", seen, total=total, free=free)
    return ok(
        f"device {device.id} opens in {seconds:.1f} s; {memory.free / 2**30:.1f} of "
        f"{memory.total / 2**30:.1f} GiB are free",
        seen,
    )


def _contexts(session: Session) -> Finding:
    device = session.device
    with device._active():
        before = fetch("aclrtGetCurrentContext", OUT)
        created = fetch("aclrtCreateContext", OUT, device.id)
        try:
            current = fetch("aclrtGetCurrentContext", OUT)
            own_device = int(fetch("aclrtGetDevice", OUT))
            call("aclrtSetCurrentContext", before)
            restored = fetch("aclrtGetCurrentContext", OUT)
        finally:
            call("aclrtDestroyContext", created)
            # Destroying may leave the thread without a context; what follows needs one.
            call("aclrtSetCurrentContext", before)
    if current != created or own_device != device.id or restored != before:
        return found(
            "DEV-105.other_context",
            Evidence("function", "aclrtGetCurrentContext", f"{current}, not {created}"),
            Evidence("function", "aclrtGetDevice", f"{own_device}, not {device.id}"),
        )
    return ok("a context can be created, made current and destroyed")


def _streams(session: Session) -> Finding:
    streams = [Stream(session.device) for _ in range(4)]
    try:
        for stream in streams:
            call("aclrtSynchronizeStream", stream.pointer)  # what programs in C call
            stream.synchronize()  # which waits in slices
        done = [stream.is_done() for stream in streams]
    finally:
        for stream in streams:
            stream.close()
    if not all(done):
        seen = Evidence("function", "aclrtStreamQuery", f"done: {done}")
        return found("DEV-106.not_done", seen)
    return ok("four streams at a time can be created, waited for and destroyed")


def _events(session: Session) -> Finding:
    device = session.device
    with Stream(device) as first, Stream(device) as second:
        begin = first.record()
        data = to_device(np.zeros(1 << 16, np.uint8), device)
        data.fill_bytes(1, first)
        end = first.record()
        second.wait(end)
        after = second.record()
        after.synchronize()
        first.synchronize()
        done = [begin.is_done(), end.is_done(), after.is_done()]
        elapsed = begin.elapsed_ms(end)
        for event in (begin, end, after):
            event.close()
    if not all(done) or not elapsed >= 0:
        return found(
            "DEV-108.not_done",
            Evidence("function", "aclrtQueryEventStatus", f"done: {done}"),
            Evidence("function", "aclrtEventElapsedTime", f"{elapsed} ms"),
        )
    Event(device).close()
    return ok(f"events are recorded, waited for across streams, and timed ({elapsed:.3f} ms)")


def _memory(session: Session) -> Finding:
    random = np.random.default_rng(_SEED)
    patterns: tuple[Callable[[int], NDArray[np.uint8]], ...] = (
        lambda size: random.integers(0, 256, size, np.uint8),
        lambda size: np.resize(np.array([0x55, 0xAA], np.uint8), size),
        lambda size: np.zeros(size, np.uint8),
        lambda size: np.full(size, 0xFF, np.uint8),
    )
    alike = _distinct_blocks(session)
    if alike is not None:
        return alike
    for size in _SIZES:
        whole = DeviceArray.empty((size + 2 * _GUARD,), np.uint8, session.device)
        for pattern in patterns if size <= 1 << 20 else patterns[:1]:
            written = pattern(size)
            whole.fill_bytes(_GUARD_BYTE)
            whole[_GUARD : _GUARD + size].copy_from(written)
            expected = np.full(size + 2 * _GUARD, _GUARD_BYTE, np.uint8)
            expected[_GUARD : _GUARD + size] = written
            read = whole.numpy()
            if not np.array_equal(read, expected):
                return _damaged(read, expected, f"{size} bytes at offset {_GUARD}")
        whole.close()
    return ok(
        f"{len(_SIZES)} sizes up to 16 MiB come back as they were written, and nothing beside them "
        "changes"
    )


def _distinct_blocks(session: Session) -> Finding | None:
    """Allocate several blocks that live at once: none must be NULL or overlap another."""
    size, blocks = 4096, list[int]()
    with session.device._active():
        try:
            for _ in range(_BLOCKS):
                block = fetch("aclrtMalloc", OUT, size, raw.ACL_MEM_MALLOC_HUGE_FIRST)
                blocks.append(int(raw.ffi.cast("uintptr_t", block)))
        finally:
            for address in {*blocks} - {0}:
                cleanup("aclrtFree", raw.ffi.cast("void *", address))
    ordered = sorted(blocks)
    overlapping = any(high - low < size for low, high in itertools.pairwise(ordered))
    if 0 not in blocks and not overlapping:
        return None
    block = "NULL" if 0 in blocks else "the same memory twice"
    seen = Evidence("function", "aclrtMalloc", ", ".join(map(hex, blocks)))
    return found("DEV-107.same_block", seen, address=block)


def _damaged(read: NDArray[Any], expected: NDArray[Any], copied: str) -> Finding:
    wrong = np.flatnonzero(read != expected)
    first = int(wrong[0])
    outside = first < _GUARD or first >= read.size - _GUARD
    where = "outside of what was written" if outside else "within what was written"
    difference = f"{read[first]:#04x} instead of {expected[first]:#04x}"
    return found(
        "DEV-107.different",
        value("copied", copied),
        value("first difference", f"byte {first - _GUARD}, {where}: {difference}"),
        wrong=wrong.size,
        size=read.size,
    )


def _copies(session: Session) -> Finding:
    device, size = session.device, 3 << 20
    sent, received = (pinned_empty(size, np.uint8, device) for _ in range(2))
    sent[:] = np.random.default_rng(_SEED).integers(0, 256, size, np.uint8)
    received[:] = 0
    with Stream(device) as stream:
        data = DeviceArray.empty((size,), np.uint8, device)
        data.copy_from(sent, stream)
        data[: size // 2].fill_bytes(0x3C, stream)
        data.copy_to(received, stream)
        stream.synchronize()
        expected = sent.copy()
        expected[: size // 2] = 0x3C
        equal = np.array_equal(received, expected)
        wrong = int(np.count_nonzero(received != expected))
        untouched = int(np.count_nonzero(received == 0))
        data.close()
    if not equal:
        seen = value("bytes still 0, as before the copy", untouched)
        return found("DEV-109.different", seen, wrong=wrong, size=size)
    return ok("copies of pinned memory and fills on a stream are done when the stream is")


def _callbacks(session: Session) -> Finding:
    device = session.device
    seen: list[int] = []
    ffi: Any = raw.ffi
    stop = threading.Event()
    ready = threading.Event()

    @ffi.callback("void(void *)")  # type: ignore[untyped-decorator]  # cffi ships no types
    def note(_: object) -> None:
        seen.append(threading.get_ident())

    def serve() -> None:
        with device._active():
            ready.set()
            while not stop.is_set():
                # Returns a code if nothing came in time, which is no failure here.
                raw.aclrtProcessReport(_CALLBACK_TIMEOUT_MS)

    server = threading.Thread(target=serve, daemon=True)
    with Stream(device) as stream:
        server.start()
        ready.wait()
        try:
            with device._active():
                call("aclrtSubscribeReport", server.ident, stream.pointer)
                call("aclrtLaunchCallback", note, raw.NULL, raw.ACL_CALLBACK_BLOCK, stream.pointer)
                stream.synchronize()
                end = time.monotonic() + _CALLBACK_PATIENCE
                while not seen and time.monotonic() < end:
                    time.sleep(0.01)
                cleanup("aclrtUnSubscribeReport", server.ident, stream.pointer)
        finally:
            stop.set()
            server.join(_CALLBACK_PATIENCE)
    if seen != [server.ident]:
        called = value("calls", seen), value("subscribed thread", server.ident)
        return found("DEV-110.not_called", *called)
    return ok("a stream calls back into the subscribed thread")
