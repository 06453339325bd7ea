# SPDX-License-Identifier: Apache-2.0
"""Presence of CANN: an installation, and of the vendor's libraries instead of simulated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.cann.discovery import installation_roots
from pyaclnn.health.checks.finding import Finding, at_path, found, ok, value
from pyaclnn.health.checks.nodes import device_nodes

if TYPE_CHECKING:
    from pyaclnn.health.checks.check import Look
    from pyaclnn.health.checks.check_context import CheckContext
    from pyaclnn.health.checks.installation import Installation

__all__ = ["LOOKS"]


def _installed(context: CheckContext) -> Finding:
    if context.installations:
        return _present(context, *context.installations)
    if context.choice != "cann":
        return found(
            "CANN-001.no_libraries",
            at_path(context.choice, "neither libascendcl.so nor libacl_rt.so there or in lib64"),
            choice=repr(context.choice),
        )
    machine, traces = context.machine, context.traces
    if traces:
        return found(
            "CANN-001.unusable",
            *(at_path(trace.path, trace.wrong) for trace in traces),
            causes=tuple(dict.fromkeys(trace.cause for trace in traces)),
            path=traces[0].path,
            wrong=traces[0].wrong,
            next_step=traces[0].next_step,
        )
    roots = installation_roots(machine.environment, machine.home, machine.prefix)
    return found(
        "CANN-001.not_installed" if device_nodes(machine) else "CANN-001.nothing",
        *(at_path(root, "no CANN libraries here") for root in roots),
    )


def _present(context: CheckContext, chosen: Installation, *others: Installation) -> Finding:
    name = "the simulated NPU" if context.choice == "mock" else f"CANN {chosen.version or '(?)'}"
    return ok(
        f"{name} in {context.machine.shown(chosen.root)}",
        context.seen(chosen.root, "the one in use"),
        *(context.seen(o.root, f"CANN {o.version or 'of unknown version'}") for o in others),
    )


def _real(context: CheckContext) -> Finding:
    folder = context.installation.libraries.directory
    if not context.simulated:
        return ok("these are the vendor's libraries", context.seen(folder, "no marker of the mock"))
    if context.choice == "cann":
        marker = context.seen(folder, "libascendcl.so has the marker of the simulated NPU")
        return found("MOCK-001.simulated", marker)
    soc = context.machine.environment.get("PYACLNN_MOCK_SOC", "(default)")
    return ok(
        "SIMULATED NPU: nothing in this report is about real hardware",
        value("PYACLNN_MOCK_SOC", soc),
    )


LOOKS: Final[dict[str, Look]] = {"CANN-001": _installed, "MOCK-001": _real}
