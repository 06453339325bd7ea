# SPDX-License-Identifier: Apache-2.0
"""NPUs on the PCIe bus as the kernel sees them: their links, and the errors that it counted.

Sources: Linux: Documentation/ABI/testing/sysfs-bus-pci and sysfs-bus-pci-devices-aer_stats; PCI ID
database: vendor 19e5, and class 12, processing accelerators.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.finding import Finding, found, ok, skip

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.machine import Machine

__all__ = ["npus_on_bus"]

_DEVICES: Final = "/sys/bus/pci/devices"
_VENDOR: Final = "0x19e5"
_ACCELERATOR: Final = "0x12"
_ERRORS: Final = {"fatal": "fatal", "nonfatal": "uncorrected", "correctable": "corrected"}
"""Words for the kinds of errors that the kernel counts since it started."""
_HARMLESS: Final = "corrected"


@dataclass(frozen=True)
class _Link:
    """Speed in GT/s and number of lanes; 0 for what is not known."""

    speed: float
    lanes: int

    @classmethod
    def read(cls, machine: Machine, device: Path, which: str) -> _Link:
        """Read the ``current`` link of a device, or the fastest one, ``max``."""
        speed, lanes = (
            re.match(r"[\d.]+", machine.text(device / f"{which}_link_{name}") or "")
            for name in ("speed", "width")
        )
        return cls(float(speed[0]) if speed else 0.0, int(lanes[0]) if lanes else 0)

    def within(self, other: _Link) -> _Link:
        """Return the fastest link that both ends have."""
        return _Link(
            min(self.speed, other.speed or self.speed), min(self.lanes, other.lanes or self.lanes)
        )

    def __str__(self) -> str:
        return f"{self.lanes} lanes of {self.speed:g} GT/s"


def npus_on_bus(machine: Machine) -> list[Path]:
    """Return the folders of the NPUs in ``/sys``, in the order of their addresses."""
    return sorted(
        vendor.parent
        for vendor in machine.at(_DEVICES).glob("*/vendor")
        if (machine.text(vendor) or "").strip() == _VENDOR
        and (machine.text(vendor.with_name("class")) or "").startswith(_ACCELERATOR)
    )


def _linked(context: CheckContext) -> Finding:
    machine, devices = context.machine, npus_on_bus(context.machine)
    if not devices:
        return skip("the PCIe bus has no NPU, or the kernel does not show it here")
    links = {}
    for device in devices:
        slot = _Link.read(machine, device.resolve().parent, "max")  # of the port above it
        best = _Link.read(machine, device, "max").within(slot)
        links[device] = (_Link.read(machine, device, "current"), best, _errors(machine, device))
    seen = [
        context.seen(
            device,
            f"{now}, of {best}; "
            + (", ".join(f"{n} {kind}" for kind, n in errors.items()) or "no")
            + " errors",
        )
        for device, (now, best, errors) in links.items()
    ]
    for device, (now, best, errors) in links.items():
        for kind, count in errors.items():
            if count and kind != _HARMLESS:
                return found("HW-008.errors", *seen, name=device.name, count=count, kind=kind)
        if 0 < now.lanes < best.lanes or 0 < now.speed < best.speed:
            return found("HW-008.slow", *seen, name=device.name, now=now, best=best)
    return ok(f"the links of {len(devices)} NPUs are as wide and fast as both ends allow", *seen)


def _errors(machine: Machine, device: Path) -> dict[str, int]:
    """Return the number of errors of each kind that the kernel counts."""
    texts = {kind: machine.text(device / f"aer_dev_{name}") for name, kind in _ERRORS.items()}
    totals = {kind: re.search(r"TOTAL_\w+ (\d+)", text or "") for kind, text in texts.items()}
    return {kind: int(total[1]) for kind, total in totals.items() if total}
