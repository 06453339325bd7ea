# SPDX-License-Identifier: Apache-2.0
"""Resources of this process, measured independently of the tested code, and leaks of tests."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.runtime.device import Device

__all__ = ["Holdings", "holdings", "mappings_of_devices", "no_leaks", "what_is_left"]

PROCESS = Path("/proc/self")
DESCRIPTORS = "/proc/self/fd"
SMALLEST_DEVICE = 1 << 33
"""Bytes; no other mapping of this process is so long."""


class Holdings(NamedTuple):
    """Everything that a test could leave behind, measured from outside of what it tests."""

    handles: dict[str, int]
    device_bytes: dict[int, int]
    alive: dict[str, int]
    descriptors: dict[str, str]
    processes: frozenset[str]


def holdings() -> Holdings:
    """Measure what this process holds."""
    descriptors, processes = _descriptors(), _processes()
    if not _backend_is_loaded():
        return Holdings({}, {}, {}, descriptors, processes)
    from pyaclnn.runtime.handle import live_handles  # noqa: PLC0415  # some rooms test without it

    used = {}
    for device in _open_devices():
        free, total = device.memory_info()
        used[device.id] = total - free
    return Holdings(live_handles(), used, _alive(), descriptors, processes)


def _alive() -> dict[str, int]:
    """Count, by kind, what the simulated NPU has handed out and not got back."""
    from pyaclnn.cann.library import backend  # noqa: PLC0415  # some rooms test without it

    if backend().name != "mock":
        return {}
    tell: Any = ctypes.CDLL(str(backend().files["runtime"][0])).pyaclnn_mock_alive
    tell.restype = ctypes.c_size_t
    length = tell(None, ctypes.c_size_t(0))
    text = ctypes.create_string_buffer(length + 1)
    tell(text, ctypes.c_size_t(length + 1))
    return dict(Counter(line.split()[0] for line in text.value.decode().splitlines()))


def _descriptors() -> dict[str, str]:
    found = {}
    for number in os.listdir(DESCRIPTORS):  # noqa: PTH208  # twice a test: paths would take longer
        # One of them is that of the folder being listed, and closed by now.
        with contextlib.suppress(OSError):
            found[number] = os.readlink(f"{DESCRIPTORS}/{number}")  # noqa: PTH115  # likewise
    return found


def _processes() -> frozenset[str]:
    lists = (PROCESS / "task").glob("*/children")
    return frozenset(child for path in lists for child in path.read_text().split())


def _backend_is_loaded() -> bool:
    library = sys.modules.get("pyaclnn.cann.library")
    return library is not None and library._loaded is not None


def _open_devices() -> list[Device]:
    module = sys.modules.get("pyaclnn.runtime.device")
    known = [] if module is None else list(module._by_context.values())
    return [device for device in known if not device.closed]


def _settle() -> None:
    """Bring default streams, which live as long as their device, to rest."""
    if not _backend_is_loaded():
        return
    from pyaclnn.runtime.stream import Stream  # noqa: PLC0415  # some rooms test without it

    for device in _open_devices():
        default = Stream.default(device)
        default.synchronize()
        default.pool.trim()
        default.workspace.trim()


@contextlib.contextmanager
def no_leaks() -> Iterator[None]:
    """Fail if what runs inside leaves anything behind."""
    _settle()
    before = holdings()
    yield
    _settle()
    after = holdings()
    if after != before:
        gc.collect()
        _settle()
        after = holdings()
    pairs = zip(Holdings._fields, before, after, strict=True)
    changed = [f"{name}: before {old}, after {new}" for name, old, new in pairs if old != new]
    assert not changed, "left behind: " + "; ".join(changed)


def what_is_left(before: Holdings, mapped: list[str]) -> dict[str, object]:
    """Give the default device back, and tell what the process still holds beyond ``before``."""
    _settle()
    for device in _open_devices():
        device.close()
    gc.unfreeze()
    gc.collect()
    after = holdings()
    left: dict[str, object] = {
        "handles": after.handles,
        "alive": after.alive,
        # By number: where a run is stopped early, pytest has taken its own outputs back by now.
        "descriptors": [
            f"{number}: {target}"
            for number, target in after.descriptors.items()
            if number not in before.descriptors
        ],
        "processes": sorted(after.processes - before.processes),
        "mappings of device memory": sorted(set(mappings_of_devices()) - set(mapped)),
    }
    return {what: value for what, value in left.items() if value}


def mappings_of_devices() -> list[str]:
    """List the mappings of device memory, and the address ranges reserved for it."""
    found = []
    for line in (PROCESS / "maps").read_text().splitlines():
        start, end = (int(address, 16) for address in line.split()[0].split("-"))
        if "pyaclnn-device" in line or end - start >= SMALLEST_DEVICE:
            found.append(line)
    return found
