# SPDX-License-Identifier: Apache-2.0
"""Command line of ``pyaclnn fleet``; its action is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Final, TypeAlias

from pyaclnn.health.command.arguments import (
    LEVELS,
    add_detail,
    add_formats,
    add_selection,
    seconds_of,
)

__all__ = ["add_to"]

_EPILOG: Final = """\
On the screen each NPU is a cell, which shows how its examination goes; where there is no terminal,
a line reports how it ended. Then comes the report: what is broken, where, and what to do.

exit status: as of `pyaclnn doctor`: 0 all is well, 1 something is broken, 3 something could not be
found out (also: no cluster answers), 4 there is no NPU

examples:
  pyaclnn fleet doctor --simulate 8         try it: eight simulated NPUs on this machine
  pyaclnn fleet doctor                      the cluster of which this machine is a part
  pyaclnn fleet doctor --address head:6379 --level long --html fleet.html
"""

# The type has no public name.
_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001


def add_to(commands: _Commands) -> None:
    """Add the command ``fleet``.

    Args:
        commands: The sub-commands of ``pyaclnn``.
    """
    fleet = commands.add_parser(
        "fleet",
        help="examine every NPU of a Ray cluster",
        description="Work on all NPUs of a Ray cluster. Needs the extra pyaclnn[ray].",
    )
    parts = fleet.add_subparsers(title="commands", required=True, metavar="COMMAND")
    doctor = parts.add_parser(
        "doctor",
        help="examine every NPU of a cluster, each in a process of its own",
        description="Run `pyaclnn doctor` for every NPU of a Ray cluster, each in a fresh process\n"
        "on its node. A node or a driver that hangs is given up and reported; the rest goes on.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    doctor.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="the cluster; by default RAY_ADDRESS, or the one that runs on this machine",
    )
    doctor.add_argument(
        "--simulate",
        type=_count,
        metavar="N",
        help="no cluster: start one here, of one node with so many simulated NPUs",
    )
    doctor.add_argument("--level", choices=LEVELS, default="medium", help="as of the doctor")
    doctor.add_argument("--backend", help="as of the doctor, on each node")
    add_selection(doctor)
    doctor.add_argument(
        "--deadline",
        type=seconds_of,
        metavar="SECONDS",
        help="for each NPU; by default 120, 600 or 3600, by level",
    )
    doctor.add_argument(
        "--patience",
        type=seconds_of,
        default=120.0,
        metavar="SECONDS",
        help="in which a process must begin on an NPU (default: 120)",
    )
    add_formats(doctor, None)
    add_detail(doctor, 0)
    doctor.set_defaults(action=_doctor, parser=doctor)


def _doctor(options: argparse.Namespace) -> int:
    from pyaclnn.health.fleet import command  # noqa: PLC0415  # see the module

    return command.doctor(options)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of NPUs")
    return int(text)
