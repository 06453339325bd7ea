# SPDX-License-Identifier: Apache-2.0
"""Report as text: the verdict, the problems, every check as a tree, and the verdict again."""

from __future__ import annotations

import io
import itertools
import math
import os
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from pyaclnn.health.report.codec import cleaned
from pyaclnn.health.report.figures import figures_by_device
from pyaclnn.health.report.fleet import fleet_of, fleet_verdict, only
from pyaclnn.health.report.hosts import listed
from pyaclnn.health.report.record import Status, check_of, host_name
from pyaclnn.health.report.sections import worst_first
from pyaclnn.health.report.template import MARKS, environment, styled
from pyaclnn.health.report.verdict import (
    BROKEN,
    GOOD,
    NOTHING,
    about,
    by_category,
    in_order,
    problems,
    tally,
    verdict,
    wrong_outputs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from pyaclnn.health.report.fleet import Fleet, Group as Failures
    from pyaclnn.health.report.record import CheckResult, Number, Report

__all__ = ["COLOURS", "SIGNS", "Detail", "as_text", "emit", "open_console", "part", "show"]

SIGNS: Final = {
    Status.PASS: "✓",
    Status.WARN: "!",
    Status.FAIL: "✗",
    Status.SKIP: "-",
    Status.TIMEOUT: "⧖",
    Status.CRASH: "☠",
    Status.ERROR: "?",
    Status.NOT_RUN: "·",
}
"""One sign for each status; the status is always written beside it where it is not PASS."""

COLOURS: Final = {
    Status.PASS: "green",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.SKIP: "dim",
    Status.TIMEOUT: "bold red",
    Status.CRASH: "bold red",
    Status.ERROR: "yellow",
    Status.NOT_RUN: "dim",
}

_PLAIN_WIDTH: Final = 110
_NARROWEST: Final = 40
_WIDEST: Final = 1000
_MOST_BRIEF: Final = 2
"""Number of problems in a brief report."""
_MOST_NAMES: Final = 600
"""Characters of the names of machines behind a problem."""
_MOST_MACHINES: Final = 40
"""Number of machines above which healthy ones are only counted, and of those in the table."""
_MOST_BRIEF_MACHINES: Final = 10
"""Number of these machines in a brief report."""
_MOST_OUTLIERS: Final = 20
"""Number of outliers of a fleet that are printed, the worst first."""
_MOST_LINES: Final = 12
"""Number of lines of one piece of evidence; the other formats have all of them."""


class Detail(IntEnum):
    """Amount of a report that is printed."""

    QUIET = 0
    """The verdict."""
    BRIEF = 1
    """The problems, on 25 lines at most."""
    FULL = 2
    """Every check with its evidence."""


def show(given: Sequence[Report] | Fleet, console: Console, detail: Detail = Detail.FULL) -> None:
    """Print the report of one machine, or of a fleet if there are several.

    Args:
        given: The reports of one or more machines.
        console: The destination.
        detail: The amount.
    """
    emit(_parts(given) if detail is Detail.FULL else _brief(given, detail, console), console)


def as_text(given: Sequence[Report] | Fleet) -> str:
    """Return the text that `show` prints.

    Args:
        given: The reports of one or more machines.
    """
    return _plain(_parts(given))


def open_console(*, error: bool = False, plain: int = _PLAIN_WIDTH) -> Console:
    """Return a console; one that is no terminal has the width of COLUMNS, or a fixed one.

    Args:
        error: True if it is standard error.
        plain: The fixed width.
    """
    console = Console(stderr=error, highlight=False)
    if console.is_terminal:
        return console
    return Console(stderr=error, highlight=False, width=_plain_width(plain))


def _plain_width(fixed: int) -> int:
    """Return the width of what is no terminal: COLUMNS, if it is set to a usable number."""
    text = os.environ.get("COLUMNS", "")
    usable = text.isascii() and text.isdigit() and len(text) <= len(str(_WIDEST))
    return min(max(int(text), _NARROWEST), _WIDEST) if usable else fixed


def emit(parts: Iterable[RenderableType], console: Console) -> None:
    """Print to a terminal with colours, to anything else as plain lines without trailing spaces.

    Args:
        parts: The parts.
        console: The destination.
    """
    if console.is_terminal:
        console.print(Group(*parts))
    else:
        console.file.write(_plain(parts, console.width))
    console.file.flush()


def _plain(parts: Iterable[RenderableType], width: int = _PLAIN_WIDTH) -> str:
    paper = io.StringIO()
    Console(file=paper, width=width, color_system=None).print(Group(*parts))
    return "".join(f"{line.rstrip()}\n" for line in paper.getvalue().splitlines())


def _parts(given: Sequence[Report] | Fleet) -> Iterable[RenderableType]:
    one = only(given)
    return _fleet(fleet_of(given)) if one is None else _machine(cleaned(one))


def _machine(report: Report) -> Iterable[RenderableType]:
    headline = [*([_banner()] if report.simulated else []), *part("headline", verdict(report))]
    yield from headline
    yield from part("facts", report)
    for result in problems(report.results):
        yield from part("problem", result, None)
    yield from part("tree", report.results)
    rows: dict[tuple[str, str], list[Number]] = {}
    for number in (number for result in report.results for number in result.numbers):
        rows.setdefault((number.operator, number.dtype), []).append(number)
    yield from part("numbers", rows) if rows else []
    figures = figures_by_device(report)
    devices = list(dict.fromkeys(device for row in figures.values() for device in row))
    yield from part("figures", figures, devices, report.simulated) if figures else []
    yield Text()
    yield from headline


def _fleet(fleet: Fleet) -> Iterable[RenderableType]:
    headline = [*part("headline", fleet_verdict(fleet))]
    yield from [_banner()] if fleet.simulated else []
    yield from headline
    yield from _table(fleet)
    yield from part("outliers", fleet.outliers, _MOST_OUTLIERS) if fleet.outliers else []
    for group in fleet.groups:
        yield from part("problem", group.results[0], _places(group, fleet))
    yield Text()
    yield from headline


def part(name: str, *given: object, cut: bool = False) -> Iterator[RenderableType]:
    """Yield the lines and tables of a part of a report.

    Args:
        name: The macro of ``report.txt``.
        given: Its arguments.
        cut: True if cells of tables stay on one line.
    """
    names = {
        **{function.__name__: function for function in _FUNCTIONS},
        "signs": SIGNS,
        "colours": COLOURS,
        "most_lines": _MOST_LINES,
        "infinity": math.inf,
        "tones": {GOOD: "bold green", BROKEN: "bold red"},
    }
    module: Any = environment(markup=True).get_template("report.txt", globals=names).module
    written = styled(getattr(module, name)(*given))
    for is_table, group in itertools.groupby(written.split("\n"), lambda line: "\t" in line.plain):
        lines = list(group)
        yield from [_grid(lines, cut=cut)] if is_table else map(_line, lines)


def _line(line: Text) -> RenderableType:
    mark = line.plain[:1] if line.plain[:1] in MARKS.values() else ""
    plain = line.plain[len(mark) :]
    indent = len(plain) - len(plain.lstrip(" "))
    text = line[len(mark) + indent :] if plain.strip() else Text()
    if mark == MARKS["~"]:
        text.no_wrap, text.overflow = True, "ellipsis"
    if mark == MARKS["="]:
        return Rule(text, align="left", style="dim", characters="─")
    return Padding(text, (0, 0, 0, indent)) if indent else text


def _grid(lines: Sequence[Text], *, cut: bool) -> RenderableType:
    """Return a table of lines with tabs, the first of which has the headings."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in lines[0].plain.split("\t"):
        justify: Literal["left", "right"] = "right" if heading.startswith(">") else "left"
        table.add_column(heading.strip(">!."), justify=justify, no_wrap=cut or "!" in heading)
    for line in lines[1:]:
        table.add_row(*line.split("\t", allow_blank=True))
    return table


def is_idle(results: Sequence[CheckResult]) -> bool:
    """Return whether nothing of several results ran."""
    return len(results) > 1 and not set(tally(results)) - {Status.SKIP, Status.NOT_RUN}


_FUNCTIONS: Final = (
    about,
    by_category,
    host_name,
    in_order,
    tally,
    verdict,
    wrong_outputs,
    is_idle,
)
"""Functions that the template calls."""


def _places(group: Failures, fleet: Fleet) -> str:
    where = ", on the simulated NPU" if group.simulated else ""
    names = listed(group.hosts)
    names = names if len(names) <= _MOST_NAMES else f"{names[:_MOST_NAMES]}… (--html lists all)"
    return f"{len(group.hosts)} of {len(fleet.reports)} machines{where}: {names}"


def _table(fleet: Fleet, *, brief: bool = False, cut: bool = False) -> Iterator[RenderableType]:
    """Yield a table of machines, the worst first; of many those on which all is well counted."""
    names, reports = fleet.names, fleet.reports
    places = [place for section in worst_first(fleet) for place in section.machines]
    wrong = [place for place in places if reports[place].exit_status]
    few = len(places) <= _MOST_MACHINES
    shown = places if few else wrong[: _MOST_BRIEF_MACHINES if brief else _MOST_MACHINES]
    rows = [(names[place], reports[place]) for place in shown]
    more, fine = (0, 0) if few else (len(wrong) - len(shown), len(places) - len(wrong))
    return part("machines", rows, more, fine, cut=cut)


def _brief(
    given: Sequence[Report] | Fleet, detail: Detail, console: Console
) -> Iterable[RenderableType]:
    cut = console.is_terminal  # what goes to a file or a pipe is read without another look
    one = only(given)
    wrong: list[tuple[CheckResult, str | None]]
    if one is None:
        fleet = fleet_of(given)
        found, rest = fleet_verdict(fleet), [*_table(fleet, brief=True, cut=cut)]
        wrong = [(group.results[0], _places(group, fleet)) for group in fleet.groups]
    else:
        report = cleaned(one)
        found, rest = verdict(report), [*part("facts", report)]
        wrong = [(result, None) for result in _distinct(report.results)]
        if report.simulated:
            yield Text("SIMULATED NPU - not a chip", style="bold yellow")
    yield from part("headline", found, cut)
    if detail is Detail.QUIET or (found.tone == NOTHING and one is not None):
        return
    yield from rest
    for result, places in wrong[:_MOST_BRIEF]:
        yield from part("in_short", result, places, cut)
    more = len(wrong) - _MOST_BRIEF
    others = f"{more} more problem{'s' * (more > 1)}; " if more > 0 else ""
    yield Text(f"{others}-v shows everything", style="dim")


def _distinct(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return the problems, the gravest first; the same on several devices once."""
    kinds: dict[tuple[object, ...], CheckResult] = {}
    for result in problems(results):
        kinds.setdefault((check_of(result), result.status, result.code), result)
    return list(kinds.values())


def _banner() -> RenderableType:
    words = "SIMULATED NPU - not a chip: nothing here says anything about this machine"
    return Panel(Text(words, justify="center"), style="bold yellow", padding=(0, 1))
