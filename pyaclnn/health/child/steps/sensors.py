# SPDX-License-Identifier: Apache-2.0
"""Sensors of a device, read by the driver's own tool npu-smi: heat, memory errors, frequency.

npu-smi prints lines of a name, a colon and a value; the names differ between drivers. A missing
value is reported as not read. The driver's library behind it, libdcmi, is not called: no source at
hand has the types of its functions.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.checks.npu_smi import TOOL, ask, find_tool, place_of
from pyaclnn.health.report.record import Better, Figure, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.health.child.session import Session

__all__ = ["SensorWatch", "read_sensors"]

_HOT: Final = 95.0
"""Degrees Celsius."""


@dataclass(frozen=True)
class _Sensor:
    """A value in a line of a page of ``npu-smi info -t``."""

    page: str
    line: re.Pattern[str]
    name: str
    unit: Unit
    better: Better


def _sensor(page: str, line: str, name: str, unit: Unit, better: Better) -> _Sensor:
    return _Sensor(
        page,
        re.compile(rf"^\s*{line}\s*:\s*(-?[\d.]+)\s*$", re.IGNORECASE | re.MULTILINE),
        name,
        unit,
        better,
    )


_SENSORS: Final = (
    _sensor("common", r"(?:NPU )?Temperature ?\(C\)", "temperature", "°C", "less"),
    _sensor("common", r"Aicore cur ?Freq ?\(MHZ\)", "core_frequency", "MHz", "more"),
    _sensor("ecc", r"(?:HBM|DDR) Single Bit Error Count", "ecc_single_bit_errors", "count", "less"),
    _sensor("ecc", r"(?:HBM|DDR) Double Bit Error Count", "ecc_double_bit_errors", "count", "less"),
)


@dataclass(frozen=True)
class Reading:
    """Values of the sensors of a device.

    Attributes:
        figures: The values.
        missing: A text for each missing value, with the reason.
    """

    figures: tuple[Figure, ...]
    missing: tuple[str, ...]


def read_sensors(device: int, environment: Mapping[str, str]) -> Reading:
    """Read the sensors of a device with npu-smi.

    Args:
        device: The device, as the process numbers it.
        environment: The environment, with PATH and ASCEND_RT_VISIBLE_DEVICES.
    """
    tool, place = find_tool(environment), place_of(device, environment)
    if tool is None or place.card is None:
        return Reading((), tuple(f"{sensor.name}: {place.reason}" for sensor in _SENSORS))
    pages = {
        page: ask(tool, environment, "-t", page, "-i", str(place.card), "-c", str(place.chip))
        for page in dict.fromkeys(sensor.page for sensor in _SENSORS)
    }
    figures, missing = [], []
    for sensor in _SENSORS:
        said, failed = pages[sensor.page]
        values = [float(text) for text in sensor.line.findall(said)]
        if values:
            # Errors of all memories of a chip count.
            one = sum(values) if sensor.unit == "count" else max(values)
            figures.append(Figure(sensor.name, one, sensor.unit, sensor.better))
        else:
            why = failed or f"{TOOL} info -t {sensor.page} does not report it"
            missing.append(f"{sensor.name}: {why}")
    return Reading(tuple(figures), tuple(missing))


class SensorWatch:
    """Repeated readings of a device: the worst values, and the number of new errors.

    Args:
        device: The device, as the process numbers it.
        environment: As for `read_sensors`.
        pause: Seconds between two readings.
    """

    def __init__(self, device: int, environment: Mapping[str, str], pause: float = 10.0) -> None:
        self._device = device
        self._environment = environment
        self._pause = pause
        self._last = -math.inf
        self._first: dict[str, Figure] = {}
        self._worst: dict[str, Figure] = {}

    def look(self) -> None:
        """Read the sensors, unless the last reading is recent."""
        if time.monotonic() - self._last < self._pause:
            return
        for figure in read_sensors(self._device, self._environment).figures:
            first = self._first.setdefault(figure.name, figure)
            value = figure.value - (first.value if figure.unit == "count" else 0.0)
            known = self._worst.get(figure.name)
            worse = min if figure.better == "more" else max
            worst = value if known is None else worse(value, known.value)
            self._worst[figure.name] = replace(figure, value=worst)
        self._last = time.monotonic()

    def figures(self, prefix: str) -> tuple[Figure, ...]:
        """Return the worst values.

        Args:
            prefix: The beginning of the names.
        """
        return tuple(replace(f, name=f"{prefix}_{f.name}") for f in self._worst.values())


def _sensors(session: Session) -> Finding:
    reading = read_sensors(session.device_id, os.environ)
    notes = tuple(value("not read", text) for text in reading.missing)
    if not reading.figures:
        return dataclasses.replace(skip(f"not read: {reading.missing[0]}"), evidence=notes)
    values = {figure.name: figure.value for figure in reading.figures}
    finding = ok("; ".join(map(str, reading.figures)))
    double, single = values.get("ecc_double_bit_errors"), values.get("ecc_single_bit_errors")
    if double:
        finding = found("FIG-106.uncorrected", count=double)
    elif single:
        finding = found("FIG-106.corrected", count=single)
    elif values.get("temperature", 0.0) > _HOT:
        finding = found("FIG-106.hot", degrees=values["temperature"])
    return dataclasses.replace(finding, evidence=notes, figures=reading.figures)
