# SPDX-License-Identifier: Apache-2.0
"""Functions of pyACL by name, with those whose name, arguments or results are not C's."""

from __future__ import annotations

import ctypes
import itertools
from typing import TYPE_CHECKING, Any, Final

from .declared import declared, library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["function"]

_CALLBACK: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_numbers = itertools.count(1)
_waiting: dict[int, Any] = {}
"""Callbacks that have not been called yet, which C knows by address only."""


def _init(config_path: str | None = None) -> int:
    status: int = declared("", "init")(config_path or None)
    return status


def _app_log(level: int, message: str) -> None:
    library().aclAppLog(level, b"", b"", 0, b"%s", message.encode())


def _add_dataset_buffer(dataset: int, buffer: int) -> tuple[int, int]:
    return dataset, declared("mdl", "add_dataset_buffer")(dataset, buffer)


def _launch_callback(
    callback: Callable[[Any], object], user_data: Any, block_type: int, stream: int
) -> int:
    number = next(_numbers)

    def run(_: int | None) -> None:
        try:
            callback(user_data)
        finally:
            del _waiting[number]

    _waiting[number] = _CALLBACK(run)
    address = ctypes.cast(_waiting[number], ctypes.c_void_p).value
    status: int = declared("rt", "launch_callback")(address, None, block_type, stream)
    if status:
        del _waiting[number]
    return status


_IRREGULAR: Final[Mapping[str, Callable[..., Any]]] = {
    "init": _init,
    "app_log": _app_log,
    "mdl.add_dataset_buffer": _add_dataset_buffer,
    "rt.launch_callback": _launch_callback,
}

_OTHER_NAMES: Final = {
    "get_soc_name": ("rt", "get_soc_name"),
    "get_version": ("rt", "get_version"),
    "op.execute_with_handle": ("op", "exec_with_handle"),
    "rt.get_context": ("rt", "get_current_context"),
    "rt.set_context": ("rt", "set_current_context"),
}
"""Functions whose name is not C's."""


def function(area: str, name: str) -> Callable[..., Any]:
    """Return a function of an area of pyACL.

    Args:
        area: The area, e.g. ``mdl``; empty for functions of ``acl`` itself.
        name: Its name in Python's spelling.

    Raises:
        AttributeError: pyACL has no such function, as far as CANN's declarations show.
    """
    path = f"{area}.{name}" if area else name
    return _IRREGULAR.get(path) or declared(*_OTHER_NAMES.get(path, (area, name)))
