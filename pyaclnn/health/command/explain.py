# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from pyaclnn.cann import status as codes
from pyaclnn.health.command.look_up import look_up, suggestions
from pyaclnn.health.report.text import emit, numbered, open_console

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from pyaclnn.health.command.look_up import Entry

__all__ = ["run", "show_entries"]

_UNKNOWN: Final = 1


def show_entries(entries: Sequence[Entry], console: Console) -> None:
    """Print explanations.

    Args:
        entries: The explanations.
        console: The console.
    """
    parts: list[RenderableType] = []
    for entry in entries:
        parts += [Text()] if parts else []
        parts.append(Text(entry.heading, style="bold"))
        parts.append(Padding(Group(*_lines(entry)), (0, 0, 0, 2)))
    emit(parts, console)


def _lines(entry: Entry) -> list[RenderableType]:
    lines: list[RenderableType] = [Text(entry.meaning)]
    if entry.causes:
        lines += [Text("Likely causes:", style="bold"), *numbered(entry.causes)]
    if entry.next_step:
        lines.append(Text.assemble(("Next: ", "bold"), (entry.next_step, "cyan")))
    lines += [Text(note, style="dim") for note in entry.notes]
    return lines


def run(options: argparse.Namespace) -> int:
    """Explain a code, or list them all.

    Args:
        options: The command line.

    Returns:
        The exit status: 0, or 1 for an unknown code.
    """
    console = open_console()
    if options.list:
        _list(console)
        return 0
    asked = " ".join(options.code)
    if not asked.strip():
        options.parser.error("a code, a name or a text is missing after 'explain'")
    entries = look_up(asked)
    if entries:
        show_entries(entries, console)
        return 0
    near = suggestions(asked)
    lines = [f"pyaclnn explain: nothing is known about '{asked}'."]
    lines += ["Did you mean one of these?", *(f"  {line}" for line in near)] if near else []
    lines += [] if near else ["`pyaclnn explain --list` lists every status code."]
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return _UNKNOWN


def _list(console: Console) -> None:
    for code, name in sorted(codes.names().items()):
        known = codes.explanation(code)
        line = Text.assemble((f"{code:>7} {name}", "bold"), f"  {known.meaning}")
        console.print(line, soft_wrap=True)
