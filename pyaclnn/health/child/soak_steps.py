# SPDX-License-Identifier: Apache-2.0
"""Step of a child that soaks the device: its finding and its figures."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.status import meaning
from pyaclnn.health.checks.finding import Finding, found, ok, value
from pyaclnn.health.checks.numbers import SOAK
from pyaclnn.health.child.evaluation import evaluate
from pyaclnn.health.child.failures import advice_for
from pyaclnn.health.child.footprint import growth, settled
from pyaclnn.health.child.sensors import SensorWatch
from pyaclnn.health.child.soak import Soak
from pyaclnn.health.report.record import Figure, Status
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.mock.control.injection import faults, injected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyaclnn.health.child.footprint import Footprint
    from pyaclnn.health.child.session import Session
    from pyaclnn.health.report.record import Evidence
    from pyaclnn.mock.control.injection import Fault

__all__ = ["STEPS", "ended_by_signal", "evaluate_soak", "leaking"]

_CODE: Final = re.compile(r"=(?:after:|async:)?(\d+)$")
_MUCH_MEMORY: Final = 32 << 20
"""Bytes of growth below which no leak is reported."""
_MANY_FILES: Final = 16
_ENOUGH: Final = 20_000
"""Launches below which growth may be that of pools and caches."""


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
        return found("NUM-302.no_faults", reason=error)
    finding = evaluate_soak(soak, fired)
    early = f"; ended after {soak.seconds:.1f} of {task.soak:g} s" if soak.asked else ""
    return replace(
        finding,
        summary=f"{finding.summary}{early}",
        evidence=finding.evidence + _evidence(soak, fired),
        figures=_figures(soak) + sensors.figures("soak"),
    )


@contextlib.contextmanager
def ended_by_signal(soak: Soak) -> Iterator[None]:
    """Have a soak end at SIGTERM, so that it reports its findings.

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


def evaluate_soak(soak: Soak, fired: Sequence[Fault]) -> Finding:
    """Build the finding of a soak: only injected faults may show, and no resource may grow.

    Args:
        soak: The soak, which is complete.
        fired: The injected faults, with their effects.
    """
    codes = {int(match[1]) for fault in fired if (match := _CODE.search(fault.text))}
    spoilt = sum(fault.effects for fault in fired if fault.text.endswith("=wrong"))
    failed = Counter({code: n for code, n in soak.errors.items() if code not in codes})
    if soak.wrong > spoilt:
        finding = evaluate(soak.first_wrong)
        words = f"{soak.wrong} of {soak.launches} launches gave wrong results"
        words += f", and only {spoilt} were made to" if spoilt else ""
        return replace(finding, summary=f"{words}; {finding.summary}")
    if failed:
        [(code, _)], count = failed.most_common(1), failed.total()
        name = meaning(code).name
        words = f"{count} calls failed beside {soak.launches} launches, most with {code} ({name})"
        return Finding(Status.FAIL, words, (), *advice_for(code), code, name)
    if not soak.launches:
        return Finding(Status.ERROR, "nothing was launched: the time was too short")
    words = f"{soak.launches} launches, every result right"
    if fired:
        words += f" but for {soak.wrong} made wrong; {soak.errors.total()} calls made to fail did"
    leak = leaking(soak.samples)
    return ok(words) if leak is None else found("NUM-302.leak", launches=words, leak=leak)


def leaking(samples: Sequence[Footprint]) -> str | None:
    """Return which resource a process holds more and more of, in words; None if none grows.

    Args:
        samples: Footprints in the order of time.
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


def _evidence(soak: Soak, fired: Sequence[Fault]) -> tuple[Evidence, ...]:
    errors = ", ".join(
        f"{code} ({meaning(code).name}) {count} times" for code, count in soak.errors.most_common()
    )
    return (
        value("errors", errors or "none"),
        *(value(f"injected: {f.text}", f"{f.calls} calls, {f.effects} hit") for f in fired),
    )


STEPS: Final[dict[str, Callable[[Session], Finding]]] = {SOAK: _soak}
"""The function of each check."""
