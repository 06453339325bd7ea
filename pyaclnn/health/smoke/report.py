# SPDX-License-Identifier: Apache-2.0
"""Report of the smoke test: a line an operator, a line an output, or JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from pyaclnn.health.report.text import open_console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from pyaclnn.cann.library import Backend
    from pyaclnn.health.report.record import Number

__all__ = ["as_json", "as_text"]

_FIELDS = (
    *("operator", "output", "shape", "dtype", "passed", "max_abs_error", "limit"),
    *("matched_ratio", "verdict", "seconds", "code"),
)
"""The fields of a comparison that are printed as JSON."""

_PASSED, _FAILED = "[green]pass[/]", "[bold red]FAIL[/]"
_PLAIN_WIDTH = 132
"""Columns of the table where the output is no terminal."""


def as_json(backend: Backend, soc_name: str, outcomes: Sequence[Number]) -> str:
    """Return the outcomes as JSON; a figure that does not exist is null.

    Args:
        backend: The backend that computed them.
        soc_name: The chip.
        outcomes: The outcomes, in order.
    """
    rows = [{name: getattr(one, name) for name in _FIELDS} for one in outcomes]
    found = {
        "backend": backend.name,
        "simulated": backend.name == "mock",
        "directory": str(backend.directory),
        "soc_name": soc_name,
        "passed": bool(outcomes) and all(outcome.passed for outcome in outcomes),
        "outcomes": rows,
    }
    return json.dumps(found, indent=2)


def as_text(
    backend: Backend, soc_name: str, outcomes: Sequence[Number], *, every_output: bool
) -> None:
    """Print the outcomes, the backend first and the result last.

    Args:
        backend: The backend that computed them.
        soc_name: The chip.
        outcomes: The outcomes, in order.
        every_output: True if each output has a line, instead of each operator.
    """
    console = open_console(plain=_PLAIN_WIDTH)
    _print_backend(console, backend, soc_name)
    if outcomes:
        console.print(_outputs(outcomes) if every_output else _operators(outcomes))
    for outcome in outcomes:
        if not outcome.passed:
            place = f"{outcome.operator} {outcome.dtype} {outcome.shape} {outcome.output}"
            console.print(f"[bold red]FAIL[/] {escape(place)}:\n  {escape(outcome.verdict)}")
    _print_result(console, backend, outcomes)


def _outputs(outcomes: Sequence[Number]) -> Table:
    table = Table()
    for heading in ("operator", "output", "dtype", "shape"):
        table.add_column(heading)
    for heading in ("max |error|", "allowed", "within tolerance", ""):
        table.add_column(heading, justify="right")
    for outcome in outcomes:
        table.add_row(
            outcome.operator,
            outcome.output,
            outcome.dtype,
            "x".join(map(str, outcome.shape)),
            f"{_figure(outcome.max_abs_error):.2e}",
            f"{_figure(outcome.limit):.2e}",
            f"{_figure(outcome.matched_ratio):.2%}",
            _PASSED if outcome.passed else _FAILED,
        )
    return table


def _figure(value: float | None) -> float:
    return math.nan if value is None else value


def _operators(outcomes: Sequence[Number]) -> Table:
    """Return a table with a line an operator: its cases and the worst of them."""
    table = Table()
    for heading in ("operator", "dtypes"):
        table.add_column(heading)
    for heading in ("outputs", "least within tolerance", ""):
        table.add_column(heading, justify="right")
    for name in dict.fromkeys(outcome.operator for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.operator == name]
        failed = sum(not outcome.passed for outcome in own)
        table.add_row(
            name,
            " ".join(dict.fromkeys(outcome.dtype for outcome in own)),
            str(len(own)),
            f"{min(_figure(outcome.matched_ratio) for outcome in own):.2%}",
            f"{_FAILED}: {failed}" if failed else _PASSED,
        )
    return table


def _print_backend(console: Console, backend: Backend, soc_name: str) -> None:
    if backend.name == "mock":
        console.rule("[bold yellow]SIMULATED NPU - not a chip[/]")
        console.print(
            f"Simulating {soc_name}; these results say nothing about any hardware.", soft_wrap=True
        )
    else:
        console.rule(f"[bold]CANN on {escape(soc_name)}[/]")
    console.print(f"Libraries: {escape(str(backend.directory))}", soft_wrap=True)


def _print_result(console: Console, backend: Backend, outcomes: Sequence[Number]) -> None:
    failed = sum(not outcome.passed for outcome in outcomes)
    where = "on the simulated NPU" if backend.name == "mock" else "on CANN"
    if not outcomes:
        console.print(
            f"[bold red]Nothing ran[/] {where}: this release or chip has no such operator."
        )
    elif failed:
        console.print(f"[bold red]{failed} of {len(outcomes)} outputs FAILED[/] {where}.")
    else:
        console.print(f"[bold green]All {len(outcomes)} outputs passed[/] {where}.")
