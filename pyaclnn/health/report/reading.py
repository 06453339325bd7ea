# SPDX-License-Identifier: Apache-2.0
"""Reader of report files, one report at a time: a whole fleet would fill the memory."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from msgspec import Struct

from pyaclnn.health.report.layout import read
from pyaclnn.health.report.record import Exit

if TYPE_CHECKING:
    from io import BufferedReader

    from pyaclnn.health.report.compact import Reports

__all__ = ["FLEET", "read_reports"]

FLEET: Final = "fleet"
"""The ``kind`` of a fleet report."""

_LARGEST: Final = 64 << 20
_LARGEST_FLEET: Final = 1 << 30
_FLEET_BEGINS: Final = re.compile(rb'\s*\{[^{}\[\]]{0,200}"kind"\s*:\s*"fleet"')
_SPACE: Final = re.compile(r"[ \t\n\r]*")


def read_reports(path: str, reports: Reports) -> None:
    """Read the reports in a file that ``--json`` wrote, of one machine or of a fleet.

    Args:
        path: The file.
        reports: The store to which they are added.

    Raises:
        ValueError: It cannot be read, or holds no report; the message names the file.
    """
    try:
        with Path(path).open("rb") as file:
            data = _content(file)
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise ValueError(f"'{path}' is not a report of pyaclnn doctor: {error}.") from None
    try:
        text = data.decode(json.detect_encoding(data), "surrogatepass")
        del data
        _read(text, reports)
    except RecursionError:
        raise ValueError(f"'{path}' is not a report of pyaclnn doctor: too deep.") from None
    except ValueError as error:
        raise ValueError(f"'{path}' is not a report of pyaclnn doctor: {error}.") from None


def _content(file: BufferedReader) -> bytes:
    data = file.read(_LARGEST + 1)
    if len(data) <= _LARGEST:
        return data
    largest = _LARGEST
    if _FLEET_BEGINS.match(data):
        data += file.read(_LARGEST_FLEET - len(data) + 1)
        largest = _LARGEST_FLEET
    if len(data) > largest:
        raise ValueError(f"it is larger than {largest >> 20} MiB")
    return data


def _read(text: str, reports: Reports) -> None:
    """Read the reports in a text; the rest of a fleet follows from them, but must be valid."""
    other: dict[str, Any] = {}
    several = False
    place, closed = _after(text, 0, "{")
    while closed != "}":
        key, place = _value(text, place)
        if not isinstance(key, str):
            raise ValueError("a key is no text")  # noqa: TRY004  # as all that is no report
        place, _ = _after(text, place, ":")
        if key == "reports":
            several = True
            place, closed = _after(text, place, "[")
            while closed != "]":
                begin = place
                data, place = _value(text, place)
                reports.read(data, text[begin:place])
                del data
                place, closed = _after(text, place, ",]")
        else:
            other[key], place = _value(text, place)
        place, closed = _after(text, place, ",}")
    if place != len(text):
        raise ValueError("something follows it")
    if not several:
        reports.read(other, text)
    elif other.get("kind") != FLEET:
        raise ValueError(f"kind is no {FLEET!r}")
    else:
        read(_Status, {"exit_status": other.get("exit_status")})


def _value(text: str, place: int) -> tuple[Any, int]:
    return _DECODER.raw_decode(text, place)


def _after(text: str, place: int, wanted: str) -> tuple[int, str]:
    """The place behind one of the wanted characters and the space around it, and which it was."""
    place = _SPACE.match(text, place).end()  # type: ignore[union-attr]  # no space fits as well
    if place >= len(text) or text[place] not in wanted:
        raise ValueError(f"there is no {' or '.join(wanted)} at character {place}")
    found = text[place]
    return _SPACE.match(text, place + 1).end(), found  # type: ignore[union-attr]  # likewise


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


class _Status(Struct):
    exit_status: Exit


_DECODER: Final = json.JSONDecoder(parse_constant=_constant)
