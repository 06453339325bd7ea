# SPDX-License-Identifier: Apache-2.0
"""The child's step that reads what the driver tells of a device."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.finding import Finding, fail, ok, skip, value, warn
from pyaclnn.health.child.sensors import read_sensors

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.health.child.session import Session

__all__ = ["STEPS"]

_HOT: Final = 95.0
"""Degrees Celsius."""


def _sensors(session: Session) -> Finding:
    if session.request["simulated"]:
        return skip("not read: a simulated NPU has no sensors")
    reading = read_sensors(session.request["device"], os.environ)
    notes = tuple(value("not read", text) for text in reading.missing)
    if not reading.figures:
        return replace(skip(f"not read: {reading.missing[0]}"), evidence=notes)
    values = {figure.name: figure.value for figure in reading.figures}
    found = ok("; ".join(map(str, reading.figures)))
    if values.get("ecc_double_bit_errors"):
        found = fail(
            f"memory has {values['ecc_double_bit_errors']:.0f} errors that could not be corrected",
            causes=("a cell of the memory is damaged",),
            next_step="npu-smi info -t ecc -i 0; reset the device; replace it if they come back",
        )
    elif values.get("ecc_single_bit_errors"):
        found = warn(
            f"memory has had {values['ecc_single_bit_errors']:.0f} errors, all corrected",
            causes=("a cell of the memory is weak",),
            next_step="npu-smi info -t ecc -i 0; look whether the number grows",
        )
    elif values.get("temperature", 0.0) > _HOT:
        found = warn(
            f"the device is hot: {values['temperature']:.0f} °C",
            causes=("its cooling does not work", "it works at full load for long"),
            next_step="npu-smi info -t temp -i 0; look after fans and air",
        )
    return replace(found, evidence=(*found.evidence, *notes), figures=reading.figures)


STEPS: Final[dict[str, Callable[[Session], Finding | None]]] = {"FIG-106": _sensors}
"""The function of each check."""
