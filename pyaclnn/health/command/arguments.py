# SPDX-License-Identifier: Apache-2.0
"""Command lines of ``pyaclnn doctor``, ``pyaclnn doctor merge`` and ``pyaclnn explain``.

The commands themselves are imported when they run: commands in makefiles must not wait for them.
"""

from __future__ import annotations

import argparse
import functools
from typing import Final, TypeAlias

from pyaclnn.health.checks.options import Level, Options

__all__ = [
    "LEVELS",
    "add_detail",
    "add_explain_to",
    "add_formats",
    "add_selection",
    "add_to",
    "seconds_of",
]

LEVELS: Final = tuple(level.name.lower() for level in Level)
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}

_EPILOG: Final = """\
exit status:
  0  everything passed        3  inconclusive, or a report could not be written
  1  something is broken,     4  there is no CANN, or no device
     or should be drained
  2  wrong command line     130  interrupted; 143, 129  ended by SIGTERM, SIGHUP

examples:
  pyaclnn doctor                            is this machine's CANN in order?
  pyaclnn doctor --level quick              without touching a device
  pyaclnn doctor --backend mock --html r.html
  pyaclnn doctor merge */doctor.json --html fleet.html
"""

# The type has no public name.
_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001


def add_to(commands: _Commands) -> None:
    """Add the command ``doctor``.

    Args:
        commands: The sub-commands of ``pyaclnn``.
    """
    doctor = commands.add_parser(
        "doctor",
        help="find out whether this machine's CANN works, and if not, what to do",
        description="Check this machine from the environment up to the numbers its operators\n"
        "compute. Names the first thing that is broken, its likely causes and the next step.\n"
        "Needs no special rights, changes nothing, and cannot be hung by the driver.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    doctor.add_argument(
        "--level",
        choices=LEVELS,
        default="medium",
        help="quick: seconds, touches no device; medium (default): up to a minute; long: minutes",
    )
    doctor.add_argument(
        "--backend",
        help="'cann', 'mock' (the simulated NPU) or a folder of libraries; "
        "by default PYACLNN_BACKEND, then an installed CANN",
    )
    doctor.add_argument(
        "--device",
        dest="devices",
        type=_devices,
        metavar="N[,N]|all",
        help="devices to examine (default: all)",
    )
    doctor.add_argument(
        "--expect-devices",
        dest="expected_devices",
        type=_count,
        metavar="N",
        help="how many there should be (default: as many as there are visible device nodes)",
    )
    add_selection(doctor)
    doctor.add_argument(
        "--fail-early", action="store_true", help="begin nothing more once something is broken"
    )
    doctor.add_argument(
        "--soak",
        type=seconds_of,
        default=0.0,
        metavar="DURATION",
        help="repeat the operators for so long at the end: seconds, or 30m, or 2h",
    )
    for name, metavar, default, text in (
        ("threads", "N", Options.soak_threads, "how many threads of each process do that"),
        ("processes", "N", Options.soak_processes, "how many processes"),
    ):
        doctor.add_argument(
            f"--soak-{name}",
            type=_count,
            default=default,
            metavar=metavar,
            help=f"{text} (default: {default})",
        )
    doctor.add_argument(
        "--soak-faults",
        default="",
        metavar="FAULTS",
        help="what goes wrong meanwhile on the simulated NPU; `pyaclnn mock faults` explains them",
    )
    _add_measuring(doctor)
    add_detail(doctor, 0)
    asking = doctor.add_mutually_exclusive_group()
    asking.add_argument("--list-checks", action="store_true", help="list the checks and exit")
    asking.add_argument("--explain", metavar="ID", help="explain a check and exit")
    asking.add_argument(
        "--json-schema", action="store_true", help="print the JSON Schema of reports and exit"
    )
    add_formats(doctor, None)
    doctor.set_defaults(action=_doctor, parser=doctor)
    # Options before the word 'merge' count as well as those after it.
    parts = doctor.add_subparsers(metavar="merge", title="further command")
    together = parts.add_parser(
        "merge",
        help="put the reports of many machines together",
        description="Put reports written with --json together: which machines are broken, and "
        "which failures are the same. Exits as the worst of them did.",
    )
    together.add_argument("reports", nargs="+", metavar="REPORT.json")
    add_formats(together, argparse.SUPPRESS)
    add_detail(together, argparse.SUPPRESS)
    together.set_defaults(action=_merge, parser=together)


def _add_measuring(doctor: argparse.ArgumentParser) -> None:
    group = doctor.add_argument_group("figures of the level long")
    group.add_argument(
        "--save-baseline",
        metavar="FILE",
        help="write what was measured as what is to be expected of such machines",
    )
    group.add_argument("--expect", metavar="FILE", help="compare with what --save-baseline wrote")
    group.add_argument(
        "--figure-bytes",
        type=_bytes,
        default=Options.figure_bytes,
        metavar="BYTES",
        help="how much is copied at a time where copying is measured (default: 64 MiB)",
    )
    group.add_argument(
        "--figure-seconds",
        type=seconds_of,
        default=Options.figure_seconds,
        metavar="SECONDS",
        help=f"for how long each figure is measured (default: {Options.figure_seconds})",
    )
    group.add_argument(
        "--memory-share",
        type=_share,
        metavar="SHARE",
        help="how much of the free memory is tested with patterns (default: 0.9; on the simulated "
        "NPU four times --figure-bytes)",
    )
    group.add_argument(
        "--memory-seconds",
        type=seconds_of,
        default=Options.memory_seconds,
        metavar="SECONDS",
        help=f"after how long no further pattern is begun (default: {Options.memory_seconds:.0f})",
    )


def add_explain_to(commands: _Commands) -> None:
    """Add the command ``explain``.

    Args:
        commands: The sub-commands of ``pyaclnn``.
    """
    explain = commands.add_parser(
        "explain",
        help="explain a status code, e.g. 507033",
        description="Say what a code of CANN means, its likely causes and what to do. Takes a "
        "status code, also in hexadecimal, its name (the prefix may be left out), a code of "
        "npu-smi such as -8020 or of torch_npu such as ERR00100, the beginning of a message such "
        "as EE1015 or EI0006, a function, a check of the doctor, or a whole line of a log or of "
        "the loader. Exits with 0 if it is known and 1 if not.",
    )
    explain.add_argument("code", nargs="*", metavar="CODE|NAME|TEXT")
    explain.add_argument("--list", action="store_true", help="list every status code")
    explain.set_defaults(action=_explain, parser=explain)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add the options that select checks, and the one that makes a warning a failure.

    Args:
        parser: The command.
    """
    for name, text in (("only", "run only these"), ("skip", "leave these out")):
        parser.add_argument(f"--{name}", type=_names, default=(), metavar="ID[,ID]", help=text)
    parser.add_argument("--fail-on", choices=("warn",), help="exit with 1 also for a warning")


def add_formats(parser: argparse.ArgumentParser, default: object) -> None:
    """Add the options that name files for reports.

    Args:
        parser: The command.
        default: The value of an option that is missing.
    """
    group = parser.add_argument_group("reports ('-' is standard output)")
    for name, text in (
        ("json", "for programs; `--json-schema` describes it"),
        ("junit", "JUnit XML, for continuous integration"),
        ("html", "one page with pictures that opens without a network"),
        ("bundle", "all of these for a bug report, without names and secrets (.tar.gz)"),
    ):
        group.add_argument(f"--{name}", metavar="FILE", default=default, help=text)


def add_detail(parser: argparse.ArgumentParser, default: object) -> None:
    """Add the options for the amount of output.

    Args:
        parser: The command.
        default: The value of ``detail`` if none of them is given.
    """
    group = parser.add_mutually_exclusive_group()
    for names, amount, text in (
        (("-q", "--quiet"), -1, "print the verdict only"),
        (("-v", "--verbose"), 1, "print every check, and all that it rests on"),
    ):
        group.add_argument(
            *names, dest="detail", action="store_const", const=amount, default=default, help=text
        )


def _doctor(options: argparse.Namespace) -> int:
    from pyaclnn.health.command import doctor  # noqa: PLC0415  # see the module

    return doctor.doctor(options)


def _explain(options: argparse.Namespace) -> int:
    from pyaclnn.health.command import explain  # noqa: PLC0415  # see the module

    return explain.run(options)


def _merge(options: argparse.Namespace) -> int:
    from pyaclnn.health.command import doctor  # noqa: PLC0415  # see the module

    return doctor.merge(options)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _devices(text: str) -> tuple[int, ...] | None:
    if text == "all":
        return None
    try:
        devices = tuple(int(part) for part in text.split(","))
    except ValueError:
        devices = (-1,)
    if min(devices) < 0 or len(set(devices)) != len(devices):
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'all' nor ids like 0 or 0,1")
    return devices


def seconds_of(text: str) -> float:
    """Return a duration in seconds; the type of an option for `argparse`."""
    amount, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    try:
        seconds = float(amount) * _UNITS[unit]
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds, nor one of minutes or hours such as 30m or 2h"
        )
    return seconds


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share above 0 and up to 1")
    return share


def _whole(text: str, what: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number{what} from {least} to {most}")
    return int(text)


_bytes = functools.partial(_whole, what=" of bytes", least=64, most=1 << 32)
_count = functools.partial(_whole, what="", least=1, most=256)
"""A number of threads or processes."""
