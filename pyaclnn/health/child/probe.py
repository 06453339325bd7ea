# SPDX-License-Identifier: Apache-2.0
"""The child process: does its steps one by one and writes down each before it begins the next.

Run as ``python -m pyaclnn.health.child.probe REQUEST.json``; see ``isolation`` for the other side.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
import traceback
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import AclError
from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.device import THE_END
from pyaclnn.health.checks.finding import Finding
from pyaclnn.health.child import (
    device_steps as probe_device,
    figure_steps as probe_figures,
    memory_steps as probe_memory,
    number_steps as probe_numbers,
    runtime_steps as probe_runtime,
    sensor_steps as probe_sensors,
    soak_steps as probe_soak,
)
from pyaclnn.health.child.failures import from_error
from pyaclnn.health.child.journal import arm, take_request
from pyaclnn.health.child.session import Session
from pyaclnn.health.report.record import Evidence, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["main", "remark"]

_SLOW: Final = 15.0
_MAY_BE_SLOW: Final = frozenset({"numbers", "soak", "memory"})
_STEPS: Final = {
    **probe_runtime.STEPS,
    **probe_device.STEPS,
    **probe_numbers.STEPS,
    **probe_soak.STEPS,
    **probe_figures.STEPS,
    **probe_memory.STEPS,
    **probe_sensors.STEPS,
}


def main(arguments: Sequence[str]) -> int:
    """Run the steps of a request.

    Args:
        arguments: The path of the request.

    Returns:
        0 if every step came to an end, whatever it found.
    """
    request, journal = take_request(arguments)
    journal.write(request["steps"][0])
    session = Session(request, journal.facts)
    passed: dict[str, bool] = {}
    for identity in request["steps"]:
        journal.write(identity)
        arm(request["deadlines"][identity])
        begun = time.monotonic()
        finding = _run(identity, session, passed)
        passed[identity] = finding is None or finding.status.passed
        if identity == THE_END and finding is None:
            # How the process ends is for the parent to see.
            journal.write(THE_END, done=True)
            return 0
        assert finding is not None  # noqa: S101  # only the end says nothing of itself
        seconds = time.monotonic() - begun
        finding = remark(finding, identity, seconds)
        journal.results.append(find(identity).result(finding, seconds, request["device"]))
    journal.write(None, done=True)
    return 0


def remark(finding: Finding, identity: str, seconds: float) -> Finding:
    """Remark that what passed took long; kernels of operators may have to be compiled first.

    Args:
        finding: What a step found.
        identity: The step.
        seconds: How long it took.
    """
    if finding.status is not Status.PASS or seconds < _SLOW or find(identity).group in _MAY_BE_SLOW:
        return finding
    return dataclasses.replace(
        finding,
        status=Status.WARN,
        summary=f"{finding.summary}; but that took {seconds:.0f} s",
        causes=(
            "another process keeps the device or the driver busy",
            "CANN lies on a slow disk or a network folder",
        ),
        next_step="npu-smi info -t usages -i 0",
    )


def _run(identity: str, session: Session, passed: Mapping[str, bool]) -> Finding | None:
    lacking = [need for need in find(identity).needs if not passed.get(need, True)]
    if lacking:
        return Finding(Status.NOT_RUN, f"not tried, because {lacking[0]} did not pass")
    try:
        return _STEPS[identity](session)
    except AclError as error:
        return from_error(error)
    except MemoryError:
        return Finding(Status.ERROR, "this host has too little memory for the check")
    except Exception as error:  # noqa: BLE001  # whatever it is, it becomes a result
        place = Evidence("traceback", type(error).__name__, traceback.format_exc())
        return Finding(
            Status.ERROR,
            f"the check itself failed: {type(error).__name__}: {error}",
            (place,),
            ("a mistake in pyaclnn",),
            "report it, with the output of --bundle",
        )


if __name__ == "__main__":
    # What is printed by CANN at the very end must not be lost in a buffer.
    status = main(sys.argv[1:])
    sys.stdout.flush()
    if status:
        os._exit(status)
