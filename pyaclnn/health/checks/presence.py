# SPDX-License-Identifier: Apache-2.0
"""Is there a CANN at all, and is it CANN?"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.discovery import installation_roots
from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, value
from pyaclnn.health.checks.nodes import device_nodes

if TYPE_CHECKING:
    from pyaclnn.health.checks.check_context import Site

__all__ = ["CHECKS", "TRY_THE_MOCK"]

TRY_THE_MOCK: Final = "try everything without an NPU: pyaclnn doctor --backend mock"


def _installed(site: Site) -> Finding:
    if site.installations:
        chosen = site.installation
        name = "the simulated NPU" if site.choice == "mock" else f"CANN {chosen.version or '(?)'}"
        others = [
            at_path(site.machine.shown(other.root), f"CANN {other.version or 'of unknown version'}")
            for other in site.installations[1:]
        ]
        where = site.machine.shown(chosen.root)
        return ok(f"{name} in {where}", at_path(where, "the one in use"), *others)
    if site.choice != "cann":
        return fail(
            f"the backend {site.choice!r} is a folder without CANN's libraries",
            at_path(site.choice, "neither libascendcl.so nor libacl_rt.so there or in lib64"),
            causes=("the path is wrong", "the installation was removed"),
            next_step="name the root of an installation, or the folder of its libraries",
            absent=True,
        )
    machine = site.machine
    if site.traces:
        first = site.traces[0]
        return fail(
            f"CANN is here, but cannot be used: {first.path} {first.wrong}",
            *(at_path(trace.path, trace.wrong) for trace in site.traces),
            causes=tuple(dict.fromkeys(trace.cause for trace in site.traces)),
            next_step=first.next_step,
        )
    roots = installation_roots(machine.environment, machine.home, machine.prefix)
    searched = tuple(at_path(root, "no CANN libraries here") for root in roots)
    if device_nodes(machine):
        return fail(
            "this machine has an NPU, but CANN, the software to use it, is not installed or not "
            "visible here",
            *searched,
            causes=(
                "the CANN toolkit is not installed",
                "it is installed elsewhere and its set_env.sh was not sourced",
                "in a container: the image has no CANN, or its folder is not mounted",
            ),
            next_step="source the set_env.sh of your CANN, or install the CANN toolkit and the "
            "operator package of your chip",
            absent=True,
        )
    return fail(
        "there is no NPU software (CANN) on this machine, and no NPU either: nothing to examine",
        *searched,
        causes=(
            "this is an ordinary computer: pyaclnn can simulate an NPU on it",
            "or you are on the wrong machine, or in a container without its devices and mounts",
        ),
        next_step=TRY_THE_MOCK,
        absent=True,
    )


def _real(site: Site) -> Finding:
    where = site.machine.shown(site.installation.libraries.directory)
    if not site.simulated:
        return ok("these are the vendor's libraries", at_path(where, "no marker of the mock"))
    if site.choice != "cann":
        return ok(
            "SIMULATED NPU: nothing in this report is about real hardware",
            value(
                "PYACLNN_MOCK_SOC", site.machine.environment.get("PYACLNN_MOCK_SOC", "(default)")
            ),
        )
    return fail(
        "what is installed in CANN's place is pyaclnn's simulated NPU",
        at_path(where, "libascendcl.so has the marker of the simulated NPU"),
        causes=(
            "the environment was made for the simulated NPU, e.g. by 'pyaclnn mock run'",
            "its libraries were copied or linked into CANN's folder",
        ),
        next_step="source the set_env.sh of the real CANN; to examine the simulated NPU on "
        "purpose: pyaclnn doctor --backend mock",
    )


_check = functools.partial(Check, category="CANN")
CHECKS: Final = (
    _check(
        "CANN-001",
        "installation of CANN",
        "Looks for CANN where the environment says it is (ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME, "
        "ASCEND_INSTALL_PATH) and in the usual places, by both layouts: ascend-toolkit/latest up "
        "to 8.3, cann since 8.5. Without it nothing else can be examined; the exit status is 4.",
        _installed,
    ),
    _check(
        "MOCK-001",
        "real or simulated NPU",
        "Tells CANN from pyaclnn's simulated NPU by a marker symbol of the latter. A simulated NPU "
        "in the place of CANN would pass every check and say nothing about the machine.",
        _real,
        needs=("CANN-001",),
    ),
)
