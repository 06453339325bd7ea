# SPDX-License-Identifier: Apache-2.0
"""Driver and firmware: installation, kernel modules, and age relative to CANN.

Sources: CANN: driver install.sh and version_info.py for the files; CANN: release notes 8.0 to 8.5
for the pairs of CANN and driver.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.finding import Finding, at_path, found, ok, skip, value
from pyaclnn.health.checks.installation import order_of

if TYPE_CHECKING:
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.machine import Machine

__all__ = ["driver_root"]

_MODULES: Final = re.compile(r"^(?:drv_|ascend_|davinci_|asdrv_)", re.MULTILINE)

_OLDEST_DRIVER: Final = (
    ("8.5", "25.0"),
    ("8.2", "24.1"),
    ("8.0", "24.1.RC1"),
)
"""The oldest driver documented for each CANN, newest first; later ones work with what 8.5 needs."""


def driver_root(machine: Machine) -> Path:
    """Return the folder of the driver, as its own installer noted it down."""
    named = (machine.settings("/etc/ascend_install.info") or {}).get("Driver_Install_Path_Param")
    return machine.at(Path(named or "/usr/local/Ascend") / "driver")


def _version_file(context: CheckContext) -> Path:
    return driver_root(context.machine) / "version.info"


def _installed(context: CheckContext) -> Finding:
    machine, path = context.machine, _version_file(context)
    driver = context.setting(path, "Version")
    if driver is None and machine.text(path) is not None:
        return found("DRV-001.no_version", context.seen(path, "has no line Version=…"))
    if driver is None and (path.parent / "lib64").is_dir():
        absent = context.seen(path, "not there, or not readable")
        return found("DRV-001.version_hidden", absent, path=machine.shown(path))
    if driver is None:
        return found(
            "DRV-001.not_mounted" if machine.in_container else "DRV-001.not_installed",
            context.seen(path, "cannot be read" if path.exists() else "does not exist"),
        )
    firmware_path = path.parent.parent / "firmware" / "version.info"
    firmware = context.setting(firmware_path, "Version")
    evidence = (
        context.seen(path, f"Version={driver}"),
        context.seen(firmware_path, f"Version={firmware}" if firmware else "not there"),
    )
    if firmware and order_of(firmware)[:2] != order_of(driver)[:2] and _same_scheme(firmware):
        return found("DRV-001.different", *evidence, driver=driver, firmware=firmware)
    return ok(f"driver {driver}{f', firmware {firmware}' if firmware else ''}", *evidence)


def _same_scheme(firmware: str) -> bool:
    # Firmware of older releases is numbered 7.x, apart from the driver's 24.x and 25.x.
    return order_of(firmware)[0] >= 20  # noqa: PLR2004  # releases are named by the year


def _loaded(context: CheckContext) -> Finding:
    modules = context.machine.text("/proc/modules")
    if not modules:
        return skip("the kernel does not list its modules here")
    names = [line.split()[0] for line in modules.splitlines() if _MODULES.match(line)]
    if names:
        return ok(f"{len(names)} kernel modules of the driver are loaded", value("modules", names))
    return found("DRV-002.not_loaded", at_path("/proc/modules", "no drv_… module"))


def _fits(context: CheckContext) -> Finding:
    version, path = context.installation.version, _version_file(context)
    driver = context.setting(path, "Version")
    if version is None or driver is None:
        return skip("the version of CANN is not known")
    evidence = (value("CANN", version), context.seen(path, f"Version={driver}"))
    required, has = _interface(context), context.setting(path, "ascendhal_version")
    if required and has and order_of(has) < order_of(required):
        return found("DRV-003.interface", *evidence, has=has, required=required)
    needed = _oldest_for(version)
    if needed and order_of(driver) < order_of(needed):
        oldest = value("oldest documented driver", needed)
        return found(
            "DRV-003.old", *evidence, oldest, driver=driver, version=version, needed=needed
        )
    return ok(f"driver {driver} is new enough for CANN {version}", *evidence)


def _oldest_for(version: str) -> str | None:
    place = order_of(version)[:2]
    return next((need for cann, need in _OLDEST_DRIVER if place >= order_of(cann)[:2]), None)


def _interface(context: CheckContext) -> str | None:
    root = context.installation.root
    for path in (root / "runtime" / "version.info", root / "share/info/runtime/version.info"):
        text = context.setting(path, "required_driver_ascendhal_version") or ""
        match = re.search(r"\d+(?:\.\d+)+", text)
        if match:
            return match[0]
    return None
