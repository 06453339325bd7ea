# SPDX-License-Identifier: Apache-2.0
"""Examination of every NPU of a cluster, as a function that returns a fleet, and as a command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks import catalogue
from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.child.processes import terminable
from pyaclnn.health.command.output import Output, WriteError
from pyaclnn.health.fleet.assembly import reports_of
from pyaclnn.health.fleet.cluster import Cluster, connected
from pyaclnn.health.fleet.survey import Ended, FleetError, Limits, Node, Stopped, survey
from pyaclnn.health.fleet.view import Cells
from pyaclnn.health.report.fleet import Fleet, merge
from pyaclnn.health.report.record import Exit
from pyaclnn.health.report.text import open_console

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

__all__ = ["NoNpuError", "examine"]

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
    tell: Callable[[Node, int, str | None, Ended | None], None] = lambda *_: None,
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
        fail_on_warn: Whether a warning counts as a failure.
        deadline: Seconds that an NPU may take; by default 120, 600 or 3600, by level.
        patience: Seconds in which a process must begin on an NPU.
        begin: Called with the nodes, before anything is started.
        tell: Called whenever something changes, as `survey` does.

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
            ended = survey(cluster, nodes, limits, tell)
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
        options.parser.error(str(error))
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
                tell=cells.tell,
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
