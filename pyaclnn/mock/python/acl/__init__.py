# SPDX-License-Identifier: Apache-2.0
"""A stand-in for ``acl``, CANN's own Python module, on the simulated NPU.

Functions that are not written here follow from their C declarations.

``pyaclnn mock run --acl`` and the ``set_env.sh`` of ``pyaclnn mock home`` put it on the path. As in
CANN every function ends with the status it got, handles and addresses are integers, and what the
module does not have is an `AttributeError`.

Source: CANN: pyACL API (the functions' results and their order).
"""

from __future__ import annotations

import ctypes
from typing import Any

from . import rt
from .library import ask, call, library
from .listed import Area, listed

__all__ = [
    "app_log",
    "data_type_size",
    "finalize",
    "get_device_capability",
    "get_recent_err_msg",
    "get_soc_name",
    "get_version",
    "init",
    "mdl",
    "op",
    "prof",
    "rt",
]

mdl, op, prof = Area("mdl"), Area("op"), Area("prof")


def __getattr__(name: str) -> Any:
    return listed("", name)


def init(config_path: str | None = None) -> int:
    """Start the process's use of CANN (``aclInit``).

    Args:
        config_path: A JSON file, or None for defaults.

    Returns:
        The status.
    """
    return call("aclInit", None if config_path is None else config_path.encode())


def finalize() -> int:
    """End the process's use of CANN (``aclFinalize``); the status."""
    return call("aclFinalize")


def get_version() -> tuple[int, int, int, int]:
    """Major, minor and patch version of the interface, and the status (``aclrtGetVersion``)."""
    parts = [ctypes.c_int32() for _ in range(3)]
    status = call("aclrtGetVersion", *map(ctypes.byref, parts))
    major, minor, patch = (part.value for part in parts)
    return major, minor, patch, status


def get_recent_err_msg() -> str:
    """Return and clear the thread's last error text (``aclGetRecentErrMsg``); empty without one."""
    function = library().aclGetRecentErrMsg
    function.restype = ctypes.c_char_p
    text = function()
    return "" if text is None else text.decode(errors="replace")


def get_soc_name() -> str | None:
    """Return the chip's name (``aclrtGetSocName``)."""
    function = library().aclrtGetSocName
    function.restype = ctypes.c_char_p
    name = function()
    return None if name is None else name.decode()


def app_log(level: int, message: str) -> None:
    """Write a line of the program into CANN's log (``aclAppLog``).

    Args:
        level: 0 debug, 1 info, 2 warning, 3 error.
        message: The line.
    """
    library().aclAppLog(level, b"", b"", 0, b"%s", message.encode())


def data_type_size(data_type: int) -> int:
    """Bytes of an element (``aclDataTypeSize``).

    Args:
        data_type: The number of an ``aclDataType``.
    """
    function = library().aclDataTypeSize
    function.restype = ctypes.c_size_t
    return int(function(data_type))


def get_device_capability(device_id: int, info: int) -> tuple[int, int]:
    """Return an attribute of a device, and the status (``aclGetDeviceCapability``).

    Args:
        device_id: Number of the device.
        info: The number of an ``aclDeviceInfo``: 0 AI cores, 1 vector cores, 2 bytes of cache.
    """
    return ask("aclGetDeviceCapability", ctypes.c_int64, device_id, info)
