# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn smoke``: runs the cases in a child process, and reports them.

Only the child loads CANN. A library that calls ``exit(0)``, crashes or hangs there is reported, and
is never a success.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console

from pyaclnn.base.limits import limits_on_memory
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.cann.library import Backend
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.description import snake_case
from pyaclnn.health.checks.context import CheckContext, Options
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.child.isolation import MOST_OUTPUT, ChildOutcome, run_child
from pyaclnn.health.child.journal import ChildTask
from pyaclnn.health.child.processes import Terminated, signal_name, terminable
from pyaclnn.health.report.codec import read
from pyaclnn.health.report.record import Exit, Number
from pyaclnn.health.smoke import report
from pyaclnn.health.smoke.cases import FLOATS

if TYPE_CHECKING:
    import argparse

__all__ = ["BROKEN_OFF", "FAILED", "PATIENCE", "UNUSABLE", "run"]

FAILED: Final = 1
"""Exit status: an output is wrong."""
UNUSABLE: Final = 2
"""Exit status: nothing could run."""
BROKEN_OFF: Final = 3
"""Exit status: the process that used CANN ended, crashed or hung in the middle."""

PATIENCE: Final = 120.0
"""Seconds that a single step may take, the compilation of a kernel included."""
_GRACE: Final = 3.0


def run(options: argparse.Namespace, patience: float = PATIENCE) -> int:
    """Run the smoke test and print its results.

    Args:
        options: The command line.
        patience: Seconds that a single step may take.

    Returns:
        The exit status.
    """
    operators, dtypes = tuple(options.operator or ()), tuple(options.dtype or ())
    for given, known, what in (
        (operators, list(all_operators()), "operator"),
        (dtypes, [str(dtype) for dtype in FLOATS], "dtype"),
    ):
        for name in given:
            if name not in known:
                word = snake_case(name.removeprefix("aclnn"))
                # fp16 shares half of its letters with float16.
                question = did_you_mean(word, known, quote="", likeness=0.5)
                hint = question or f"there are {', '.join(known)}"
                _message(f"there is no {what} '{name}' in the smoke test; {hint}")
                return UNUSABLE
    task = ChildTask(
        options.backend,
        options.device,
        operators,
        patience=patience,
        folder=str(Path.cwd()),
        dtypes=dtypes,
        iterations=options.iterations,
    )
    try:
        with terminable():
            outcome = _supervised(task)
    except Terminated as end:
        with contextlib.suppress(OSError):  # after SIGHUP the terminal may be closed
            _message(f"ended by {end.name}")
        return end.status
    facts = outcome.facts
    if outcome.ended != "done":
        for text in (_how_it_ended(outcome), _limits(), outcome.log, outcome.error):
            if text:
                _message(text)
        return BROKEN_OFF
    if "error" in facts:
        _message(facts["error"])
        return Exit.NOTHING_HERE if _nothing_here(options.backend) else UNUSABLE
    return _show(outcome, options)


def _nothing_here(backend: str | None) -> bool:
    """Return whether there is no CANN at all, which has an exit status of its own."""
    context = CheckContext(Machine(), Options(backend=backend))
    return context.choice == "cann" and not context.installations and not context.traces


def _show(outcome: ChildOutcome, options: argparse.Namespace) -> int:
    facts = outcome.facts
    backend = Backend(facts["backend"], Path(facts["directory"]), {})
    outcomes = [read(Number, data) for data in outcome.results]
    if options.json:
        sys.stdout.write(report.as_json(backend, facts["soc_name"], outcomes) + "\n")
    else:
        report.as_text(backend, facts["soc_name"], outcomes, every_output=options.table)
    if not outcomes:
        return UNUSABLE
    return 0 if all(one.passed for one in outcomes) else FAILED


def _supervised(task: ChildTask) -> ChildOutcome:
    console = Console(stderr=True)
    shown = console.status("smoke test") if console.is_terminal else None
    folder = tempfile.TemporaryDirectory(prefix="pyaclnn-smoke-", ignore_cleanup_errors=True)
    with folder as scratch, shown or contextlib.nullcontext():
        return run_child(
            task,
            os.environ,
            Path(scratch),
            grace=_GRACE,
            stop=threading.Event(),
            on_step=lambda step, *_: shown.update(f"smoke test: {step}") if shown else None,
            module="pyaclnn.health.child.smoke",
        )


def _how_it_ended(outcome: ChildOutcome) -> str:
    step = outcome.running or "the process starts"
    if outcome.ended == "flood":
        return f"more than {MOST_OUTPUT >> 20} MiB of output while trying: {step}"
    if outcome.ended in {"timeout", "abandoned"}:
        left = f"; process {outcome.pid} cannot be ended" if outcome.ended == "abandoned" else ""
        return f"no answer for {outcome.seconds:.0f} s while trying: {step}{left}"
    code = outcome.returncode or 0
    if code >= 0:
        how = f"ended in the middle with status {code}"
    else:
        how = f"was ended by {signal_name(-code)}"
    return f"the process that uses the backend {how} while trying: {step}"


def _limits() -> str:
    limits = limits_on_memory()
    return f"as every process that is started here, it may have {limits}" if limits else ""


def _message(text: str) -> None:
    sys.stderr.write(f"pyaclnn: {text}\n")
