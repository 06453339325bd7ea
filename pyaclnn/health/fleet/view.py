# SPDX-License-Identifier: Apache-2.0
"""Live view of a survey: a cell for each NPU, or plain lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pyaclnn.health.report.record import Exit, Status, check_of
from pyaclnn.health.report.text import COLOURS, SIGNS
from pyaclnn.health.report.verdict import first_problem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rich.console import Console, ConsoleOptions, RenderResult
    from typing_extensions import Self

    from pyaclnn.health.fleet.survey import Ended, Node

__all__ = ["Cells", "finding"]

_FRAMES: Final = 4
_WAITING: Final = "·"
_AT_WORK: Final = "▸"
_LEGEND: Final = f"{_WAITING} waits  {_AT_WORK} is examined  " + "  ".join(
    f"{SIGNS[status]} {word}"
    for status, word in (
        (Status.PASS, "passed"),
        (Status.WARN, "warned"),
        (Status.FAIL, "failed"),
        (Status.TIMEOUT, "late"),
        (Status.CRASH, "crashed"),
        (Status.ERROR, "could not tell"),
    )
)


def finding(ended: Ended) -> tuple[Status, str]:
    """Return status and summary of the examination of an NPU.

    Args:
        ended: The end of the examination.
    """
    if ended.report is None:
        return ended.status, ended.reason
    problem = first_problem(ended.report)
    if problem is not None:
        return problem.status, f"{check_of(problem)} {problem.title}: {problem.summary}"
    if ended.report.exit_status == Exit.PASSED:
        return Status.PASS, ""
    return Status.ERROR, "no check came to a conclusion"


class Cells:
    """State of each NPU; a context manager around the survey, which calls it."""

    def __init__(self, console: Console) -> None:
        """Begin, on a console: cells on a terminal, a line for each NPU elsewhere."""
        self._console = console
        self._begun = time.monotonic()
        self._nodes: Sequence[Node] = ()
        self._npus: dict[tuple[str, int], tuple[str | None, Ended | None]] = {}
        self._live: Live | None = None
        if console.is_terminal and not console.is_dumb_terminal:
            self._live = Live(self, console=console, refresh_per_second=_FRAMES)

    def begin(self, nodes: Sequence[Node]) -> None:
        """Record the nodes."""
        self._nodes = nodes
        total = sum(node.npus for node in nodes)
        self._npus = {(node.id, n): (None, None) for node in nodes for n in range(node.npus)}
        if self._live is None:
            machines = "node" if len(nodes) == 1 else "nodes"
            self._print(f"{total} NPUs on {len(nodes)} {machines}, each in a process of its own")

    def notify(self, node: Node, number: int, npu: str | None, ended: Ended | None) -> None:
        """Record the state of an NPU."""
        self._npus[node.id, number] = npu, ended
        if self._live is None and ended is not None:
            status, summary = finding(ended)
            place = f"{node.name} NPU {'?' if npu is None else npu}"
            count = f"{self._done}/{len(self._npus)}"
            rest = f": {summary}" if summary else ""
            self._print(f"{count:>9} {status.value:<7} {place}{rest} ({ended.seconds:.1f} s)")

    def __enter__(self) -> Self:
        """Begin to draw."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop drawing; the last drawing stays above the report."""
        if self._live is not None:
            self._live.stop()

    @property
    def _done(self) -> int:
        return sum(ended is not None for _, ended in self._npus.values())

    def _print(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw a line of cells for each node; of many nodes those that are not done."""
        if not self._npus:
            yield Text("connecting to the cluster ...", style="dim")
            return
        height = max(options.max_height - 6, 3)
        order = sorted(self._nodes, key=self._settled)
        table = Table.grid(padding=(0, 2, 0, 0))
        for node in order[:height]:
            cells = Text()
            for number in range(node.npus):
                cells.append_text(self._cell(*self._npus[node.id, number]))
            table.add_row(Text(node.name, style="bold"), cells)
        passed = time.monotonic() - self._begun
        count = f"{self._done} of {len(self._npus)} NPUs are done after {passed:.0f} s"
        more = f"; {len(order) - height} nodes more" if len(order) > height else ""
        yield Group(table, Text(f"{count}{more}"), Text(_LEGEND, style="dim"))

    def _settled(self, node: Node) -> bool:
        return all(self._npus[node.id, n][1] is not None for n in range(node.npus))

    @staticmethod
    def _cell(npu: str | None, ended: Ended | None) -> Text:
        if ended is None:
            sign, style = (_WAITING, "dim") if npu is None else (_AT_WORK, "cyan")
        else:
            status = finding(ended)[0]
            sign, style = SIGNS[status], COLOURS[status]
        return Text.assemble((f"{'?' if npu is None else npu:>3}", "dim"), (f"{sign} ", style))
