# SPDX-License-Identifier: Apache-2.0
"""Report as text: the verdict, the problems, every check as a tree, and the verdict again."""

from __future__ import annotations

import io
import os
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from pyaclnn.health.report.codec import cleaned
from pyaclnn.health.report.fleet import fleet_of, fleet_verdict, only
from pyaclnn.health.report.hosts import listed
from pyaclnn.health.report.record import Status, check_of, host_name
from pyaclnn.health.report.sections import worst_first
from pyaclnn.health.report.tables import figures_table, grid, numbers_table, section
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
    from pyaclnn.health.report.record import CheckResult, Report
    from pyaclnn.health.report.verdict import Verdict

__all__ = ["COLOURS", "SIGNS", "Detail", "as_text", "emit", "numbered", "open_console", "show"]

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
        error: Whether it is standard error.
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
    found = verdict(report)
    if report.simulated:
        yield _banner()
    yield _verdict(found)
    yield _facts(report)
    yield from _problems(report.results)
    yield from _tree(report.results)
    yield from numbers_table(report.results)
    yield from figures_table(report)
    yield Text()
    if report.simulated:
        yield _banner()
    yield _verdict(found)


def _fleet(fleet: Fleet) -> Iterable[RenderableType]:
    found = fleet_verdict(fleet)
    if fleet.simulated:
        yield _banner()
    yield _verdict(found)
    yield _table(fleet)
    yield from _outliers(fleet)
    for group in fleet.groups:
        yield from _problem(group.results[0], _places(group, fleet))
    yield Text()
    yield _verdict(found)


def _places(group: Failures, fleet: Fleet) -> str:
    where = ", on the simulated NPU" if group.simulated else ""
    return f"{len(group.hosts)} of {len(fleet.reports)} machines{where}: {listed(group.hosts)}"


def _outliers(fleet: Fleet) -> Iterable[RenderableType]:
    """Yield the devices whose figures are worse than those of the others of their chip."""
    if not fleet.outliers:
        return
    yield Text()
    yield section("worse than the others")
    for machine, device, simulated, outlier in fleet.outliers[:_MOST_OUTLIERS]:
        style = "dim" if simulated else "yellow"
        asked = f"{outlier.severity.value} {'(simulated) ' if simulated else ''}"
        yield Text.assemble((asked, style), f"{machine} device {device}: {outlier}")
    more = len(fleet.outliers) - _MOST_OUTLIERS
    if more > 0:
        yield Text(f"{more} more in the JSON report", style="dim")


def _table(fleet: Fleet, *, brief: bool = False, cut: bool = False) -> RenderableType:
    """Return a table of machines, the worst first; of many those on which all is well counted."""
    table = grid("machine", "examined", "verdict", "exit", no_wrap=cut)
    names, reports = fleet.names, fleet.reports
    places = [place for section in worst_first(fleet) for place in section.machines]
    wrong = [place for place in places if reports[place].exit_status]
    few = len(places) <= _MOST_MACHINES
    shown = places if few else wrong[: _MOST_BRIEF_MACHINES if brief else _MOST_MACHINES]
    for place in shown:
        report = reports[place]
        table.add_row(
            Text(names[place], style="bold"),
            Text(about(report)),
            Text(verdict(report).headline),
            str(report.exit_status),
        )
    fine = 0 if few else len(places) - len(wrong)
    more = 0 if few else len(wrong) - len(shown)
    rest = [f"and {more} machines more that are not in order; --html lists them"] if more else []
    rest += [f"and {fine} machines on which all is well"] if fine else []
    lines = (Text(line, style="dim") for line in rest)
    return Padding(Group(table, *lines), (1, 0, 0, 0))


def _brief(
    given: Sequence[Report] | Fleet, detail: Detail, console: Console
) -> Iterable[RenderableType]:
    cut = console.is_terminal  # what goes to a file or a pipe is read without another look
    one = only(given)
    wrong: list[tuple[CheckResult, str | None]]
    if one is None:
        fleet = fleet_of(given)
        found, rest = fleet_verdict(fleet), _table(fleet, brief=True, cut=cut)
        wrong = [(group.results[0], _places(group, fleet)) for group in fleet.groups]
    else:
        report = cleaned(one)
        found, rest = verdict(report), _facts(report)
        wrong = [(result, None) for result in _distinct(report.results)]
        if report.simulated:
            yield Text("SIMULATED NPU - not a chip", style="bold yellow")
    yield _verdict(found, cut=cut)
    if detail is Detail.QUIET or (found.tone == NOTHING and one is not None):
        return
    yield rest
    for result, places in wrong[:_MOST_BRIEF]:
        yield from _in_short(result, places, cut=cut)
    more = len(wrong) - _MOST_BRIEF
    others = f"{more} more problem{'s' * (more > 1)}; " if more > 0 else ""
    yield Text(f"{others}-v tells everything", style="dim")


def _distinct(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return the problems, the gravest first; the same on several devices once."""
    kinds: dict[tuple[object, ...], CheckResult] = {}
    for result in problems(results):
        kinds.setdefault((check_of(result), result.status, result.code), result)
    return list(kinds.values())


def _in_short(result: CheckResult, places: str | None, *, cut: bool) -> Iterable[RenderableType]:
    """Yield a problem on seven lines, cut at the width if they are to be."""
    yield _heading(result)
    summary = result.summary.partition("\n")[0]
    shown = [Text(summary), *([Text(places, style="bold")] if places else [])]
    shown += [
        Text(f"{item.label}: {item.text.strip().partition(chr(10))[0]}", style="dim")
        for item in result.evidence[: 3 - len(shown)]
    ]
    shown += [Text(f"likely cause: {result.causes[0]}")] if result.causes else []
    for line in shown:
        line.no_wrap, line.overflow = cut, "ellipsis" if cut else "fold"
        yield Padding(line, (0, 0, 0, 2))
    if result.next_step:
        step = Text.assemble(("next: ", "bold"), (result.next_step, "bold cyan"))
        yield Padding(step, (0, 0, 0, 2))


def _banner() -> RenderableType:
    words = "SIMULATED NPU - not a chip: nothing here says anything about this machine"
    return Panel(Text(words, justify="center"), style="bold yellow", padding=(0, 1))


def _verdict(found: Verdict, *, cut: bool = False) -> RenderableType:
    colour = {GOOD: "bold green", BROKEN: "bold red"}.get(found.tone, "bold yellow")
    lines = [Text(found.headline, style=colour)]
    if found.detail:
        lines.append(Text(found.detail))
    if cut and found.tone != NOTHING:
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
    if found.next_step:
        lines.append(Text.assemble(("Next: ", "bold"), found.next_step))
    return Group(*lines)


def _facts(report: Report) -> RenderableType:
    host = report.host
    where = f"{host_name(report)}, {host.get('os', '')} {host.get('kernel', '')}".strip(" ,")
    if host.get("in_container") is True:
        where += ", in a container"
    counts = in_order(tally(report.results))
    what = f"{about(report)}; level {report.level}; {counts}; {report.seconds:.1f} s"
    lines = [what, where]
    if report.directory:
        lines.append(f"libraries: {report.directory}")
    return Padding(Text("\n".join(lines), style="dim"), (1, 0, 0, 0))


def _problems(results: Iterable[CheckResult]) -> Iterable[RenderableType]:
    for result in problems(results):
        yield from _problem(result)


def _problem(result: CheckResult, places: str | None = None) -> Iterable[RenderableType]:
    yield Text()
    yield _heading(result)
    lines: list[RenderableType] = [Text(result.summary)]
    if result.severity.asks:
        lines.append(Text(f"severity {result.severity.value}: {result.severity.asks}"))
    if places:
        lines.append(Text(places, style="bold"))
    if result.code is not None:
        lines.append(Text(f"code {result.code} {result.code_name or ''}".rstrip()))
    for item in result.evidence:
        kept = item.text.splitlines()[:_MOST_LINES]
        more = len(item.text.splitlines()) - len(kept)
        kept += [f"… {more} more lines"] if more else []
        lines.append(Text.assemble((f"{item.kind} ", "dim"), (item.label, "cyan")))
        lines.append(Padding(Text("\n".join(kept), style="dim"), (0, 0, 0, 4)))
    lines += _wrong_outputs(result)
    if result.causes:
        lines += [Text("likely causes:", style="bold"), *numbered(result.causes)]
    if result.next_step:
        lines.append(Text.assemble(("next: ", "bold"), (result.next_step, "bold cyan")))
    yield Padding(Group(*lines), (0, 0, 0, 2))


def numbered(causes: Iterable[str]) -> Iterator[RenderableType]:
    """Yield a line for each of several causes.

    Args:
        causes: The causes, the likeliest first.
    """
    for number, cause in enumerate(causes, 1):
        yield Padding(Text(f"{number}. {cause}"), (0, 0, 0, 2))


def _heading(result: CheckResult) -> RenderableType:
    title = Text.assemble(
        (f"{SIGNS[result.status]} {result.status.value} ", COLOURS[result.status]),
        (f"{result.id} {result.title}", "bold"),
    )
    return section(title)


def _wrong_outputs(result: CheckResult) -> list[RenderableType]:
    wrong = wrong_outputs(result)
    lines = wrong[:_MOST_LINES]
    lines += [f"... {len(wrong) - _MOST_LINES} more outputs"] if len(wrong) > _MOST_LINES else []
    return [Padding(Text("\n".join(lines)), (0, 0, 0, 4))] if lines else []


def _tree(results: Sequence[CheckResult]) -> Iterable[RenderableType]:
    """Yield every check by category; one line for a category of which nothing ran."""
    yield Text()
    yield section("every check")
    for category, members in by_category(results).items():
        calm = tally(members)
        if not set(calm) - {Status.SKIP, Status.NOT_RUN} and len(members) > 1:
            yield Text.assemble((category, "bold"), (f"  {in_order(calm)}", "dim"))
            continue
        yield Text(category, style="bold")
        for index, result in enumerate(members):
            branch = "└" if index + 1 == len(members) else "├"
            status = "" if result.status is Status.PASS else f"{result.status.value} "
            line = Text.assemble(
                (f"  {branch} ", "dim"),
                (f"{SIGNS[result.status]} {status}", COLOURS[result.status]),
                (f"{result.id} ", "dim"),
                result.title,
                (f"  {result.summary}", "dim"),
            )
            line.truncate(10_000)
            line.no_wrap, line.overflow = True, "ellipsis"
            yield line
