# SPDX-License-Identifier: Apache-2.0
"""Action of ``pyaclnn fleet doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks import catalogue
from pyaclnn.health.checks.options import Level
from pyaclnn.health.command.output import say, targets_of, tell, write_anything
from pyaclnn.health.fleet.assembly import reports_of
from pyaclnn.health.fleet.examination import NoNpuError, examine
from pyaclnn.health.fleet.npu import FleetError
from pyaclnn.health.fleet.survey import Stopped
from pyaclnn.health.fleet.view import Cells
from pyaclnn.health.report import exits
from pyaclnn.health.report.files import WriteError
from pyaclnn.health.report.fleet import merge
from pyaclnn.health.report.text import Detail, open_console

if TYPE_CHECKING:
    import argparse

__all__ = ["doctor"]

_PROGRAM: Final = "pyaclnn fleet doctor"


def doctor(options: argparse.Namespace) -> int:
    """Examine every NPU of a cluster.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
    write_anything()
    try:
        wanted = targets_of(options)
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
        say(str(error), _PROGRAM)
        return exits.NOTHING_HERE
    except FleetError as error:
        say(str(error), _PROGRAM)
        return exits.INCONCLUSIVE
    except Stopped as end:
        say("stopped; nothing is left running; this is what was found until then", _PROGRAM)
        fleet = merge(reports_of(end.ended, options.level, status=end.status))
    except KeyboardInterrupt:
        say("stopped before anything was found", _PROGRAM)
        return exits.INTERRUPTED
    return tell(fleet, wanted, fleet.exit_status, Detail(1 + options.detail), _PROGRAM)
