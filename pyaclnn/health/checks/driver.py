# SPDX-License-Identifier: Apache-2.0
"""Driver: its device nodes, version, firmware and kernel modules. No node is opened.

Sources: CANN: driver install.sh, version_info.py and host_sys_init.sh for files, names and modes;
CANN: oam-tools quick_install for the needs of a container; CANN: runtime core/src/runtime.cc for
ASCEND_RT_VISIBLE_DEVICES; CANN: release notes 8.0 to 8.5 for the pairs of CANN and driver.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.machine import drivers
from pyaclnn.health.checks.digits import whole_number
from pyaclnn.health.checks.finding import Finding, at_path, found, more, ok, skip, value
from pyaclnn.health.checks.installation import order_of
from pyaclnn.health.checks.pcie import npus_on_bus

if TYPE_CHECKING:
    from pyaclnn.facts.machine import Drivers
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.machine import Machine

__all__ = [
    "MODULES",
    "admission",
    "device_nodes",
    "driver_nodes",
    "driver_root",
    "is_virtual",
    "read_visible",
]


@dataclass(frozen=True)
class Reading:
    """Value of the variable as CANN reads it.

    Attributes:
        devices: The devices it makes visible, re-numbered from 0 in this order.
        meant: All numbers in the text.
        problem: The difference to the text; None if there is none.
    """

    devices: tuple[int, ...]
    meant: tuple[int, ...]
    problem: str | None


def read_visible(text: str, present: int) -> Reading:
    """Read the variable.

    Args:
        text: Its value.
        present: The number of devices.

    Returns:
        The visible devices, and the fault of the text.
    """
    meant = tuple(map(whole_number, re.findall("[0-9]+", text)))
    devices: list[int] = []
    rest = text
    problem = "it is empty, so no device is visible" if not text else None
    while rest:
        match = re.match("[0-9]+", rest)
        if match is None:
            problem = f"reading stops at {rest[0]!r}"
            break
        number, rest = whole_number(match[0]), rest[match.end() :]
        if devices and number <= devices[-1]:
            how = "is there twice" if number in devices else f"stands behind {devices[-1]}"
            return Reading((), meant, f"{number} {how}, so no device is visible")
        if number >= present:
            problem = f"there is no device {number}; reading stops there"
            break
        devices.append(number)
        if rest and rest[0] != ",":
            problem = f"reading stops at {rest[0]!r}"
            break
        if rest == ",":
            problem = "it ends with a comma"
        rest = rest[1:]
    return Reading(tuple(devices), meant, problem)


_NODE: Final = re.compile(r"v?davinci\d+")
_DRIVER: Final = (
    ("/dev/davinci_manager",),
    ("/dev/devmm_svm", "/dev/asdrv_svm"),
    ("/dev/hisi_hdc",),
)
"""Nodes of the driver, with the names that each may have."""
_LIBRARIES: Final = "/usr/local/Ascend/driver/lib64"
_MOUNTS: Final = (
    _LIBRARIES,
    "/usr/local/Ascend/driver/version.info",
    "/etc/ascend_install.info",
    "/usr/local/dcmi",
)


def device_nodes(machine: Machine) -> list[Path]:
    """Return the nodes of NPUs, ``/dev/davinci0`` and so on, in the order of their numbers."""
    folder = machine.at("/dev")
    try:
        nodes = [path for path in folder.iterdir() if _NODE.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(nodes, key=lambda path: (len(path.name), path.name))


def is_virtual(node: Path) -> bool:
    """Return whether a node is of a virtual NPU, a part of a chip, numbered from 100 on.

    Args:
        node: The node, in a container also one without the ``v`` in its name.
    """
    return bool(re.fullmatch(r"vdavinci\d+|davinci\d{3,}", node.name))


def driver_nodes(machine: Machine) -> list[Path]:
    """Return the nodes of NPUs and those of the driver itself, as far as they exist."""
    names = [name for names in _DRIVER for name in names if machine.exists(name)]
    return [*device_nodes(machine), *map(machine.at, names)]


def _present(context: CheckContext) -> Finding:
    machine, nodes = context.machine, device_nodes(context.machine)
    if not nodes and not context.installations:
        return found("HW-001.unusable_cann" if context.traces else "HW-001.nothing")
    if not nodes:
        inside, on_bus = machine.in_container, npus_on_bus(machine)
        usual = "HW-001.undriven" if on_bus else "HW-001.missing"
        return found(
            "HW-001.not_passed" if inside else usual,
            at_path("/dev", "no node davinci0, davinci1, …"),
            value("in a container", inside),
            *(context.seen(device, "an NPU on the PCIe bus") for device in on_bus),
            count=len(on_bus),
        )
    folders = [node for node in nodes if node.is_dir()]
    if folders:
        owners = (context.seen(folder, machine.owner(folder)) for folder in folders)
        return found("HW-001.folder", *owners, node=machine.shown(folders[0]))
    return ok(f"{len(nodes)} NPU{'s' * (len(nodes) != 1)}: {', '.join(n.name for n in nodes)}")


def _companions(context: CheckContext) -> Finding:
    machine = context.machine
    missing = [names for names in _DRIVER if not any(machine.exists(name) for name in names)]
    if not missing:
        return ok("the driver's own nodes are there")
    return found(
        "HW-002.not_passed" if machine.in_container else "HW-002.missing",
        *(at_path(" or ".join(names), "does not exist") for names in missing),
        node=missing[0][0],
    )


def _permitted(context: CheckContext) -> Finding:
    machine = context.machine
    refused = [node for node in driver_nodes(machine) if not machine.may(node, "rw")]
    if not refused:
        return ok("this user may open all of them")
    group = _owning_group(machine, refused[0])
    return found(
        "HW-003.refused",
        *(context.seen(node, machine.owner(node)) for node in refused),
        *context.user(),
        node=machine.shown(refused[0]),
        more=more(refused, " and {} more"),
        group=group,
        admission=admission(group, "the driver"),
    )


def admission(group: str, what: str, *, may_read: bool = True) -> str:
    """Return the command that gives a user access; never one that adds him to the group of root.

    Args:
        group: The group that owns the files: its name, or its number if it has none.
        what: The software that belongs to it, e.g. ``the driver``.
        may_read: True if the mode of the files admits the group.
    """
    if not may_read or group in {"root", "0", "wheel", "sudo"}:
        return f"have the administrator install {what} again, with --install-for-all"
    return f"sudo usermod -a -G {group} $USER, then log in again"


def _owning_group(machine: Machine, node: Path) -> str:
    named = (machine.settings("/etc/ascend_install.info") or {}).get("UserGroup")
    try:
        return named or machine.group(node.stat().st_gid)
    except OSError:
        return "HwHiAiUser"


def _mounts(context: CheckContext) -> Finding:
    machine = context.machine
    if not machine.in_container:
        return skip("not in a container")
    missing = [path for path in _MOUNTS if not machine.exists(path)]
    folders = [path for path in _MOUNTS if Path(path).suffix and machine.at(path).is_dir()]
    if folders and not missing:
        owner = machine.owner(machine.at(folders[0]))
        return found("HW-004.folder", at_path(folders[0], owner), path=folders[0])
    if not missing:
        return ok("what a container needs of the host is mounted")
    return found(
        "HW-004.libraries" if _LIBRARIES in missing else "HW-004.files",
        *(at_path(path, "not in the container") for path in missing),
        path=missing[0],
        arguments=" ".join(f"-v {path}:{path}" for path in missing),
    )


MODULES: Final = re.compile(r"^(?:drv_|ascend_|davinci_|asdrv_)", re.MULTILINE)
"""Names of the driver's modules, at the beginnings of lines."""


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
    names = [line.split()[0] for line in modules.splitlines() if MODULES.match(line)]
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
    known = _drivers_for(version)
    if known is not None and order_of(driver) < order_of(known.oldest):
        seen = (*evidence, value("documented drivers", known.documented))
        return found("DRV-003.old", *seen, driver=driver, version=version, needed=known.oldest)
    return ok(f"driver {driver} is new enough for CANN {version}", *evidence)


def _drivers_for(version: str) -> Drivers | None:
    place = order_of(version)[:2]
    return next((row for row in drivers() if place >= order_of(row.name)[:2]), None)


def _interface(context: CheckContext) -> str | None:
    root = context.installation.root
    for path in (root / "runtime" / "version.info", root / "share/info/runtime/version.info"):
        text = context.setting(path, "required_driver_ascendhal_version") or ""
        match = re.search(r"\d+(?:\.\d+)+", text)
        if match:
            return match[0]
    return None
