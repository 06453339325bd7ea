# SPDX-License-Identifier: Apache-2.0
"""Command of the sweep: a line of JSON for every fault that was tried, and a table at the end."""

from __future__ import annotations

import argparse
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.health.command.run import run
from tests.doctor.case import QUICK
from tests.doctor.parts import Parts, build
from tests.doctor.sweep.faults import Fault, enumerate_faults, paired, sampled
from tests.doctor.sweep.machines import Verdict, examine, strict, user_program

if TYPE_CHECKING:
    from collections.abc import Sequence

LAYOUTS: Final = ("8.1", "9.1")
DEADLINE: Final = 180.0


def main() -> int:
    """Run the sweep; return 0 if it ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="time for it; 0 for all faults"
    )
    parser.add_argument("--most", type=int, help="the number of faults, if time does not end first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", help="only faults of this kind")
    parser.add_argument("--match", default="", help="only faults with this in their text")
    parser.add_argument("--pairs", action="store_true", help="two faults at a time")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pyaclnn-sweep-"))
    try:
        return _sweep(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(options: argparse.Namespace, folder: Path) -> int:
    parts = build(folder / "parts")
    program = user_program(folder, parts)
    faults: list[Fault] = []
    for layout in LAYOUTS:
        made = strict(folder / f"healthy-{layout}", layout, parts)
        faults += enumerate_faults(made)
        run(QUICK, machine=made.machine())  # what it imports and reads, forked processes have
    chosen = [f for f in faults if options.match in str(f) and options.kind in {None, f.kind}]
    one_each = [(fault,) for fault in sampled(chosen, options.seed)]
    ordered = (paired(chosen, options.seed) if options.pairs else one_each)[: options.most]
    end = time.monotonic() + options.seconds if options.seconds else float("inf")

    def one(numbered: tuple[int, Sequence[Fault]]) -> tuple[Sequence[Fault], Verdict] | None:
        number, given = numbered
        if time.monotonic() > end:
            return None
        return given, _forked(given, folder / f"machine-{number}", parts, program)

    counts: Counter[tuple[str, str]] = Counter()
    with ThreadPoolExecutor(options.processes) as pool:
        for outcome in pool.map(one, enumerate(ordered)):
            if outcome is None:
                continue
            given, verdict = outcome
            judged = verdict.judged(given)
            counts[given[0].kind, judged] += 1
            record = {"fault": " and ".join(map(str, given)), "judged": judged, **asdict(verdict)}
            print(json.dumps(record), flush=True)  # noqa: T201
    kinds = sorted({kind for kind, _ in counts})
    tried = sum(counts.values())
    right = sum(count for (_, judged), count in counts.items() if judged == "right")
    words = [
        f"{k}: " + ", ".join(f"{j} {c}" for (o, j), c in counts.items() if o == k) for k in kinds
    ]
    summary = f"{len(faults)} faults, {tried} tried, {right} right ({right / max(tried, 1):.1%})"
    sys.stderr.write("\n".join([*words, summary]) + "\n")
    return 0


def _forked(faults: Sequence[Fault], root: Path, parts: Parts, program: Path) -> Verdict:
    """Examine a machine in a process of its own, which ends at a deadline."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _child(writing, faults, root, parts, program)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], DEADLINE)
    if not ready:
        os.killpg(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as file:
        text = file.read() if ready else b""
    os.waitpid(child, 0)
    shutil.rmtree(root, ignore_errors=True)
    if not text:
        return Verdict(works=False, output="", status=None, named=False, first="")
    return Verdict(**json.loads(text))


def _child(writing: int, faults: Sequence[Fault], root: Path, parts: Parts, program: Path) -> None:
    os.setpgid(0, 0)
    try:
        verdict = examine(faults, root, parts, program)
    except BaseException:  # noqa: BLE001  # the doctor itself failed
        verdict = Verdict(
            works=False, output="", status=-1, named=False, first=traceback.format_exc()[-3000:]
        )
    os.write(writing, json.dumps(asdict(verdict)).encode())
    os._exit(0)


sys.exit(main())
