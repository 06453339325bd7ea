# SPDX-License-Identifier: Apache-2.0
"""Action of ``pyaclnn fleet doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.health.checks import catalogue
from pyaclnn.health.checks.options import Level
from pyaclnn.health.command.output import Output
from pyaclnn.health.fleet.assembly import reports_of
from pyaclnn.health.fleet.examination import NoNpuError, examine
from pyaclnn.health.fleet.npu import FleetError
from pyaclnn.health.fleet.survey import Stopped
from pyaclnn.health.fleet.view import Cells
from pyaclnn.health.report.files import WriteError
from pyaclnn.health.report.fleet import merge
from pyaclnn.health.report.record import Exit
from pyaclnn.health.report.text import open_console

if TYPE_CHECKING:
    import argparse

__all__ = ["doctor"]


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
