# SPDX-License-Identifier: Apache-2.0
"""Examination of every NPU of a cluster, as a function that returns a fleet, and as a command."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.base.errors import text_of
from pyaclnn.health.checks import catalogue
from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.child.processes import terminable
from pyaclnn.health.command.output import Output, WriteError
from pyaclnn.health.command.run import exit_status
from pyaclnn.health.fleet.cluster import Cluster, connected
from pyaclnn.health.fleet.survey import Ended, FleetError, Limits, Node, Stopped, survey
from pyaclnn.health.fleet.view import Cells
from pyaclnn.health.report.fleet import CLUSTER, Fleet, merge
from pyaclnn.health.report.record import CheckResult, Exit, Report, Status
from pyaclnn.health.report.text import open_console
from pyaclnn.health.report.verdict import gravity

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from pyaclnn.health.fleet.survey import Ended, Node

__all__ = ["NoNpuError", "examine", "reports_of"]

LEFT: Final = "the node left the cluster while it was examined"
_GONE: Final = (
    "the machine failed or was restarted",
    "Ray was stopped there",
    "its network failed",
)
_CAUSES: Final = {
    Status.TIMEOUT: ("the driver hangs", "the machine is overloaded"),
    Status.CRASH: (
        "the process was killed: for lack of memory, by a scheduler or by a person",
        "the vendor's library crashed",
    ),
    Status.FAIL: ("the node was started with other NPUs than it has",),
}
_NEXT: Final = {
    Status.TIMEOUT: "run `pyaclnn doctor` on the node itself; if that does not end, restart it",
    Status.CRASH: "run `pyaclnn doctor` on the node itself, and look into Ray's logs there",
    Status.FAIL: "start the node with as many NPUs as it has: `ray start --resources`",
    Status.ERROR: "run it again when nobody else uses the NPUs",
}


def reports_of(
    ended: Sequence[Ended], level: str, *, fail_on_warn: bool = False, status: int | None = None
) -> list[Report]:
    """Return a report for each node.

    Args:
        ended: End of the examination of each NPU of each node.
        level: The level of the examination.
        fail_on_warn: True if a warning counts as a failure.
        status: The exit status in the reports; None for the one that follows from them.
    """
    by_node: dict[Node, list[Ended]] = {}
    for one in ended:
        by_node.setdefault(one.node, []).append(one)
    reports = [_report(node, found, level) for node, found in by_node.items()]
    ids = Counter(str(report.host.get("id", "")) for report in reports)
    return [
        replace(
            report,
            host={
                **report.host,
                "name": node.name,
                "id": _id(node, str(report.host.get("id", "")), ids),
            },
            exit_status=status
            if status is not None
            else exit_status(
                report.results,
                absent=any(
                    one.report is not None and one.report.exit_status == Exit.NOTHING_HERE
                    for one in by_node[node]
                ),
                fail_on_warn=fail_on_warn,
            ),
        )
        for node, report in zip(by_node, reports, strict=True)
    ]


def with_departures(ended: Sequence[Ended], present: Iterable[Node]) -> list[Ended]:
    """Return how examinations ended, with the same reason for all that a lost node cut short.

    Args:
        ended: End of the examination of each NPU of each node.
        present: The nodes of the cluster afterwards.
    """
    ids = {node.id for node in present}
    return [
        dataclasses.replace(one, status=Status.CRASH, reason=LEFT)
        if one.report is None and one.node.id not in ids
        else one
        for one in ended
    ]


def _id(node: Node, machine: str, ids: Counter[str]) -> str:
    """Return the id of a machine; several nodes may be on one."""
    if not machine:
        return node.id
    return f"{machine}-{node.id[:8]}" if ids[machine] > 1 else machine


def _report(node: Node, ended: Sequence[Ended], level: str) -> Report:
    reports = [one.report for one in ended if one.report is not None]
    results = (*_own(node, ended), *_gravest(ended))
    if not reports:
        seconds = max(one.seconds for one in ended)
        return Report.absent(
            node.name, results, seconds=seconds, level=level, exit_status=Exit.BROKEN
        )
    first = reports[0]
    environment = {k: v for k, v in first.environment.items() if k != "ASCEND_RT_VISIBLE_DEVICES"}
    return replace(
        first,
        started=min(report.started for report in reports),
        seconds=max(one.seconds for one in ended),
        soc_name=next((r.soc_name for r in reports if r.soc_name), None),
        environment=environment,
        results=results,
    )


def _gravest(ended: Iterable[Ended]) -> Iterable[CheckResult]:
    """Return the results of all NPUs; of checks of the machine, the gravest result."""
    found: dict[str, CheckResult] = {}
    for one in ended:
        for result in one.report.results if one.report is not None else ():
            check, at, _ = result.id.partition("@")
            # In its process each NPU is number 0.
            name = f"{check}@{one.npu}" if at else check
            if name not in found or gravity(result.status) < gravity(found[name].status):
                found[name] = replace(result, id=name)
    of_machine = [result for name, result in found.items() if "@" not in name]
    return [*of_machine, *(result for name, result in found.items() if "@" in name)]


def _own(node: Node, ended: Sequence[Ended]) -> Iterable[CheckResult]:
    """Yield the results of the cluster: processes on each NPU, and their ends."""
    examined = sum(one.report is not None for one in ended)
    left = [one for one in ended if one.reason == LEFT]
    missing = left or [one for one in ended if one.npu is None]
    worst = min((one.status for one in missing), key=gravity, default=Status.PASS)
    summary = f"{examined} of {node.npus} NPUs have reported"
    reasons = "; ".join(dict.fromkeys(one.reason for one in missing))
    step = _NEXT.get(worst)
    if left:
        summary, step = f"{LEFT}; {summary}", "look at the machine: is it up, does Ray run there?"
    elif reasons:
        summary = f"{summary}: {reasons}"
    yield CheckResult(
        id="RAY-101",
        title="every NPU of the node gets a process",
        category=CLUSTER,
        status=worst,
        seconds=max(one.seconds for one in ended),
        summary=summary,
        causes=_GONE
        if left
        else ("other jobs use NPUs", "the node does not answer")
        if missing
        else (),
        next_step=step,
    )
    for one in ended:
        if one.npu is not None and one.report is None and one not in left:
            yield CheckResult(
                id=f"RAY-102@{one.npu}",
                title=f"the process on NPU {one.npu} reports",
                category=CLUSTER,
                status=one.status,
                seconds=one.seconds,
                summary=one.reason.partition("\n")[0],
                causes=_CAUSES.get(one.status, ()),
                next_step=_NEXT.get(one.status),
            )


DEADLINES: Final = {"quick": 120.0, "medium": 600.0, "long": 3600.0}
"""Seconds that the examination of an NPU may take, by level."""


class NoNpuError(FleetError):
    """The cluster answers and has no NPU."""


def examine(
    level: str = "medium",
    *,
    address: str | None = None,
    simulate: int | None = None,
    backend: str | None = None,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    fail_on_warn: bool = False,
    deadline: float | None = None,
    patience: float = 120.0,
    begin: Callable[[Sequence[Node]], None] = lambda _: None,
    notify: Callable[[Node, int, str | None, Ended | None], None] = lambda *_: None,
) -> Fleet:
    """Examine every NPU of a Ray cluster, each in a fresh process on its node.

    Args:
        level: ``quick``, ``medium`` or ``long``, as for `pyaclnn.health.doctor.examine`.
        address: The cluster, as ``ray.init`` takes it; by default RAY_ADDRESS, or one that runs
            here. If the process is connected already, that connection is used.
        simulate: Start a cluster on this machine, whose one node has so many simulated NPUs.
        backend: The backend on the nodes; by default what their environment names.
        only: Ids or families of checks to run.
        skip: Ids or families to leave out.
        fail_on_warn: True if a warning counts as a failure.
        deadline: Seconds that an NPU may take; by default 120, 600 or 3600, by level.
        patience: Seconds in which a process must begin on an NPU.
        begin: Called with the nodes, before anything is started.
        notify: Called whenever something changes, as `survey` does.

    Returns:
        The fleet: a report for each node.

    Raises:
        FleetError: Ray is not installed, or no cluster answers.
        NoNpuError: The cluster has no NPU.
        Stopped: Somebody pressed Ctrl-C, or asked the process to end; every process is ended first.
        ValueError: There is no such level.
    """
    if level not in DEADLINES:
        raise ValueError(f"level is {level!r}; it must be one of {', '.join(DEADLINES)}")
    if simulate is not None and simulate < 1:
        raise ValueError(f"simulate is {simulate}; it must be 1 or more")
    limit = DEADLINES[level] if deadline is None else deadline
    options = Options(
        level=Level[level.upper()],
        backend="mock" if simulate is not None and backend is None else backend,
        only=tuple(only),
        skip=tuple(skip),
        fail_on_warn=fail_on_warn,
        # The doctor names the function that hangs; it has to come to that before it is ended.
        deadline=limit / 2,
    )
    environment = {} if simulate is None else {"PYACLNN_MOCK_DEVICES": str(simulate)}
    limits = Limits(patience, limit, (os.cpu_count() or 1) if simulate is not None else 64)
    with connected(address, simulate) as ray:
        cluster = Cluster(ray, options, environment)
        nodes = cluster.nodes()
        if not nodes:
            raise NoNpuError(
                "the cluster has no NPU: Ray counts /dev/davinci* where CANN's Python package is "
                "not found; otherwise start nodes with `ray start --resources '{\"NPU\": 8}'`"
            )
        begin(nodes)
        with terminable():
            ended = survey(cluster, nodes, limits, notify)
        ended = with_departures(ended, cluster.nodes())
    return merge(reports_of(ended, level, fail_on_warn=fail_on_warn))


def doctor(options: argparse.Namespace) -> int:
    """Examine every NPU of a cluster.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
    try:
        output = Output(options, "pyaclnn fleet doctor")
        catalogue.plan(Level[options.level.upper()], options.only, options.skip)
        if options.simulate is not None and options.address is not None:
            raise ValueError("--simulate starts a cluster of its own; it goes without --address")  # noqa: TRY301  # reported as any other
    except (ValueError, WriteError) as error:
        options.parser.error(text_of(error))
    cells = Cells(open_console(error=True))
    try:
        with cells:
            fleet = examine(
                options.level,
                address=options.address,
                simulate=options.simulate,
                backend=options.backend,
                only=options.only,
                skip=options.skip,
                fail_on_warn=options.fail_on == "warn",
                deadline=options.deadline,
                patience=options.patience,
                begin=cells.begin,
                notify=cells.notify,
            )
    except NoNpuError as error:
        output.message(str(error))
        return Exit.NOTHING_HERE
    except FleetError as error:
        output.message(str(error))
        return Exit.INCONCLUSIVE
    except Stopped as end:
        output.message("stopped; nothing is left running; this is what was found until then")
        fleet = merge(reports_of(end.ended, options.level, status=end.status))
    except KeyboardInterrupt:
        output.message("stopped before anything was found")
        return Exit.INTERRUPTED
    return output.report(fleet, fleet.exit_status)
