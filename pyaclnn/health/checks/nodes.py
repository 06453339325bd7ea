# SPDX-License-Identifier: Apache-2.0
"""Device nodes and driver as the kernel has them: kinds, numbers, rules, and its running modules.

Sources: Linux: Documentation/admin-guide/devices.txt and cgroup-v1/devices.rst; modinfo(8) for the
section .modinfo of a module. Modules are looked for in the driver's folder ``host`` and among those
that the kernel's tools install; where there are none, nothing is compared.
"""

from __future__ import annotations

import platform
import re
from typing import TYPE_CHECKING, Final

from pyaclnn.base.files import read_file
from pyaclnn.health.checks.driver import MODULES, driver_nodes, driver_root
from pyaclnn.health.checks.finding import Finding, found, ok, skip, value

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.machine import Machine

__all__: list[str] = []

_CHARACTERS: Final = "/proc/devices"
_RULES: Final = "/sys/fs/cgroup/devices/devices.list"
_RULE: Final = re.compile(r"^([abc]) (\d+|\*):(\d+|\*) ([rwm]+)$", re.MULTILINE)
_LARGEST: Final = 64 << 20
_FIELD: Final = rb"(?:^|\0)%s=([^\0 ]+)"


def _genuine(context: CheckContext) -> Finding:
    machine, majors = context.machine, _majors(context.machine)
    kinds = {node: machine.kind(node) for node in driver_nodes(machine)}
    seen = [context.seen(node, str(kind)) for node, kind in kinds.items()]
    for node, kind in kinds.items():
        outcome = ""
        if kind.name != "character device":
            outcome = "HW-006.no_device"
        elif majors and kind.major not in majors:
            outcome = "HW-006.no_driver"
        elif not _admitted(machine, kind.major, kind.minor):
            outcome = "HW-006.forbidden"
        if outcome:
            shown = machine.shown(node)
            return found(outcome, *seen, node=shown, kind=kind.name, number=kind.number)
    return ok(f"{len(kinds)} nodes are devices of a loaded driver", *seen)


def _majors(machine: Machine) -> frozenset[int]:
    """Return the major numbers of character devices that the kernel has drivers for."""
    text = (machine.text(_CHARACTERS) or "").partition("Block devices")[0]
    return frozenset(map(int, re.findall(r"^ *(\d+) ", text, re.MULTILINE)))


def _admitted(machine: Machine, major: int, minor: int) -> bool:
    """Return whether the rules of the cgroup admit a device; True where there are none to read."""
    rules = _RULE.findall(machine.text(_RULES) or "")
    numbers = {("*", "*"), (str(major), "*"), ("*", str(minor)), (str(major), str(minor))}
    admitted = (
        kind == "a" or (kind == "c" and (first, second) in numbers and {*"rw"} <= {*rights})
        for kind, first, second, rights in rules
    )
    return not rules or any(admitted)


def _running(context: CheckContext) -> Finding:
    machine, release = context.machine, platform.release()
    folders = [driver_root(machine) / "host", machine.at(f"/lib/modules/{release}/updates")]
    files = [path for folder in folders for path in sorted(folder.glob("*.ko"))]
    modules = [path for path in files if MODULES.match(path.stem)]
    compared = 0
    for path in modules:
        running = machine.text(f"/sys/module/{path.stem}/srcversion")
        on_disk = _field(path, b"srcversion")
        if not running or not on_disk:
            continue
        compared += 1
        if running.strip() != on_disk:
            seen = (value("running", running.strip()), context.seen(path, on_disk))
            return found("DRV-004.other", *seen, module=path.stem, path=machine.shown(path))
    if modules and not compared:
        built = _field(modules[0], b"vermagic")
        if built and built != release:
            seen = (context.seen(modules[0], f"vermagic={built}"), value("kernel", release))
            return found("DRV-004.kernel", *seen, built=built, release=release)
    if not compared:
        return skip("the driver's modules cannot be compared with those that run")
    return ok(f"the {compared} modules that run are those on the disk")


def _field(path: Path, name: bytes) -> str:
    """Return a field of a module's description; empty if it has none or cannot be read."""
    try:
        content = read_file(path, "a kernel module", most=_LARGEST)
    except OSError:
        return ""
    match = re.search(_FIELD % name, content)
    return match[1].decode(errors="replace") if match else ""
