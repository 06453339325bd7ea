# SPDX-License-Identifier: Apache-2.0
"""Reckon what a fleet of many NPUs costs: `python -m tests.benchmarks.fleet [NODES] [NPUS]`.

The parts are measured here, with Ray on this machine and simulated NPUs; what they add up to on a
cluster of that size is arithmetic, and has not been tried.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console

from pyaclnn.health.checks.context import Options
from pyaclnn.health.fleet.cluster import Cluster, connected
from pyaclnn.health.fleet.examination import reports_of
from pyaclnn.health.fleet.survey import Ended, Holds, Node
from pyaclnn.health.report.fleet import merge
from pyaclnn.health.report.record import Report, Status

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]

SENT = ("make the process", "say what it holds", "examine", "end")
"""Messages of the driver for each NPU."""
ANSWERED = ("what it holds", "the report")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet", description=__doc__)
    parser.add_argument("nodes", nargs="?", type=int, default=128)
    parser.add_argument("npus", nargs="?", type=int, default=8, help="of each node")
    chosen = parser.parse_args()
    total = chosen.nodes * chosen.npus
    here = max(len(os.sched_getaffinity(0)), 1)
    begun = time.perf_counter()
    with connected(simulate=here) as ray:
        connecting = time.perf_counter() - begun
        parts, report = examined(ray, here)
        parts["wait"] = waited(ray, total)
    text = report.to_text()
    parts["read"] = timed(lambda: Report.from_text(text))
    together = put_together(report, chosen.nodes, chosen.npus)

    # Each answer may come alone, and then the driver looks through all that are outstanding.
    rows = [
        ("connect", connecting, "measured"),
        (
            "ask for every process",
            total * parts["start"],
            f"{total} x {1e3 * parts['start']:.2f} ms",
        ),
        ("processes begin", parts["begin"], f"{here} at once here; each node starts its own"),
        (
            "notice the answers",
            len(ANSWERED) * total * parts["wait"],
            f"{len(ANSWERED) * total} x {1e3 * parts['wait']:.2f} ms, at worst",
        ),
        ("examine, medium level", parts["examine"], "simulated; as long as `pyaclnn doctor` there"),
        ("read the reports", total * parts["read"], f"{total} x {1e3 * parts['read']:.2f} ms"),
        ("put them together", together, "measured with that many"),
    ]
    say = Console(highlight=False, soft_wrap=True).print
    for name, seconds, how in rows:
        say(f"{name:<24}{seconds:>9.1f} s  {how}")
    say(f"{'in all':<24}{sum(seconds for _, seconds, _ in rows):>9.1f} s")
    say(f"messages sent {len(SENT) * total}, answered {len(ANSWERED) * total}")
    say(f"reports {len(text) / 1e3:.0f} KB each, {total * len(text) / 1e6:.0f} MB in all")


def examined(ray: Any, npus: int) -> tuple[dict[str, float], Report]:
    """Measure the steps of this machine's NPUs; return the times and one report."""
    environment = {"PYACLNN_MOCK_DEVICES": str(npus)}
    cluster = Cluster(ray, Options(backend="mock"), environment)
    (node,) = cluster.nodes()
    begun = time.perf_counter()
    processes = [cluster.start(node) for _ in range(npus)]
    answers = all_answers(cluster, npus)
    if not all(isinstance(answer, Holds) for answer in answers):
        raise SystemExit(f"no process could be had: {answers}")
    held = time.perf_counter()
    for process in processes:
        cluster.examine(process)
    reports = [answer for answer in all_answers(cluster, npus) if isinstance(answer, Report)]
    done = time.perf_counter()
    # Those find no NPU free and never begin: what is timed is the driver's part alone.
    asking = timed(lambda: processes.append(cluster.start(node)), 200)
    for process in processes:
        cluster.end(process)
    return {"start": asking, "begin": held - begun, "examine": done - held}, reports[0]


def all_answers(cluster: Cluster, number: int) -> list[Any]:
    found: list[Any] = []
    while len(found) < number:
        found += [answer for _, answer in cluster.answers(1.0)]
    return found


def waited(ray: Any, outstanding: int) -> float:
    """Seconds of one look at so many answers that are outstanding, of which one has come."""
    nothing = ray.remote(num_cpus=0, resources={"never": 1})(_nothing)
    never = [nothing.remote() for _ in range(outstanding)]
    one = ray.put(None)
    return timed(lambda: ray.wait([one, *never], num_returns=1, timeout=1.0))


def _nothing() -> None:
    """Task that no node has the resources for."""


def put_together(report: Report, nodes: int, npus: int) -> float:
    """Seconds to make one fleet of so many reports."""
    ended = [
        Ended(node, str(npu), Status.PASS, report=of_node, seconds=1.0)
        for n in range(nodes)
        for node in (Node(f"{n:08}", f"node-{n}", npus, npus),)
        for of_node in (replace(report, host={**report.host, "id": f"machine-{n}"}),)
        for npu in range(npus)
    ]
    begun = time.perf_counter()
    merge(reports_of(ended, "medium"))
    return time.perf_counter() - begun


def timed(act: Callable[[], object], times: int = 20) -> float:
    begun = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - begun) / times


if __name__ == "__main__":
    main()
