# SPDX-License-Identifier: Apache-2.0
"""Driver and firmware: installed, loaded, and new enough for this CANN?

Sources: CANN: driver install.sh and version_info.py for the files; CANN: release notes 8.0 to 8.5
for the pairs of CANN and driver.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, skip, value, warn
from pyaclnn.health.checks.installation import order_of

if TYPE_CHECKING:
    from pyaclnn.health.checks.check_context import Site
    from pyaclnn.health.checks.machine import Machine

__all__ = ["CHECKS", "driver_root"]

_INSTALL_INFO: Final = "/etc/ascend_install.info"
_MODULES: Final = re.compile(r"^(?:drv_|ascend_|davinci_|asdrv_)", re.MULTILINE)

_OLDEST_DRIVER: Final = (
    ("8.5", "25.0"),
    ("8.2", "24.1"),
    ("8.0", "24.1.RC1"),
)
"""The oldest driver documented for each CANN, newest first; later ones work with what 8.5 needs."""


def driver_root(machine: Machine) -> Path:
    """Return the folder of the driver, as its own installer noted it down."""
    named = (machine.settings(_INSTALL_INFO) or {}).get("Driver_Install_Path_Param")
    return machine.at(Path(named or "/usr/local/Ascend") / "driver")


def _installed(site: Site) -> Finding:
    machine = site.machine
    path = driver_root(machine) / "version.info"
    driver = (machine.settings(path) or {}).get("Version")
    if driver is None and machine.text(path) is not None:
        return warn(
            "the driver's version file is there, but says no version",
            at_path(machine.shown(path), "has no line Version=…"),
            causes=("the file was damaged, or written by something else than the installer",),
            next_step="ask the driver itself: npu-smi info; install the driver again if it fails",
        )
    if driver is None and (path.parent / "lib64").is_dir():
        return warn(
            "the driver is there, but its version is not visible",
            at_path(machine.shown(path), "not there, or not readable"),
            causes=("the container was started without this file",),
            next_step=f"start it with -v {machine.shown(path)}:{machine.shown(path)}",
        )
    if driver is None:
        state = "cannot be read" if path.exists() else "does not exist"
        return fail(
            "the NPU's driver is not installed, or not visible here",
            at_path(machine.shown(path), state),
            causes=(
                "the container was started without the driver's folder",
                "the driver is not installed",
            )
            if machine.in_container
            else ("the driver is not installed", f"{_INSTALL_INFO} names another folder"),
            next_step="start it with -v /usr/local/Ascend/driver:/usr/local/Ascend/driver"
            if machine.in_container
            else "install the driver package (HDK) for this chip and kernel, then the firmware",
        )
    firmware_path = path.parent.parent / "firmware" / "version.info"
    firmware = (machine.settings(firmware_path) or {}).get("Version")
    evidence = (
        at_path(machine.shown(path), f"Version={driver}"),
        at_path(machine.shown(firmware_path), f"Version={firmware}" if firmware else "not there"),
    )
    if firmware and order_of(firmware)[:2] != order_of(driver)[:2] and _same_scheme(firmware):
        return warn(
            f"driver {driver} and firmware {firmware} are of different releases",
            *evidence,
            causes=("only one of the two was updated",),
            next_step="ask 'npu-smi info -t board -i 0' for Compatibility; install the pair of one "
            "release",
        )
    return ok(f"driver {driver}{f', firmware {firmware}' if firmware else ''}", *evidence)


def _same_scheme(firmware: str) -> bool:
    # Firmware of older releases is numbered 7.x, apart from the driver's 24.x and 25.x.
    return order_of(firmware)[0] >= 20  # noqa: PLR2004  # releases are named by the year


def _loaded(site: Site) -> Finding:
    modules = site.machine.text("/proc/modules")
    if not modules:
        return skip("the kernel does not list its modules here")
    found = [line.split()[0] for line in modules.splitlines() if _MODULES.match(line)]
    if found:
        return ok(f"{len(found)} kernel modules of the driver are loaded", value("modules", found))
    return warn(
        "no kernel module of the driver is loaded",
        at_path("/proc/modules", "no drv_… module"),
        causes=(
            "the kernel was updated after the driver had been built for the old one",
            "the driver's modules have other names in this version",
        ),
        next_step="install the driver package again for the running kernel, and reboot",
    )


def _fits(site: Site) -> Finding:
    machine = site.machine
    version, path = site.installation.version, driver_root(machine) / "version.info"
    driver = machine.settings(path) or {}
    if version is None or "Version" not in driver:
        return skip("the version of CANN is not known")
    needed = _oldest_for(version)
    evidence = (
        value("CANN", version),
        at_path(machine.shown(path), f"Version={driver['Version']}"),
    )
    required, has = _interface(site), driver.get("ascendhal_version")
    if required and has and order_of(has) < order_of(required):
        return fail(
            f"the driver's interface {has} is older than CANN's runtime asks for, {required}",
            *evidence,
            causes=("CANN was updated and the driver was not",),
            next_step="update driver and firmware (firmware first), reboot",
        )
    if needed and order_of(driver["Version"]) < order_of(needed):
        return warn(
            f"the driver {driver['Version']} is older than any documented for CANN {version}",
            *evidence,
            value("oldest documented driver", needed),
            causes=("CANN was updated and the driver was not",),
            next_step=f"update driver and firmware to {needed} or newer (firmware first), reboot",
        )
    return ok(f"driver {driver['Version']} is new enough for CANN {version}", *evidence)


def _oldest_for(version: str) -> str | None:
    place = order_of(version)[:2]
    return next((need for cann, need in _OLDEST_DRIVER if place >= order_of(cann)[:2]), None)


def _interface(site: Site) -> str | None:
    root = site.installation.root
    for path in (root / "runtime" / "version.info", root / "share/info/runtime/version.info"):
        text = (site.machine.settings(path) or {}).get("required_driver_ascendhal_version", "")
        match = re.search(r"\d+(?:\.\d+)+", text)
        if match:
            return match[0]
    return None


_check = functools.partial(Check, category="driver", hardware=True)
CHECKS: Final = (
    _check(
        "DRV-001",
        "driver and firmware",
        "Reads the version files of driver and firmware, in the folder that "
        "/etc/ascend_install.info names. Inside a container they have to be mounted.",
        _installed,
        needs=("HW-001",),
    ),
    _check(
        "DRV-002",
        "kernel modules",
        "Looks for the driver's modules in /proc/modules. They are built for one kernel and are "
        "gone after its update.",
        _loaded,
        needs=("HW-001",),
    ),
    _check(
        "DRV-003",
        "driver's version for CANN",
        "Holds the driver's version against the oldest one documented for this CANN, and the "
        "interface version that CANN's runtime asks for. Too old a driver shows as 507033, as "
        "207000 or as EE1015.",
        _fits,
        needs=("CANN-001", "DRV-001"),
    ),
)
