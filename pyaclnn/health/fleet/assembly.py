# SPDX-License-Identifier: Apache-2.0
"""Report of a node, assembled from the separate reports of its NPUs."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.health.command.run import exit_status
from pyaclnn.health.report.record import CheckResult, Exit, Report, Status
from pyaclnn.health.report.verdict import gravity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.fleet.survey import Ended, Node

__all__ = ["reports_of"]

_CATEGORY: Final = "cluster"
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
        ended: How the examination ended, of each NPU of each node.
        level: The level of the examination.
        fail_on_warn: Whether a warning counts as a failure.
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


def _id(node: Node, machine: str, ids: Counter[str]) -> str:
    """Return the id of a machine; several nodes may be on one."""
    if not machine:
        return node.id
    return f"{machine}-{node.id[:8]}" if ids[machine] > 1 else machine


def _report(node: Node, ended: Sequence[Ended], level: str) -> Report:
    reports = [one.report for one in ended if one.report is not None]
    results = (*_own(node, ended), *_gravest(ended))
    if not reports:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return Report(
            version=version("pyaclnn"),
            started=now,
            seconds=max(one.seconds for one in ended),
            host={"name": node.name},
            backend="none",
            simulated=False,
            directory=None,
            soc_name=None,
            cann_version=None,
            level=level,  # type: ignore[arg-type]  # one of these
            environment={},
            results=results,
            exit_status=Exit.BROKEN,
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
    missing = [one for one in ended if one.npu is None]
    worst = min((one.status for one in missing), key=gravity, default=Status.PASS)
    summary = f"{examined} of {node.npus} NPUs have reported"
    reasons = "; ".join(dict.fromkeys(one.reason for one in missing))
    yield CheckResult(
        id="RAY-101",
        title="every NPU of the node gets a process",
        category=_CATEGORY,
        status=worst,
        seconds=max(one.seconds for one in ended),
        summary=f"{summary}: {reasons}" if reasons else summary,
        causes=("other jobs use NPUs", "the node does not answer") if missing else (),
        next_step=_NEXT.get(worst),
    )
    for one in ended:
        if one.npu is not None and one.report is None:
            yield CheckResult(
                id=f"RAY-102@{one.npu}",
                title=f"the process on NPU {one.npu} reports",
                category=_CATEGORY,
                status=one.status,
                seconds=one.seconds,
                summary=one.reason.partition("\n")[0],
                causes=("the driver hangs", "the process was killed", "the node has failed"),
                next_step=_NEXT.get(one.status),
            )
