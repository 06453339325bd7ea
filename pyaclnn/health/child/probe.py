# SPDX-License-Identifier: Apache-2.0
"""Program of the doctor's child: runs its steps one by one, and announces each of them.

Run as ``python -m pyaclnn.health.child.probe TASK.json PIPE PARENT`` by `isolation`.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
import traceback
import warnings
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import AclError, CleanupWarning, text_of
from pyaclnn.health.checks.catalogue import THE_END, find
from pyaclnn.health.checks.finding import Finding, found, skip
from pyaclnn.health.child.failures import from_error
from pyaclnn.health.child.journal import take_task
from pyaclnn.health.child.session import Session
from pyaclnn.health.report.record import Evidence, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.health.checks.catalogue import Check

__all__ = ["main", "remark", "run_step", "step_of"]

_SLOW: Final = 15.0
_MOST_RELEASES: Final = 8
_MAY_BE_SLOW: Final = frozenset({"numbers", "soak", "memory"})


def main(arguments: Sequence[str]) -> int:
    """Run the steps of a task.

    Args:
        arguments: As `take_task` expects them.

    Returns:
        0 if every step completed, whatever it found.
    """
    task, journal = take_task(arguments)
    session = Session(task)
    passed: dict[str, bool] = {}
    for identity in task.steps:
        session.begin = partial(journal.begin, identity, task.deadlines[identity])
        session.begin()
        begun = time.monotonic()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", CleanupWarning)
            finding = run_step(identity, session, passed)
        finding = _with_releases(finding, caught)
        passed[identity] = finding is None or finding.status.passed
        if finding is None:  # the end of the process, which the parent sees
            journal.write(done=True)
            return 0
        seconds = time.monotonic() - begun
        finding = remark(finding, identity, seconds, simulated=task.simulated)
        result = find(identity).result(finding, seconds, task.device)
        journal.write(result=result, facts=session.facts)
    journal.begin(None, max(task.deadlines.values()))
    journal.write(done=True)
    return 0


def step_of(identity: str) -> Callable[[Session], Finding]:
    """Return the function of a check that runs in a child.

    Args:
        identity: The check's id.
    """
    check = find(identity)
    step: Callable[[Session], Finding] = getattr(
        import_module(f"{__package__}.steps.{check.module}"), f"_{check.implementation}"
    )
    return step


def remark(finding: Finding, identity: str, seconds: float, *, simulated: bool) -> Finding:
    """Add a warning to a finding that passed after long; kernels may have to be compiled first.

    The simulated NPU is as slow as the machine, which says nothing about a device or its driver.

    Args:
        finding: The finding of a step.
        identity: The step.
        seconds: Its duration.
        simulated: True if the NPU is simulated.
    """
    may_be_slow = simulated or find(identity).group in _MAY_BE_SLOW
    if finding.status is not Status.PASS or seconds < _SLOW or may_be_slow:
        return finding
    slow = found("DEV-111.slow", summary=finding.summary, seconds=seconds)
    changes = {name: getattr(slow, name) for name in ("status", "summary", "causes", "next_step")}
    return dataclasses.replace(finding, **changes)


def _with_releases(
    finding: Finding | None, caught: Sequence[warnings.WarningMessage]
) -> Finding | None:
    """Return the finding, or one about calls that failed to give something back meanwhile."""
    failed = [str(w.message) for w in caught if issubclass(w.category, CleanupWarning)]
    if not failed or (finding is not None and not finding.status.passed):
        return finding
    seen = (Evidence("log", "release", text) for text in failed[:_MOST_RELEASES])
    return found("DEV-111.unreleased", *seen, reason=failed[0])


def _obstacle(check: Check, session: Session, passed: Mapping[str, bool]) -> Finding | None:
    """Return the reason why a step is not run; None if it is."""
    lacking = [need for need in check.needs if not passed.get(need, True)]
    if lacking:
        return Finding(Status.NOT_RUN, f"not tried, because {lacking[0]} did not pass")
    if check.hardware and session.task.simulated:
        return skip("the simulated NPU has no need of it")
    if check.once and session.stand_in is not None:
        return skip(f"simulated device {session.stand_in} does it, with the same kernels")
    return None


def run_step(identity: str, session: Session, passed: Mapping[str, bool]) -> Finding | None:
    """Run a step; None stands for the end of the process.

    Args:
        identity: The step.
        session: The state of the child.
        passed: True if each step before it passed.
    """
    obstacle = _obstacle(find(identity), session, passed)
    if obstacle is not None:
        return obstacle
    try:
        if identity == THE_END:
            session.close()
            return None
        session.step = identity
        return step_of(identity)(session)
    except AclError as error:
        return from_error(error)
    except MemoryError:
        return Finding(Status.ERROR, "this host has too little memory for the check")
    except Exception as error:  # noqa: BLE001  # whatever it is, it becomes a result
        name = type(error).__name__
        trace = Evidence("traceback", name, traceback.format_exc())
        return found("DEV-111.mistake", trace, reason=f"{name}: {text_of(error)}")


if __name__ == "__main__":
    # Output of CANN at exit must not be lost in a buffer.
    status = main(sys.argv[1:])
    sys.stdout.flush()
    if status:
        os._exit(status)
