# SPDX-License-Identifier: Apache-2.0
"""Are the devices there, and may this user open them? Nothing is opened here.

Source: CANN: driver host_sys_init.sh for names and modes; CANN: oam-tools quick_install for what a
container needs.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, skip, value, warn
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.check_context import Site
    from pyaclnn.health.checks.machine import Machine

__all__ = ["CHECKS", "admission", "device_nodes"]

_NODE: Final = re.compile(r"v?davinci\d+")
_MANAGER: Final = "/dev/davinci_manager"
_MEMORY: Final = ("/dev/devmm_svm", "/dev/asdrv_svm")
_MESSAGES: Final = "/dev/hisi_hdc"
_MOUNTS: Final = (
    "/usr/local/Ascend/driver/lib64",
    "/usr/local/Ascend/driver/version.info",
    "/etc/ascend_install.info",
    "/usr/local/dcmi",
)
_DOCKER: Final = (
    "start the container with --device /dev/davinci0 (and so on) --device /dev/davinci_manager "
    "--device /dev/devmm_svm --device /dev/hisi_hdc, or with the Ascend Docker runtime"
)


def device_nodes(machine: Machine) -> list[Path]:
    """Return the nodes of NPUs, ``/dev/davinci0`` and so on, in the order of their numbers."""
    folder = machine.at("/dev")
    try:
        found = [path for path in folder.iterdir() if _NODE.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(found, key=lambda path: (len(path.name), path.name))


def _present(site: Site) -> Finding:
    machine = site.machine
    nodes = device_nodes(machine)
    if not nodes and not site.installations and site.traces:
        return Finding(Status.NOT_RUN, "CANN cannot be used as it is; CANN-001 says what to do")
    if not nodes and not site.installations:
        # Not a skip: what builds on there being an NPU is not to be tried either.
        return Finding(Status.NOT_RUN, "neither an NPU nor CANN here; CANN-001 says what to do")
    if not nodes:
        inside = machine.in_container
        return fail(
            f"no NPU is visible{' in this container' if inside else ''}: there is no /dev/davinci0",
            at_path("/dev", "no node davinci0, davinci1, …"),
            value("in a container", inside),
            causes=("the container was started without the NPU's device nodes",)
            if inside
            else (
                "this machine has no NPU",
                "the driver is not installed or not loaded, e.g. after an update of the kernel",
                "the card is not seen by the machine",
            ),
            next_step=_DOCKER
            if inside
            else "run 'npu-smi info' and 'lsmod | grep drv_'; install "
            "the driver if they know nothing",
            absent=True,
        )
    folders = [node for node in nodes if node.is_dir()]
    if folders:
        return fail(
            f"{machine.shown(folders[0])} is a folder, not a device",
            *(at_path(machine.shown(folder), machine.owner(folder)) for folder in folders),
            causes=("a container was started with -v on a node that did not exist on the host",),
            next_step=_DOCKER,
        )
    return ok(f"{len(nodes)} NPU{'s' * (len(nodes) != 1)}: {', '.join(n.name for n in nodes)}")


def _companions(site: Site) -> Finding:
    machine = site.machine
    wanted = ((_MANAGER,), _MEMORY, (_MESSAGES,))
    missing = [names for names in wanted if not any(machine.exists(name) for name in names)]
    if not missing:
        return ok("the driver's own nodes are there")
    return fail(
        f"the driver's node {missing[0][0]} is missing",
        *(at_path(" or ".join(names), "does not exist") for names in missing),
        causes=(
            "the container was started with the NPU's node but without the driver's",
            "the driver is not completely loaded",
        )
        if machine.in_container
        else ("the driver is not completely loaded",),
        next_step=_DOCKER
        if machine.in_container
        else "run 'npu-smi info'; install the driver again if it fails",
    )


def _permitted(site: Site) -> Finding:
    machine = site.machine
    names = [_MANAGER, *_MEMORY, _MESSAGES]
    nodes = [*device_nodes(machine), *(machine.at(n) for n in names if machine.exists(n))]
    refused = [node for node in nodes if not machine.may(node, "rw")]
    if not refused:
        return ok("this user may open all of them")
    group = _owning_group(machine, refused[0])
    return fail(
        f"this user may not open {machine.shown(refused[0])}"
        f"{f' and {len(refused) - 1} more' if len(refused) > 1 else ''}",
        *(at_path(machine.shown(node), machine.owner(node)) for node in refused),
        value("uid", machine.uid),
        value("groups", ", ".join(sorted(machine.group(gid) for gid in machine.gids))),
        causes=(
            f"the user is not in the group {group}, which owns the devices",
            "the user was added to the group, but has not logged in again since",
            "the driver was installed for its own group only (no --install-for-all)",
        ),
        next_step=admission(group, "the driver"),
    )


def admission(group: str, what: str) -> str:
    """Return how a user gets at what belongs to a group; nobody is sent into the group of root.

    Args:
        group: The group's name, or its number if it has none.
        what: What belongs to it, e.g. ``the driver``.
    """
    if group in {"root", "0", "wheel", "sudo"}:
        return f"have the administrator install {what} again, with --install-for-all"
    return f"sudo usermod -a -G {group} $USER, then log in again"


def _owning_group(machine: Machine, node: Path) -> str:
    named = (machine.settings("/etc/ascend_install.info") or {}).get("UserGroup")
    try:
        return named or machine.group(node.stat().st_gid)
    except OSError:
        return "HwHiAiUser"


def _mounts(site: Site) -> Finding:
    machine = site.machine
    if not machine.in_container:
        return skip("not in a container")
    missing = [path for path in _MOUNTS if not machine.exists(path)]
    if not missing:
        return ok("what a container needs of the host is mounted")
    arguments = " ".join(f"-v {path}:{path}" for path in missing)
    causes = ("the container was started without these mounts",)
    seen = tuple(at_path(path, "not in the container") for path in missing)
    if _MOUNTS[0] in missing:
        summary = "the driver's libraries are not mounted into this container"
        return fail(summary, *seen, causes=causes, next_step=f"start it with {arguments}")
    summary = f"{missing[0]} is not mounted into this container"
    return warn(summary, *seen, causes=causes, next_step=f"start it with {arguments}")


_check = functools.partial(Check, category="devices", hardware=True)
CHECKS: Final = (
    _check(
        "HW-001",
        "device nodes of the NPUs",
        "Looks for the nodes /dev/davinci0 and so on, which the driver makes for each NPU. With "
        "none, no device can be opened; the exit status is 4.",
        _present,
    ),
    _check(
        "HW-002",
        "device nodes of the driver",
        "Besides the NPUs' own nodes, CANN opens davinci_manager, devmm_svm (asdrv_svm on Ascend "
        "950) and hisi_hdc. Without one of them counting the devices fails with 507899.",
        _companions,
        needs=("HW-001",),
    ),
    _check(
        "HW-003",
        "permission to open the nodes",
        "The nodes belong to the driver's group, HwHiAiUser by default, and have mode 660 unless "
        "the driver was installed for all. One existing NPU that may not be opened makes counting "
        "fail for all, with 507899.",
        _permitted,
        needs=("HW-001",),
    ),
    _check(
        "HW-004",
        "container mounts",
        "The driver belongs to the host; a container sees its libraries and version files only if "
        "they are mounted.",
        _mounts,
        needs=("HW-001",),
    ),
)
