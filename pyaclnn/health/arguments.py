# SPDX-License-Identifier: Apache-2.0
"""Command lines of the wing, from the table ``commands.toml``.

The commands themselves are imported when they run: commands in makefiles must not wait for them.
"""

from __future__ import annotations

import argparse
import functools
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.command_table import CommandTable
from pyaclnn.base.toml import read_toml

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.base.command_table import Commands

__all__ = ["add_to"]

_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}


def add_to(commands: Commands, *names: str) -> None:
    """Add commands; each sets ``action``, which takes the parsed options and returns the status.

    Args:
        commands: The sub-commands of ``pyaclnn``.
        names: The commands.
    """
    _table().add_to(commands, *names)


@functools.cache
def _table() -> CommandTable:
    table = read_toml(Path(__file__).with_name("commands.toml"))
    return CommandTable(table, lambda action: functools.partial(_run, action), _TYPES)


def _run(action: str, options: argparse.Namespace) -> int:
    module, _, function = action.partition(":")
    return int(getattr(import_module(f"{__package__}.{module}"), function)(options))


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _devices(text: str) -> tuple[int, ...] | None:
    if text == "all":
        return None
    try:
        devices = tuple(int(part) for part in text.split(","))
    except ValueError:
        devices = (-1,)
    if min(devices) < 0 or len(set(devices)) != len(devices):
        hint = _pytorch_hint(text)
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'all' nor ids like 0 or 0,1{hint}")
    return devices


def _device(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no device id like 0{_pytorch_hint(text)}")
    return int(text)


def _pytorch_hint(text: str) -> str:
    ids = text.replace("npu:", "")
    return f"; PyTorch's {text} is {ids}" if ids != text and ids.isdecimal() else ""


def _seconds(text: str) -> float:
    amount, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    try:
        seconds = float(amount) * _UNITS[unit]
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds, nor one of minutes or hours such as 30m or 2h"
        )
    return seconds


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share above 0 and up to 1")
    return share


def _whole(text: str, what: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number{what} from {least} to {most}")
    return int(text)


def _npus(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of NPUs")
    return int(text)


_TYPES: Final[dict[str, Callable[[str], Any]]] = {
    "bytes": functools.partial(_whole, what=" of bytes", least=64, most=1 << 32),
    "times": functools.partial(_whole, what="", least=1, most=1_000_000),
    "count": functools.partial(_whole, what="", least=1, most=256),
    "device": _device,
    "devices": _devices,
    "int": int,
    "names": _names,
    "npus": _npus,
    "path": Path,
    "seconds": _seconds,
    "share": _share,
}
"""The types of options, by their names in the table."""
