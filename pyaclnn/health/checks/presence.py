# SPDX-License-Identifier: Apache-2.0
"""Presence of CANN: an installation, its remains, and its parts, versions and permissions.

Sources: CANN: installation guides, for the folders and links that its packages make; CANN:
version.cfg and file list of 8.1; CANN: share/info of 9.1.
"""

from __future__ import annotations

from collections import Counter
from stat import S_IRGRP
from typing import TYPE_CHECKING, Final

from pyaclnn.base.paths import ExaminedPath
from pyaclnn.cann.discovery import installation_roots
from pyaclnn.health.checks.driver import admission, device_nodes
from pyaclnn.health.checks.finding import Finding, at_path, found, ok, value
from pyaclnn.health.checks.installation import KERNELS, find_installations, order_of
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.installation import Installation

__all__ = ["refusal"]


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
    name = "the simulated NPU" if context.simulated else f"CANN {chosen.version or '(?)'}"
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


_ENOUGH_EVIDENCE: Final = 8
_FIRST_SPLIT: Final = "8.5"
"""The first CANN whose operators are in several libraries."""


def _complete(context: CheckContext) -> Finding:
    chosen = context.installation
    # Operators need these, where their place is known; the rest may move with a release.
    vital = {
        "operator packages": chosen.operator_root,
        "built-in operators": chosen.operator_root / "built-in",
    }
    parts = {**vital, "chip descriptions": chosen.chip_folder, "set_env.sh": chosen.set_env}
    missing = {name: path for name, path in parts.items() if not path.exists()}
    if not missing:
        return ok("the usual parts of an installation are there")
    return found(
        "CANN-002.incomplete",
        *(context.seen(path, f"{name}: does not exist") for name, path in missing.items()),
        status=Status.FAIL if vital.keys() & missing.keys() and not chosen.split else Status.WARN,
        part=next(iter(missing)),
    )


def _readable(context: CheckContext) -> Finding:
    chosen, machine = context.installation, context.machine
    libraries = (*chosen.libraries.runtime, chosen.libraries.base, *chosen.libraries.operators)
    kernels = chosen.operator_root / KERNELS / "config"
    above = [path for path in reversed(kernels.parents) if chosen.operator_root in path.parents]
    folders = (*above, kernels, *sorted(kernels.parent.glob("*/ascend*")), chosen.chip_folder)
    wanted = [(path, "r") for path in libraries] + [(path, "rx") for path in folders]
    refused = [path for path, how in wanted if path.exists() and not machine.may(path, how)]
    return refusal(context, refused) if refused else ok("this user may read all of it")


def refusal(context: CheckContext, refused: Sequence[Path]) -> Finding:
    """Return the finding about files of CANN that the user may not read.

    Args:
        context: The machine under examination.
        refused: The files and folders.
    """
    machine = context.machine
    seen = list(dict.fromkeys(map(_first_seen, refused[:_ENOUGH_EVIDENCE])))
    group = machine.owner(seen[0]).rpartition(":")[2]
    return found(
        "CANN-003.refused",
        *(context.seen(path, machine.owner(path)) for path in seen),
        *context.user(),
        path=machine.shown(seen[0]),
        group=group,
        admission=admission(group, "CANN", may_read=bool(seen[0].stat().st_mode & S_IRGRP)),
    )


def _first_seen(path: Path) -> Path:
    """Return a path, or the closest folder above the target of a link that can be seen."""
    real = ExaminedPath(path).resolve()
    return path if path.exists() else next(above for above in real.parents if above.exists())


def _versions(context: CheckContext) -> Finding:
    chosen = context.installation
    root, packages, libraries = chosen.root, chosen.packages, chosen.libraries
    if not packages:
        files = (root / "version.cfg", *sorted(root.glob("share/info/*/version.info")))
        refused = [path for path in files if path.exists() and not context.machine.may(path, "r")]
        if refused:
            return refusal(context, refused)
        return found(
            "CANN-004.no_version",
            context.seen(root / "version.cfg", "not there, or empty"),
            context.seen(root / "share/info", "no version.info below"),
        )
    common = Counter(package.version for package in packages).most_common(1)[0][0]
    runtime = next((p.version for p in packages if p.package == "runtime"), common)
    if chosen.split and order_of(runtime) < order_of(_FIRST_SPLIT) and chosen.version:
        seen = (context.seen(path, "a name of CANN 8.5 or newer") for path in libraries.operators)
        return found("CANN-004.layout", *seen, version=runtime, library=libraries.operators[0].name)
    others = [package for package in packages if package.version != runtime]
    evidence = tuple(value(p.package, f"{p.version} ({p.source.name})") for p in packages)
    if not others:
        return ok(f"{len(packages)} packages, all of CANN {runtime}", *evidence)
    far = any(order_of(package.version)[:2] != order_of(runtime)[:2] for package in others)
    return found(
        "CANN-004.different",
        *evidence,
        status=Status.FAIL if far else Status.WARN,
        runtime=runtime,
        others=", ".join(f"{package.package} {package.version}" for package in others),
    )


def _single(context: CheckContext) -> Finding:
    machine, chosen = context.machine, context.installation
    installations = [*context.installations, *find_installations(machine, "cann")]
    places = {installation.real: installation for installation in installations}
    others = [place for real, place in places.items() if real != chosen.real]
    if not others:
        return ok(f"one installation: {machine.shown(chosen.root)}")
    listed = tuple(
        context.seen(place.root, f"CANN {place.version or 'of unknown version'}")
        for place in (chosen, *others)
    )
    named = ExaminedPath(machine.environment.get("ASCEND_HOME_PATH", "/nowhere"))
    if named.resolve() == chosen.real:
        return ok(f"{len(listed)} installations; the environment names one of them", *listed)
    return found("CANN-005.several", *listed, count=len(listed), script=context.script)
