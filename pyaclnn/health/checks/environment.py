# SPDX-License-Identifier: Apache-2.0
"""Environment variables of CANN: presence, agreement with the installation, accepted values.

Source: CANN: set_env.sh of 8.1 and 9.1; CANN: runtime core/src/runtime.cc for the visible devices;
CANN: opbase for ACLNN_CACHE_LIMIT; CANN: documentation of the log variables.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.elf import ElfError, read_library
from pyaclnn.base.paths import ExaminedPath
from pyaclnn.cann.discovery import is_for_linking
from pyaclnn.cann.signatures import signatures
from pyaclnn.facts.machine import variables
from pyaclnn.health.checks.dependencies import search_path, system_directories
from pyaclnn.health.checks.digits import whole_number
from pyaclnn.health.checks.driver import device_nodes, driver_root, read_visible
from pyaclnn.health.checks.finding import Finding, found, more, ok, value
from pyaclnn.health.checks.variables import problem_of
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from pyaclnn.facts.machine import Variable
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.machine import Machine
    from pyaclnn.health.checks.variables import Problem
    from pyaclnn.health.report.record import Evidence

__all__ = []

_HOME: Final = "ASCEND_HOME_PATH"
_OLD_HOME: Final = "ASCEND_TOOLKIT_HOME"
_OPERATORS: Final = "ASCEND_OPP_PATH"
_VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"
_SHOWN: Final = 200


def _sourced(context: CheckContext) -> Finding:
    machine, script = context.machine, context.script
    named = {name: machine.environment.get(name) for name in (_HOME, _OLD_HOME, _OPERATORS)}
    seen = tuple(value(name, text or "not set") for name, text in named.items())
    if not any(named.values()):
        root = machine.shown(context.installation.root)
        return found("ENV-001.not_sourced", *seen, root=root, script=script)
    gone = {name: text for name, text in named.items() if text and not os.path.isdir(text)}  # noqa: PTH112  # never raises
    for name, folder in gone.items():
        misspelt = _misspelt(machine, name)
        if misspelt is not None:
            return misspelt
        # If only the operators' folder is gone, the script would name the same folder again.
        if list(gone) == [_OPERATORS] and context.machine.exists(Path(folder).parent):
            return found("ENV-001.operators_gone", *seen, folder=folder)
        return found("ENV-001.gone", *seen, name=name, folder=folder, script=script)
    for name in (_HOME, _OPERATORS):
        if not named[name]:
            return found("ENV-001.half", *seen, name=name, script=script)
    return _agree(context, seen)


def _agree(context: CheckContext, seen: tuple[Evidence, ...]) -> Finding:
    environment = context.machine.environment
    home, packages = ExaminedPath(environment[_HOME]), ExaminedPath(environment[_OPERATORS])
    other = environment.get(_OLD_HOME)
    if other and ExaminedPath(other).resolve() != home.resolve():
        # A folder above or inside an installation is no second one.
        misspelt = _misspelt(context.machine, _HOME) or _misspelt(context.machine, _OLD_HOME)
        if misspelt is not None:
            return misspelt
        return found("ENV-001.two_homes", *seen, script=context.script)
    # Up to 8.3 the root is a folder of links: what is below it by name may lie elsewhere.
    inside = packages.is_relative_to(home) or packages.resolve().is_relative_to(home.resolve())
    if not inside and packages.resolve() != (home / "opp").resolve():
        return found("ENV-001.other_operators", *seen, script=context.script)
    return ok("set_env.sh was sourced, and its variables agree", *seen)


def _paths(context: CheckContext) -> Finding:
    machine = context.machine
    runtimes = _runtimes(context)
    broken = any(path.is_symlink() for path in context.installation.libraries.runtime)
    directory = os.path.realpath(machine.at(context.installation.libraries.directory))
    if broken and not runtimes and directory in map(os.path.realpath, search_path(machine)):
        return ok("LD_LIBRARY_PATH leads to this installation; LIB-001 examines its libraries")
    if not runtimes:
        misspelt = _misspelt(machine, "LD_LIBRARY_PATH")
        if misspelt is not None:
            return misspelt
        path = machine.environment.get("LD_LIBRARY_PATH") or "not set"
        return found("ENV-003.no_runtime", value("LD_LIBRARY_PATH", path), script=context.script)
    evidence = [context.seen(folder, "has CANN's runtime") for folder in runtimes]
    foreign = [folder for folder, own in runtimes.items() if not own]
    if not foreign:
        whole = "the loader's path leads to this installation and to no other"
        return _preloaded(context) or _in_front(context) or ok(whole, *evidence)
    return found(
        "ENV-003.other_first" if foreign[0] is next(iter(runtimes)) else "ENV-003.several",
        *evidence,
        folder=machine.shown(foreign[0]),
        count=len(foreign) + 1,
        script=context.script,
    )


def _in_front(context: CheckContext) -> Finding | None:
    """Return the finding about a library that programs load in place of CANN's or the driver's."""
    machine, driver = context.machine, driver_root(context.machine) / "lib64"
    homes = (context.installation.libraries.directory, driver / "driver", driver / "common")
    own: dict[str, list[Path]] = {}
    for path in (path for home in homes for path in home.glob("lib*.so*")):
        own.setdefault(path.name, []).append(path)
    folders = (f for f in search_path(machine) if not is_for_linking(f))
    for path in (path for folder in folders for path in sorted(folder.glob("lib*.so*"))):
        places = own.pop(path.name, [])  # the loader takes the first of a name
        others = path.resolve() not in {place.resolve() for place in places}
        if places and others and not _is_variant(path, places[0]):
            seen = context.seen(path, f"in front of {machine.shown(places[0])}")
            status = Status.WARN if places[0].is_relative_to(driver) else None
            return found(
                "ENV-003.in_front",
                seen,
                status=status,
                library=path.name,
                folder=machine.shown(path.parent),
                own=machine.shown(places[0]),
            )
    return None


def _is_variant(path: Path, own: Path) -> bool:
    """Return whether a library is one for this processor that lies beside the one for all."""
    try:
        return path.is_relative_to(own.parent) and bool(read_library(path))
    except (ElfError, OSError):
        return False


def _preloaded(context: CheckContext) -> Finding | None:
    """Return the finding about a library of LD_PRELOAD with functions that CANN has."""
    for path in re.split("[: ]", context.machine.environment.get("LD_PRELOAD", "")):
        try:
            named = ExaminedPath(path) if path.startswith("/") else None
            exports = read_library(named, machine=platform.machine()).exports if named else ()
        except (ElfError, OSError):
            continue
        taken = sorted(signatures().keys() & exports)
        if taken:
            rest = more(taken, " and {} more")
            return found("ENV-003.preloaded", path=path, function=taken[0], more=rest)
    return None


def _runtimes(context: CheckContext) -> dict[Path, bool]:
    """Return the folders on the path with a runtime of their own, and whether of this CANN."""
    chosen = context.installation
    folder = chosen.libraries.directory.resolve().parent
    # Up to 8.3 the root is a folder of links, and the files are below the version's own.
    homes = [chosen.real, folder, folder.parent if folder.name.endswith("-linux") else folder]
    runtimes: dict[Path, Path] = {}
    # The loader's configuration may name CANN, too; then no variable is needed.
    for place in [*search_path(context.machine), *system_directories(context.machine)]:
        # The check for stub libraries reports libraries that only serve linking.
        if not is_for_linking(place):
            for path in chosen.libraries.runtime:
                if (place / path.name).exists():
                    runtimes.setdefault((place / path.name).resolve(), place)
    places: dict[Path, bool] = {}
    for real, place in runtimes.items():
        own = any(real.is_relative_to(home) for home in homes)
        places[place] = places.get(place, False) or own
    return places


def _visible(context: CheckContext) -> Finding:
    machine = context.machine
    text = machine.environment.get(_VISIBLE)
    if text is None:
        return ok(f"{_VISIBLE} is not set: every device is visible")
    simulated = machine.environment.get("PYACLNN_MOCK_DEVICES", "2")
    if not context.simulated:
        present = len(device_nodes(machine))
    else:
        present = whole_number(simulated) if simulated.isdecimal() else 0
    reading = read_visible(text, present)
    seen = (
        value(_VISIBLE, repr(text)),
        value("devices present", present),
        value("CANN sees", ", ".join(map(str, reading.devices)) or "no device"),
    )
    if reading.problem is None:
        return ok(f"{len(reading.devices)} of {present} devices are visible", *seen)
    numbers = ",".join(str(number) for number in sorted(set(reading.meant)) if number < present)
    return found(
        "ENV-002.misread", *seen, text=repr(text), problem=reading.problem, numbers=numbers or 0
    )


def _values(context: CheckContext) -> Finding:
    environment = context.machine.environment
    set_ones = [row for row in variables() if environment.get(row.name)]
    wrong = [(row, p) for row in set_ones if (p := problem_of(context.machine, row))]
    if not wrong:
        return ok("the other variables that CANN reads have values it accepts")
    return _wrong(context.machine, wrong, vital=wrong[0][0].vital)


def _misspelt(machine: Machine, name: str) -> Finding | None:
    """Return the finding about a variable whose value is nearly right; None if it is not."""
    (row,) = (row for row in variables() if row.name == name)
    problem = problem_of(machine, row) if machine.environment.get(name) else None
    return _wrong(machine, [(row, problem)], vital=True) if problem and problem.repair else None


def _wrong(machine: Machine, wrong: list[tuple[Variable, Problem]], *, vital: bool) -> Finding:
    """Build the finding of values that are wrong."""
    environment, (row, problem) = machine.environment, wrong[0]
    return found(
        problem.outcome,
        *(value(r.name, f"{environment[r.name][:_SHOWN]!r}: {p.words}") for r, p in wrong),
        status=Status.FAIL if vital and problem.outcome == "ENV-004.misplaced" else None,
        name=row.name,
        text=repr(environment[row.name][:_SHOWN]),
        folder=problem.path[:_SHOWN],
        words=problem.words,
        needed_by=row.needed_by,
        repair=problem.repair,
    )
