# SPDX-License-Identifier: Apache-2.0
"""Do the environment variables say the truth about the installation?

Source: CANN: set_env.sh of 8.1 and 9.1; CANN: runtime core/src/runtime.cc for the visible devices;
CANN: opbase for ACLNN_CACHE_LIMIT; CANN: documentation of the log variables.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.dependencies import search_path
from pyaclnn.health.checks.finding import Finding, at_path, fail, ok, value, warn
from pyaclnn.health.checks.nodes import device_nodes
from pyaclnn.health.checks.visible import read_visible

if TYPE_CHECKING:
    from pyaclnn.health.checks.check_context import Site
    from pyaclnn.health.report.record import Evidence

__all__ = ["CHECKS"]

_HOMES: Final = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
_OPERATORS: Final = "ASCEND_OPP_PATH"
_VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"
_PATTERNS: Final = {
    "ACLNN_CACHE_LIMIT": (r"\d+", "a number, at most 10000000"),
    "ASCEND_GLOBAL_EVENT_ENABLE": (r"[01]", "0 or 1"),
    "ASCEND_GLOBAL_LOG_LEVEL": (r"[0-4]", "0 (debug) to 4 (off)"),
    "ASCEND_SLOG_PRINT_TO_STDOUT": (r"[01]", "0 or 1"),
    "ASCEND_LAUNCH_BLOCKING": (r"[01]", "0 or 1"),
}


def _sourced(site: Site) -> Finding:
    environment, machine = site.machine.environment, site.machine
    script = machine.shown(site.installation.set_env)
    names = (*_HOMES, _OPERATORS)
    seen = tuple(value(name, environment.get(name) or "not set") for name in names)
    source = f"source {script}"
    if not any(environment.get(name) for name in names):
        return fail(
            f"CANN is installed in {machine.shown(site.installation.root)}, but its set_env.sh was "
            "not sourced",
            *seen,
            causes=(
                "the shell, service or container entry point does not source it",
                "sudo, ssh or a scheduler started with a clean environment",
            ),
            next_step=source,
        )
    gone = [
        name for name in names if environment.get(name) and not Path(environment[name]).is_dir()
    ]
    if gone == [_OPERATORS] and Path(environment[_OPERATORS]).parent.is_dir():
        # The script would only name the same folder again.
        return fail(
            f"the folder of the operator packages is gone: {environment[_OPERATORS]}",
            *seen,
            causes=(
                "the operator packages were removed, or their installation was interrupted",
                "in a container: the folder is not mounted",
            ),
            next_step="install the operator package of your chip again, in the toolkit's version",
        )
    if gone:
        return fail(
            f"{gone[0]} names a folder that does not exist: {environment[gone[0]]}",
            *seen,
            causes=(
                "the variable is of a CANN that was removed or updated since",
                "in a container: the folder is not mounted",
            ),
            next_step=f"{source}, and take the old one out of ~/.bashrc",
        )
    unset = [name for name in ("ASCEND_HOME_PATH", _OPERATORS) if not environment.get(name)]
    if unset:
        return fail(
            f"half of CANN's environment is missing: {unset[0]} is not set",
            *seen,
            causes=(
                "variables were set by hand instead of sourcing set_env.sh",
                "set_env.sh ended early: its shell may have reported an error",
            ),
            next_step=source,
        )
    return _agree(site, seen, source)


def _agree(site: Site, seen: tuple[Evidence, ...], source: str) -> Finding:
    environment = site.machine.environment
    home = Path(environment["ASCEND_HOME_PATH"])
    other = environment.get("ASCEND_TOOLKIT_HOME")
    if other and Path(other).resolve() != home.resolve():
        return fail(
            "ASCEND_HOME_PATH and ASCEND_TOOLKIT_HOME name two different installations",
            *seen,
            causes=("the set_env.sh of two versions were sourced one after the other",),
            next_step=f"open a new shell, then only: {source}",
        )
    packages = Path(environment[_OPERATORS])
    # Up to 8.3 the root is a folder of links: what is below it by name may lie elsewhere.
    inside = packages.is_relative_to(home) or packages.resolve().is_relative_to(home.resolve())
    if not inside and packages.resolve() != (home / "opp").resolve():
        return fail(
            "ASCEND_OPP_PATH belongs to another installation than ASCEND_HOME_PATH",
            *seen,
            causes=("the set_env.sh of two versions were sourced one after the other",),
            next_step=f"open a new shell, then only: {source}",
        )
    return ok("set_env.sh was sourced, and its variables agree", *seen)


def _paths(site: Site) -> Finding:
    machine = site.machine
    chosen = site.installation
    source = f"source {machine.shown(chosen.set_env)}"
    found = _runtimes(site)
    evidence = tuple(at_path(machine.shown(folder), "has CANN's runtime") for folder, _ in found)
    if not found:
        return fail(
            "LD_LIBRARY_PATH does not lead to CANN's libraries",
            value("LD_LIBRARY_PATH", machine.environment.get("LD_LIBRARY_PATH") or "not set"),
            causes=(
                "set_env.sh was sourced only in part, or LD_LIBRARY_PATH was overwritten later",
                "sudo removes the variable",
            ),
            next_step=source,
        )
    foreign = [folder for folder, own in found if not own]
    if not found[0][1]:
        return fail(
            f"programs load CANN from {machine.shown(foreign[0])}, not from the installation that "
            "ASCEND_HOME_PATH names",
            *evidence,
            causes=(
                "LD_LIBRARY_PATH still has another CANN in front",
                "the set_env.sh of two versions were sourced one after the other",
            ),
            next_step=f"open a new shell, then only: {source}",
        )
    if foreign:
        return warn(
            f"LD_LIBRARY_PATH has {len(foreign) + 1} different CANNs",
            *evidence,
            causes=("the set_env.sh of two versions were sourced one after the other",),
            next_step=f"open a new shell, then only: {source}",
        )
    return ok("LD_LIBRARY_PATH leads to this installation and to no other", *evidence)


def _runtimes(site: Site) -> list[tuple[Path, bool]]:
    """The folders on the path with a runtime of their own, and whether it is of this CANN."""
    chosen = site.installation
    folder = chosen.libraries.directory.resolve().parent
    # Up to 8.3 the root is a folder of links, and the files are below the version's own.
    homes = [chosen.real, folder, folder.parent if folder.name.endswith("-linux") else folder]
    runtimes: dict[Path, Path] = {}
    for place in search_path(site.machine):
        # Stand-ins for linking are the business of the check for stub libraries.
        if place.name not in {"devlib", "stub"}:
            for path in chosen.libraries.runtime:
                if (place / path.name).exists():
                    runtimes.setdefault((place / path.name).resolve(), place)
    places: dict[Path, bool] = {}
    for real, place in runtimes.items():
        own = any(real.is_relative_to(home) for home in homes)
        places[place] = places.get(place, False) or own
    return list(places.items())


def _visible(site: Site) -> Finding:
    text = site.machine.environment.get(_VISIBLE)
    if text is None:
        return ok(f"{_VISIBLE} is not set: every device is visible")
    present = len(device_nodes(site.machine)) if site.examines_hardware else _simulated(site)
    reading = read_visible(text, present)
    seen = (
        value(_VISIBLE, repr(text)),
        value("devices present", present),
        value("CANN sees", ", ".join(map(str, reading.devices)) or "no device"),
    )
    if reading.problem is None:
        return ok(f"{len(reading.devices)} of {present} devices are visible", *seen)
    wish = ",".join(str(number) for number in sorted(set(reading.meant)) if number < present)
    return fail(
        f"{_VISIBLE}={text!r}: {reading.problem}",
        *seen,
        causes=(
            (
                "CANN wants ascending, unique numbers and commas, nothing else, and stops reading "
                "without a word at the first thing that is different"
            ),
        ),
        next_step=f"export {_VISIBLE}={wish or 0}",
    )


def _simulated(site: Site) -> int:
    text = site.machine.environment.get("PYACLNN_MOCK_DEVICES", "2")
    return int(text) if text.isdigit() else 0


def _values(site: Site) -> Finding:
    environment = site.machine.environment
    bad = [
        (name, environment[name], words)
        for name, (pattern, words) in _PATTERNS.items()
        if environment.get(name) and not re.fullmatch(pattern, environment[name])
    ]
    if bad:
        name, text, words = bad[0]
        return fail(
            f"{name} is {text!r}; it must be {words}",
            *(value(name, f"{text!r}: must be {words}") for name, text, words in bad),
            causes=("a typing error, or a value of another program's variable",),
            next_step=f"unset {name}",
        )
    log = environment.get("ASCEND_PROCESS_LOG_PATH") or environment.get("ASCEND_WORK_PATH")
    if log and os.path.isdir(log) and not site.machine.may(Path(log), "wx"):  # noqa: PTH112  # a string from outside
        return warn(
            f"CANN cannot write its log: {log} may not be written to",
            at_path(log, site.machine.owner(Path(log))),
            causes=("the folder belongs to another user",),
            next_step="export ASCEND_PROCESS_LOG_PATH=$HOME/ascend/log",
        )
    return ok("the other variables that CANN reads have values it accepts")


_check = functools.partial(Check, category="environment")
CHECKS: Final = (
    _check(
        "ENV-001",
        "variables of set_env.sh",
        "ASCEND_HOME_PATH and ASCEND_OPP_PATH are needed at run time, to find the operator "
        "packages. They must be set, exist, and belong to the same installation; otherwise "
        "operators fail with 561107, 561112 or E20002.",
        _sourced,
        hardware=True,
        needs=("CANN-001",),
    ),
    _check(
        "ENV-002",
        "visible devices",
        "ASCEND_RT_VISIBLE_DEVICES must be ascending, unique numbers of existing devices, "
        "separated by commas, without spaces. CANN stops reading at the first other thing and says "
        "nothing; a list out of order, or with a repetition, leaves no device at all (207004).",
        _visible,
        needs=("CANN-001", "HW-001"),
    ),
    _check(
        "ENV-003",
        "library path",
        "LD_LIBRARY_PATH must lead to the libraries of the installation that ASCEND_HOME_PATH "
        "names, first and only. A second CANN on it mixes libraries of two versions.",
        _paths,
        hardware=True,
        needs=("CANN-001", "ENV-001"),
    ),
    _check(
        "ENV-004",
        "values of other variables",
        "A value that CANN does not accept shows as EE2002, or is ignored.",
        _values,
    ),
)
