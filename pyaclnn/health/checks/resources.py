# SPDX-License-Identifier: Apache-2.0
"""Resources of this process: its limits, and the places in which CANN writes, by writing there."""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.paths import ExaminedPath
from pyaclnn.facts.limits import limits
from pyaclnn.facts.places import places
from pyaclnn.health.checks.finding import Finding, at_path, found, ok, value

if TYPE_CHECKING:
    from pyaclnn.facts.places import Place
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.machine import Machine

__all__: list[str] = []

_PROBE: Final = bytes(64 << 10)


def _limits(_: CheckContext) -> Finding:
    known = [(row, resource.getrlimit(getattr(resource, row.resource))[0]) for row in limits()]
    seen = tuple(value(row.name, _written(soft)) for row, soft in known)
    for outcome, least in (("SYS-001.low", "needs"), ("SYS-001.tight", "wants")):
        for row, soft in known:
            if soft != resource.RLIM_INFINITY and soft < getattr(row, least):
                return found(
                    outcome,
                    *seen,
                    name=row.name,
                    value=soft,
                    needs=getattr(row, least),
                    flag=row.flag,
                    option=row.option,
                    advice=row.advice,
                )
    return ok("the limits of this process are high enough", *seen)


def _written(limit: int) -> str:
    return "unlimited" if limit == resource.RLIM_INFINITY else str(limit)


def _places(context: CheckContext) -> Finding:
    machine = context.machine
    named = machine.temporary
    usual = [Path(named)] if named else [Path("/tmp"), Path("/var/tmp"), Path.cwd()]  # noqa: S108  # as tempfile does
    reasons = {place: _refusal(place) for place in usual}
    if all(reasons.values()):
        seen = (at_path(place, reason) for place, reason in reasons.items())
        return found("SYS-002.no_temporary", *seen, reason=f"{usual[0]}: {reasons[usual[0]]}")
    for row in places():
        place = _existing(machine, row)
        if place is not None and (reason := _refused(machine, place)):
            return found(
                "SYS-002.refused",
                context.seen(place, machine.owner(place)),
                place=machine.shown(place),
                reason=reason,
                needed_by=row.needed_by,
            )
    return ok(
        "files can be written wherever CANN writes",
        *(at_path(place, reason or "can be written to") for place, reason in reasons.items()),
    )


def _existing(machine: Machine, row: Place) -> Path | None:
    """Return the folder of a row, or of one in the home that above it, in which it would be made.

    None if a variable names it, which the check of variables examines, if the user has no home, or
    if there is no such folder elsewhere.
    """
    if any(machine.environment.get(name) for name in row.variables):
        return None
    if row.default.startswith("~/"):
        place = machine.at(machine.home / row.default[2:])
        while not place.exists() and place != place.parent:
            place = place.parent
        return place if machine.environment.get("HOME") else None
    given = ExaminedPath(row.default)
    place = machine.at(given) if given.is_absolute() else given
    return place if place.exists() else None


def _refused(machine: Machine, place: Path) -> str:
    """Return why a folder cannot be written to by the examined user; empty if it can."""
    if not place.is_dir():
        return "it is no folder"
    if not machine.may(place, "wx"):
        return "Permission denied"
    return _refusal(place)


def _refusal(folder: Path) -> str:
    """Return the reason why no file can be written in a folder; empty if one can."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix="pyaclnn-", buffering=0) as file:
            written = file.write(_PROBE)
            if written != len(_PROBE):
                return "the disk is full"
            os.fsync(file.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return ""
