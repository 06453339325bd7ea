# SPDX-License-Identifier: Apache-2.0
"""The child's step that soaks the device: what came of it, and what it cost."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.status import meaning
from pyaclnn.health.checks.finding import Finding, ok, value, warn
from pyaclnn.health.checks.numbers import SOAK
from pyaclnn.health.child.evaluation import judged
from pyaclnn.health.child.failures import advice_for
from pyaclnn.health.child.footprint import growth, settled
from pyaclnn.health.child.sensors import SensorWatch
from pyaclnn.health.child.soak import Soak
from pyaclnn.health.report.figure import Figure
from pyaclnn.health.report.record import Status
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.mock.control.injection import faults, injected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyaclnn.health.child.footprint import Footprint
    from pyaclnn.health.child.session import Session
    from pyaclnn.health.report.record import Evidence
    from pyaclnn.mock.control.injection import Fault

__all__ = ["STEPS", "ended_by_signal", "judged_soak", "leaking"]

_CODE: Final = re.compile(r"=(?:after:|async:)?(\d+)$")
_MUCH_MEMORY: Final = 32 << 20
"""Bytes that a process may have grown by; less says nothing about a leak."""
_MANY_FILES: Final = 16
_ENOUGH: Final = 20_000
"""Launches, without which growth may be that of pools and caches."""


def _soak(session: Session) -> Finding:
    task = session.task
    cases = smoke.cases(session.device, smoke.SHAPES[:1])
    soak, text = Soak(session.device, cases, task.soak_threads), task.soak_faults
    sensors = SensorWatch(session.device_id, os.environ)
    if text and "seed=" not in text:
        text = f"{text}; seed={os.getpid()}"
    try:
        with faults(text) if text else contextlib.nullcontext(), ended_by_signal(soak):
            soak.run(task.soak, watch=None if task.simulated else sensors.look)
            fired = injected()
    except (ValueError, RuntimeError) as error:
        if not text or soak.launches:
            raise
        return Finding(
            Status.ERROR,
            str(error),
            causes=("--soak-faults is for the simulated NPU",),
            next_step="pyaclnn mock faults",
        )
    found = judged_soak(soak, fired)
    early = f"; ended after {soak.seconds:.1f} of {task.soak:g} s" if soak.asked else ""
    return replace(
        found,
        summary=f"{found.summary}{early}",
        evidence=found.evidence + _seen(soak, fired),
        figures=_figures(soak) + sensors.figures("soak"),
    )


@contextlib.contextmanager
def ended_by_signal(soak: Soak) -> Iterator[None]:
    """Have a soak end at SIGTERM, so that it tells what it found.

    Args:
        soak: The soak.

    Yields:
        Nothing.
    """

    def end(*_: object) -> None:
        soak.asked = True

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def judged_soak(soak: Soak, fired: Sequence[Fault]) -> Finding:
    """Judge a soak: nothing may fail or be wrong but what was made to, and nothing may pile up.

    Args:
        soak: The soak, which is over.
        fired: The faults that were set, and how often they came about.
    """
    codes = {int(match[1]) for fault in fired if (match := _CODE.search(fault.text))}
    spoilt = sum(fault.effects for fault in fired if fault.text.endswith("=wrong"))
    failed = {code: count for code, count in soak.errors.items() if code not in codes}
    if soak.wrong > spoilt:
        found = judged(soak.first_wrong)
        words = f"{soak.wrong} of {soak.launches} launches gave wrong results"
        words += f", and only {spoilt} were made to" if spoilt else ""
        return replace(found, summary=f"{words}; {found.summary}")
    if failed:
        return _failing(failed, soak.launches)
    if not soak.launches:
        return Finding(Status.ERROR, "nothing was launched: the time was too short")
    words = f"{soak.launches} launches, every result right"
    if fired:
        words += f" but for {soak.wrong} made wrong; {soak.errors.total()} calls made to fail did"
    leak = leaking(soak.samples)
    if leak is None:
        return ok(words)
    return warn(
        f"{words}, but {leak}",
        causes=("a library of CANN keeps memory or files of work that is done",),
        next_step="soak for longer: --soak 1h tells a leak from a cache that fills",
    )


def _failing(failed: dict[int, int], launches: int) -> Finding:
    code = max(failed, key=lambda code: failed[code])
    causes, step = advice_for(code) or (("a call was refused",), "pyaclnn env")
    name = meaning(code).name
    return Finding(
        Status.FAIL,
        f"{sum(failed.values())} calls failed beside {launches} launches, most with {code} "
        f"({name})",
        causes=causes,
        next_step=step,
        code=code,
        code_name=name,
    )


def leaking(samples: Sequence[Footprint]) -> str | None:
    """Say what a process holds more and more of; None if of nothing.

    Args:
        samples: What it held, in the order of time.
    """
    late = settled(samples)
    memory, files = growth(late)
    done = (late[-1].launches - late[0].launches) / 1e6 if late else 0.0
    if done * 1e6 < _ENOUGH:
        return None
    if memory * done > _MUCH_MEMORY:
        return f"memory grows by {memory / 2**20:.0f} MiB with every million of them"
    if files * done > _MANY_FILES:
        return f"{files:.0f} more files are open after every million of them"
    return None


def _figures(soak: Soak) -> tuple[Figure, ...]:
    memory, files = growth(settled(soak.samples))
    last = soak.samples[-1]
    return (
        Figure("soak_launches", soak.launches, "count", "neither"),
        Figure("soak_launch_rate", soak.launches / soak.seconds, "1/s"),
        Figure("soak_bytes_moved", soak.moved, "bytes", "neither"),
        Figure("soak_resident", last.resident, "bytes", "neither"),
        Figure("soak_private", last.private, "bytes", "neither"),
        Figure("soak_private_growth", memory, "bytes/million", "neither"),
        Figure("soak_descriptors", last.descriptors, "count", "neither"),
        Figure("soak_descriptor_growth", files, "count/million", "neither"),
    )


def _seen(soak: Soak, fired: Sequence[Fault]) -> tuple[Evidence, ...]:
    errors = ", ".join(
        f"{code} ({meaning(code).name}) {count} times" for code, count in soak.errors.most_common()
    )
    return (
        value("errors", errors or "none"),
        *(value(f"injected: {f.text}", f"{f.calls} calls, {f.effects} hit") for f in fired),
    )


STEPS: Final[dict[str, Callable[[Session], Finding | None]]] = {SOAK: _soak}
"""The function of each check."""
