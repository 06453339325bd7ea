# SPDX-License-Identifier: Apache-2.0
"""``acl.rt``: devices, contexts, streams, memory and copies."""

from __future__ import annotations

import ctypes
from typing import Any

from .library import ask, call
from .listed import listed

__all__ = [
    "create_context",
    "create_stream",
    "destroy_context",
    "destroy_stream",
    "free",
    "free_host",
    "get_device",
    "get_device_count",
    "get_mem_info",
    "get_run_mode",
    "malloc",
    "malloc_host",
    "memcpy",
    "memcpy_async",
    "memset",
    "reset_device",
    "reset_device_force",
    "set_context",
    "set_device",
    "synchronize_device",
    "synchronize_stream",
]


def __getattr__(name: str) -> Any:
    return listed("rt", name)


def get_device_count() -> tuple[int, int]:
    """Return the number of devices, and the status (``aclrtGetDeviceCount``)."""
    return ask("aclrtGetDeviceCount", ctypes.c_uint32)


def set_device(device_id: int) -> int:
    """Use a device (``aclrtSetDevice``); the status."""
    return call("aclrtSetDevice", device_id)


def get_device() -> tuple[int, int]:
    """Return the thread's device, and the status (``aclrtGetDevice``)."""
    return ask("aclrtGetDevice", ctypes.c_int32)


def reset_device(device_id: int) -> int:
    """Take one `set_device` back (``aclrtResetDevice``); the status."""
    return call("aclrtResetDevice", device_id)


def reset_device_force(device_id: int) -> int:
    """Take every `set_device` back (``aclrtResetDeviceForce``); the status."""
    return call("aclrtResetDeviceForce", device_id)


def synchronize_device() -> int:
    """Wait for the thread's device (``aclrtSynchronizeDevice``); the status."""
    return call("aclrtSynchronizeDevice")


def get_run_mode() -> tuple[int, int]:
    """Where the program runs, 1 for the host, and the status (``aclrtGetRunMode``)."""
    return ask("aclrtGetRunMode", ctypes.c_int)


def create_context(device_id: int) -> tuple[int, int]:
    """Create a current context; return it and the status (``aclrtCreateContext``)."""
    return ask("aclrtCreateContext", ctypes.c_void_p, device_id, first=True)


def set_context(context: int) -> int:
    """Make a context the thread's (``aclrtSetCurrentContext``); the status."""
    return call("aclrtSetCurrentContext", context)


def destroy_context(context: int) -> int:
    """Destroy a context (``aclrtDestroyContext``); the status."""
    return call("aclrtDestroyContext", context)


def create_stream() -> tuple[int, int]:
    """Create a stream; return it and the status (``aclrtCreateStream``)."""
    return ask("aclrtCreateStream", ctypes.c_void_p)


def destroy_stream(stream: int) -> int:
    """Destroy a stream (``aclrtDestroyStream``); the status."""
    return call("aclrtDestroyStream", stream)


def synchronize_stream(stream: int) -> int:
    """Wait for a stream, 0 being the default one (``aclrtSynchronizeStream``); the status."""
    return call("aclrtSynchronizeStream", stream)


def malloc(size: int, policy: int) -> tuple[int, int]:
    """Allocate device memory; return its address and the status (``aclrtMalloc``)."""
    return ask("aclrtMalloc", ctypes.c_void_p, size, policy, first=True)


def free(device_ptr: int) -> int:
    """Free device memory (``aclrtFree``); the status."""
    return call("aclrtFree", device_ptr)


def malloc_host(size: int) -> tuple[int, int]:
    """Allocate pinned memory; return the address and the status (``aclrtMallocHost``)."""
    return ask("aclrtMallocHost", ctypes.c_void_p, size, first=True)


def free_host(host_ptr: int) -> int:
    """Free pinned memory (``aclrtFreeHost``); the status."""
    return call("aclrtFreeHost", host_ptr)


def get_mem_info(attr: int) -> tuple[int, int, int]:
    """Free and total bytes of a kind of memory, and the status (``aclrtGetMemInfo``)."""
    free_bytes, total = ctypes.c_size_t(), ctypes.c_size_t()
    status = call("aclrtGetMemInfo", attr, ctypes.byref(free_bytes), ctypes.byref(total))
    return free_bytes.value, total.value, status


def memset(device_ptr: int, most: int, value: int, count: int) -> int:
    """Fill memory that has room for ``most`` bytes (``aclrtMemset``); the status."""
    return call("aclrtMemset", device_ptr, most, value, count)


def memcpy(destination: int, most: int, source: int, count: int, direction: int) -> int:
    """Copy ``count`` bytes to where there is room for ``most`` (``aclrtMemcpy``); the status."""
    return call("aclrtMemcpy", destination, most, source, count, direction)


def memcpy_async(
    destination: int, most: int, source: int, count: int, direction: int, stream: int
) -> int:
    """Copy in the order of a stream (``aclrtMemcpyAsync``); return the status."""
    return call("aclrtMemcpyAsync", destination, most, source, count, direction, stream)
