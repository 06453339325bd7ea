# SPDX-License-Identifier: Apache-2.0
"""Views of a run in progress: a live tree on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from pyaclnn.health.child.run_state import Finished, Planned, Progress, Started
from pyaclnn.health.report.record import Status
from pyaclnn.health.report.text import COLOURS, SIGNS
from pyaclnn.health.report.verdict import by_category

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from typing_extensions import Self

    from pyaclnn.health.checks.catalogue import Check
    from pyaclnn.health.child.run_state import Event
    from pyaclnn.health.report.record import CheckResult

__all__ = ["LiveView", "PlainView", "View", "view"]

_SLOW: Final = 10.0
"""Seconds after which a plain line reports that a check still runs, again and again."""
_FRAMES: Final = 8


class View(contextlib.ExitStack):
    """Listener to the events of a run, and a context manager around it.

    Args:
        console: The console to show the run on.
    """

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._checks: tuple[Check, ...] = ()
        self._devices: set[int] = set()
        self._done = 0

    def __call__(self, event: Event) -> None:
        """Record an event."""
        if isinstance(event, Planned):
            self._checks = event.checks
        elif isinstance(event, Finished):
            self._done += 1
        elif event.device is not None:  # devices become known as they are used
            self._devices.add(event.device)

    @property
    def _total(self) -> int:
        """The number of checks; those of a device run once for each device."""
        each = sum(check.group not in {None, "host"} for check in self._checks)
        return max(len(self._checks) + each * (len(self._devices or {0}) - 1), self._done)


def view(console: Console) -> View:
    """Return the view that suits a console, usually standard error.

    Args:
        console: The console.
    """
    return (
        LiveView(console)
        if console.is_terminal and not console.is_dumb_terminal
        else PlainView(console)
    )


class PlainView(View):
    """Prints one line for each check as it ends."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._reported: dict[str, int] = {}

    def __call__(self, event: Event) -> None:
        """Print a line for a check that ended, and now and then for a slow one."""
        super().__call__(event)
        if isinstance(event, Progress):
            place = _place(event.check, event.device)
            often = int(event.seconds // _SLOW)
            if often > self._reported.get(place, 0):
                self._reported[place] = often
                self._print(
                    f"        still at {place} {event.check.title}: {event.seconds:.0f} s, "
                    f"given up after {event.deadline:.0f} s"
                )
        elif isinstance(event, Finished) and event.result.status is not Status.NOT_RUN:
            result, count = event.result, f"{self._done}/{self._total}"
            self._print(
                f"{count:>7} {result.status.value:<7} {result.id} {result.title} "
                f"({result.seconds:.1f} s)"
            )

    def _print(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


class LiveView(View):
    """Draws a tree of categories, the running checks, a bar and the elapsed time."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._begun = time.monotonic()
        self._spinner = Spinner("dots", style="cyan")
        self._results: list[CheckResult] = []
        self._running: dict[str, tuple[Check, float, float | None]] = {}

    def __enter__(self) -> Self:
        """Begin to draw; the end restores the screen."""
        live = Live(
            self,
            console=self._console,
            refresh_per_second=_FRAMES,
            transient=True,
            redirect_stdout=False,
        )
        self.enter_context(live)
        return super().__enter__()

    def __call__(self, event: Event) -> None:
        """Record an event; the screen is drawn by a timer."""
        super().__call__(event)
        if isinstance(event, Finished):
            self._running.pop(event.result.id, None)
            self._results.append(event.result)
        elif isinstance(event, (Started, Progress)):
            place = _place(event.check, event.device)
            since = self._running.get(place, (event.check, time.monotonic(), None))[1]
            deadline = event.deadline if isinstance(event, Progress) else None
            self._running[place] = (event.check, since, deadline)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the state."""
        height = max(options.max_height - 4 - len(self._running), 3)
        lines = self._tree()
        yield Group(*lines[-height:])
        for place, (check, since, deadline) in list(self._running.items()):
            passed = time.monotonic() - since
            limit = f" of at most {deadline:.0f} s" if deadline is not None and passed > 1 else ""
            self._spinner.update(
                text=Text.assemble(
                    (f"{place} ", "dim"), check.title, (f"  {passed:.0f} s{limit}", "dim")
                )
            )
            yield self._spinner
        yield self._bar()

    def _tree(self) -> list[Text]:
        """Return a line for each category, and one for each result that needs attention."""
        lines = []
        for category, members in by_category(list(self._results)).items():
            signs = Text.assemble((f"{category} ", "bold"))
            for result in members:
                signs.append(SIGNS[result.status], COLOURS[result.status])
            lines.append(signs)
            for result in members:
                if result.status not in {Status.PASS, Status.SKIP, Status.NOT_RUN}:
                    line = Text.assemble(
                        (
                            f"  {SIGNS[result.status]} {result.status.value} ",
                            COLOURS[result.status],
                        ),
                        (f"{result.id} ", "dim"),
                        f"{result.title}: {result.summary}",
                    )
                    line.no_wrap, line.overflow = True, "ellipsis"
                    lines.append(line)
        return lines

    def _bar(self) -> Table:
        done, total = self._done, self._total
        row = Table.grid(padding=(0, 2, 0, 0))
        row.add_row(
            ProgressBar(total=total, completed=done, width=40),
            Text(f"{done}/{total} checks"),
            Text(f"{time.monotonic() - self._begun:.0f} s", style="cyan"),
        )
        return row


def _place(check: Check, device: int | None) -> str:
    return check.id if device is None else f"{check.id}@{device}"
