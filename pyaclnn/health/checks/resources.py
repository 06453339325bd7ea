# SPDX-License-Identifier: Apache-2.0
"""Resources of this process: its limits, and the places in which CANN writes, by writing there.

Source: Linux: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/cgroups.rst.
"""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.paths import NOTHING_THERE, ExaminedPath
from pyaclnn.facts.machine import limits, places
from pyaclnn.health.checks.digits import whole_number
from pyaclnn.health.checks.finding import Finding, at_path, found, ok, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.machine import Limit, Place
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.machine import Machine

__all__ = ["refusal"]

_PROBE: Final = bytes(64 << 10)
_GROUPS: Final = Path("/sys/fs/cgroup")
_NO_LIMIT: Final = 1 << 60
"""Version 1 writes the largest number of pages where there is no limit."""


def _limits(context: CheckContext) -> Finding:
    known = [(row, _limit(context.machine, row)) for row in limits()]
    seen = tuple(value(row.name, "unlimited" if soft is None else soft) for row, soft in known)
    for outcome, least in (("SYS-001.low", "needs"), ("SYS-001.tight", "wants")):
        for row, soft in known:
            needs = getattr(row, least)
            if soft is not None and soft < needs:
                return found(
                    outcome, *seen, name=row.name, value=soft, needs=needs, advice=row.advice
                )
    return ok("the limits of this process are high enough", *seen)


def _limit(machine: Machine, row: Limit) -> int | None:
    """Return the value of a limit; None if there is none."""
    if row.resource:
        soft = resource.getrlimit(getattr(resource, row.resource))[0]
        return None if soft == resource.RLIM_INFINITY else soft
    texts = (machine.text(place / file) or "" for place in _groups(machine) for file in row.files)
    limits = [whole_number(text) for text in map(str.strip, texts) if text.isdecimal()]
    return min((limit for limit in limits if limit < _NO_LIMIT), default=None)


def _groups(machine: Machine) -> Iterator[Path]:
    """Yield the folders of this process's control groups, and of those around them."""
    yield _GROUPS
    for line in (machine.text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        inner = Path(path.lstrip("/"))
        yield from (_GROUPS / controllers / place for place in (inner, *inner.parents))


def _places(context: CheckContext) -> Finding:
    machine = context.machine
    named = machine.temporary
    usual = [Path(named)] if named else [Path("/tmp"), Path("/var/tmp"), Path.cwd()]  # noqa: S108  # as tempfile does
    reasons = {place: refusal(place) for place in usual}
    if all(reasons.values()):
        seen = (at_path(place, reason) for place, reason in reasons.items())
        return found("SYS-002.no_temporary", *seen, reason=f"{usual[0]}: {reasons[usual[0]]}")
    for row in places():
        place = _existing(machine, row)
        if place is None:
            continue
        refused = _refused(machine, place)
        if reason := refused or _lack(place, row.free):
            return found(
                "SYS-002.refused" if refused else "SYS-002.full",
                context.seen(place, machine.owner(place)),
                place=machine.shown(place),
                reason=reason,
                needed_by=row.needed_by,
            )
    return ok(
        "files can be written wherever CANN writes",
        *(at_path(place, reason or "can be written to") for place, reason in reasons.items()),
    )


def _existing(machine: Machine, row: Place) -> ExaminedPath | None:
    """Return the folder of a row, or of one in the home that above it, in which it would be made.

    None if a variable names it, which the check of variables examines, if the user has no home, or
    if there is no such folder elsewhere.
    """
    if any(machine.environment.get(name) for name in row.variables):
        return None
    if row.default.startswith("~/"):
        place = machine.at(machine.home / row.default[2:])
        while place.absence() == NOTHING_THERE and place != place.parent:
            place = place.parent
        return place if machine.environment.get("HOME") else None
    given = ExaminedPath(row.default)
    place = machine.at(given) if given.is_absolute() else given
    return place if place.exists() else None


def _refused(machine: Machine, place: ExaminedPath) -> str:
    """Return why a folder cannot be written to by the examined user; empty if it can."""
    if not place.is_dir():
        return f"it is {place.absence() or 'no folder'}"
    if not machine.may(place, "wx"):
        return "Permission denied"
    return refusal(place)


def _lack(folder: Path, needs: int) -> str:
    """Return what too little space is free in a folder; empty if there is enough."""
    free = shutil.disk_usage(folder).free
    return f"{free >> 20} MiB are free, {needs >> 20} are needed" if free < needs else ""


def refusal(folder: Path) -> str:
    """Return the reason why no file can be written in a folder; empty if one can.

    Args:
        folder: The folder, in which a file is made and removed.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix="pyaclnn-", buffering=0) as file:
            written = file.write(_PROBE)
            if written != len(_PROBE):
                return "the disk is full"
            os.fsync(file.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return ""
