# SPDX-License-Identifier: Apache-2.0
"""Resources of this process: its limits, and the places in which CANN writes, by writing there."""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.limits import limits
from pyaclnn.health.checks.finding import Finding, at_path, found, ok, value

if TYPE_CHECKING:
    from pyaclnn.health.checks.context import CheckContext

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
    places = [Path(named)] if named else [Path("/tmp"), Path("/var/tmp"), Path.cwd()]  # noqa: S108  # as tempfile does
    reasons = {place: _refusal(place) for place in places}
    if all(reasons.values()):
        seen = (at_path(place, reason) for place, reason in reasons.items())
        return found("SYS-002.no_temporary", *seen, reason=f"{places[0]}: {reasons[places[0]]}")
    shared = machine.at("/dev/shm")  # noqa: S108  # the system's own
    reason = _refusal(shared) if shared.is_dir() else ""
    if reason:
        return found(
            "SYS-002.refused",
            at_path(shared, reason),
            place=machine.shown(shared),
            reason=reason,
            needed_by="processes of HCCL and PyTorch share memory there",
        )
    return ok(
        "temporary files can be written",
        *(at_path(place, reason or "can be written to") for place, reason in reasons.items()),
    )


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
