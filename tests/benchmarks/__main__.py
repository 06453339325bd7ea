# SPDX-License-Identifier: Apache-2.0
"""Run benchmarks: `python -m tests.benchmarks [NAME ...] [--turns N] [--json FILE]`.

Each runs in a process of its own: a process has one backend, and one benchmark's threads and
caches are no business of the next.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from . import capture, copies, device, growth, launch, phase_1, processes, pytorch, reference
from .measure import as_data, as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .measure import Comparison

# By name: what yields its comparisons one by one, given the number of samples to take of each.
BENCHMARKS: dict[str, Callable[[int], Iterator[Comparison]]] = {
    "capture": capture.compare,
    "launch": launch.compare,
    "device": device.compare,
    "torch": pytorch.compare,
    "growth": growth.compare,
    "phase_1": phase_1.compare,
    "copies": copies.compare,
    "reference": reference.compare,
    "start": processes.compare,
    "suite": processes.compare_suite,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which to run: {', '.join(BENCHMARKS)}")
    turns = "samples of each, at least 5; 1: try whether all of them work"
    parser.add_argument("--turns", type=int, default=7, help=turns)
    parser.add_argument("--json", type=Path, help="a file to write the figures to")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")

    names = chosen.names or list(BENCHMARKS)
    if len(names) == 1:
        figures = {names[0]: run(names[0], chosen.turns)}
    else:
        figures = {name: run_apart(name, chosen.turns) for name in names}
    if chosen.json is not None:
        machine = {
            "machine": platform.machine(),
            "system": platform.release(),
            "python": platform.python_version(),
            "processors": len(os.sched_getaffinity(0)),
        }
        report = {"machine": machine, "benchmarks": figures}
        chosen.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


def run(name: str, turns: int) -> list[dict[str, Any]]:
    """Run one benchmark here, show its table and return its figures."""
    console = Console()
    comparisons = []
    with console.status(name) as status:
        for comparison in BENCHMARKS[name](turns):
            comparisons.append(comparison)
            status.update(f"{name}: {comparison.case}")
    console.print(as_table(name, comparisons))
    return as_data(comparisons)


def run_apart(name: str, turns: int) -> list[dict[str, Any]]:
    """Run one benchmark in a process of its own."""
    with tempfile.NamedTemporaryFile(suffix=".json") as figures:
        command = [sys.executable, "-m", "tests.benchmarks", name, "--turns", str(turns)]
        subprocess.run([*command, "--json", figures.name], check=True)
        found: list[dict[str, Any]] = json.load(figures)["benchmarks"][name]
        return found


if __name__ == "__main__":
    main()
