# SPDX-License-Identifier: Apache-2.0
"""CANN's libraries: presence, stubs in their place, and dependencies, without loading any.

Source of the order: ld.so(8): DT_RPATH (unless there is a DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH,
the loader's cache, the system's folders. The contents of the cache are derived from ld.so.conf.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyaclnn.base.paths import ExaminedPath
from pyaclnn.cann.discovery import is_for_linking
from pyaclnn.facts.explanations import LINES
from pyaclnn.health.checks.dependencies import Closure, search_path
from pyaclnn.health.checks.driver import driver_root
from pyaclnn.health.checks.finding import Finding, found, more, ok, value
from pyaclnn.health.report.record import Evidence

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.base.elf import SharedLibrary
    from pyaclnn.facts.explanations import Explanation
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.dependencies import Missing, Unmet

__all__ = []

_DRIVER: Final = frozenset({"libascend_hal.so", "libdcmi.so", "libdrvdsmi_host.so"})
_MOST_PATHS: Final = 20
_COMMON_ROWS: Final = frozenset({"", "driver_library", "missing"})
"""Rows about missing libraries which this check knows more about."""


def _present(context: CheckContext) -> Finding:
    libraries = context.installation.libraries
    groups = {
        "the runtime (libascendcl.so or libacl_rt.so)": libraries.runtime,
        "the operators' base (libnnopbase.so)": (libraries.base,),
        "the operators (libopapi.so or libopapi_nn.so)": libraries.operators,
    }
    for name, paths in groups.items():
        if not any(path.exists() for path in paths):
            usual = (libraries.directory / f"libopapi{part}.so" for part in ("", "_nn"))
            return found(
                "LIB-001.no_operators" if paths == libraries.operators else "LIB-001.missing",
                *(context.seen(path, ExaminedPath(path).absence()) for path in paths or usual),
                group=name,
            )
    existing = [path for paths in groups.values() for path in paths if path.exists()]
    for path in existing:
        reason = context.closure(path)
        if not isinstance(reason, Closure):
            seen = context.seen(path, reason)
            return found("LIB-001.unusable", seen, library=path.name, reason=reason)
    return ok(f"{len(existing)} libraries", *(context.seen(path, "usable") for path in existing))


def _closures(context: CheckContext) -> list[Closure]:
    """Return the closures of the first runtime, the operators' base and the operators."""
    libraries = context.installation.libraries
    runtime = [path for path in libraries.runtime if path.exists()][:1]
    paths = [*runtime, *(p for p in (libraries.base, *libraries.operators) if p.exists())]
    return [closure for closure in map(context.closure, paths) if isinstance(closure, Closure)]


def _loaded(context: CheckContext) -> list[SharedLibrary]:
    return [library for closure in _closures(context) for library in closure.libraries]


def _needed(context: CheckContext) -> Finding:
    closures = _closures(context)
    missing = {gap.name: gap for closure in closures for gap in closure.missing}
    if missing:
        return _report_missing(context, list(missing.values()))
    unmet = {str(gap): gap for closure in closures for gap in closure.unmet}
    if unmet:
        return _report_unmet(list(unmet.values()))
    count = len({library.path.name for library in _loaded(context)})
    return ok(f"every one of {count} libraries finds what it needs")


def _report_missing(context: CheckContext, gaps: list[Missing]) -> Finding:
    machine = context.machine
    first = next((gap for gap in gaps if gap.name in _DRIVER), gaps[0])
    tried = "\n".join(f"{machine.shown(p)}: {why}" for p, why in first.tried[:_MOST_PATHS])
    folder = driver_root(machine) / "lib64"
    damaged = first.obstacle(folder if first.name in _DRIVER else context.installation.root)
    places = map(os.path.realpath, search_path(machine))
    sourced = os.path.realpath(context.installation.libraries.directory) in places
    owner = _owner(f"{first.name}: cannot open shared object file: No such file or directory")
    if damaged is not None:
        outcome = "LIB-003.damaged"
    elif first.name not in _DRIVER:
        outcome = "LIB-003.absent" if sourced else "LIB-003.missing"
    elif (folder / "driver" / first.name).exists():
        outcome = "LIB-003.driver_not_found"
    elif machine.in_container:
        outcome = "LIB-003.driver_not_mounted"
    else:
        outcome = "LIB-003.driver_not_installed"
    finding = found(
        outcome,
        value("wanted by", machine.shown(first.wanted_by)),
        Evidence("path", first.name, f"every path tried:\n{tried}"),
        *(value("missing as well", gap.name) for gap in gaps if gap is not first),
        library=first.name + more(gaps, " and {} more"),
        wanted_by=first.wanted_by.name,
        path=machine.shown(damaged[0]) if damaged else "",
        reason=damaged[1] if damaged else "",
        folder=machine.shown(folder),
        script=context.script,
    )
    if damaged is None and owner is not None:
        return replace(finding, causes=owner.causes, next_step=owner.next_step)
    return finding


def _report_unmet(gaps: list[Unmet]) -> Finding:
    first = gaps[0]
    owner = _owner(str(first))
    return found(
        "LIB-003.older",
        Evidence("log", "the loader would say", "\n".join(map(str, gaps[:_MOST_PATHS]))),
        causes=owner.causes if owner else (),
        next_step=owner.next_step if owner else "",
        wanted_by=first.wanted_by.name,
        version=first.version,
        provider=first.provider,
        newest=first.newest or "none of the kind",
        more=more(gaps, " (and {} more versions)"),
    )


def _owner(text: str) -> Explanation | None:
    """Return the explanation of words of the loader, if it is about more than CANN's path."""
    row = next((key for key, _, _ in LINES.matches(text)), "")
    return None if row in _COMMON_ROWS else LINES[row].explanation


def _stubs(context: CheckContext) -> Finding:
    machine = context.machine
    stubs = [library.path for library in _loaded(context) if _is_stub(library.path)]
    folders = search_path(machine)
    names = {path.name for path in context.installation.libraries.runtime} | _DRIVER
    for name in sorted(names):
        first = next((folder / name for folder in folders if (folder / name).exists()), None)
        if first is not None and _is_stub(first):
            stubs.append(first)
    if not stubs:
        return ok("no stand-in for linking is picked up")
    return found(
        "LIB-002.stub",
        *(context.seen(path, "a stub library") for path in dict.fromkeys(stubs)),
        library=stubs[0].name,
        folder=machine.shown(stubs[0].parent),
    )


def _is_stub(path: Path) -> bool:
    return is_for_linking(path.parent) or is_for_linking(path.resolve().parent)
