# SPDX-License-Identifier: Apache-2.0
"""Explanations of codes and logs on a terminal: the command ``pyaclnn explain``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

from pyaclnn.base.files import open_file
from pyaclnn.cann import status as codes
from pyaclnn.health.explain.codes import suggestions
from pyaclnn.health.explain.log import Log, look_up
from pyaclnn.health.explain.ranks import files_of, lines_of, read_ranks
from pyaclnn.health.report.text import emit, open_console, part

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from rich.console import Console

    from pyaclnn.health.explain.entry import Entry
    from pyaclnn.health.explain.ranks import Rank

__all__ = ["show_entries"]

_UNKNOWN: Final = 1
_LARGEST_LOG: Final = 1 << 50
_MOST_RANKS: Final = 8
_LONGEST_SHOWN: Final = 160


def show_entries(entries: Sequence[Entry], console: Console) -> None:
    """Print explanations: the first as the cause, the others as its consequences.

    Args:
        entries: The explanations, the innermost cause first.
        console: The console.
    """
    emit(part("entries", entries), console)


def run(options: argparse.Namespace) -> int:
    """Explain a code or a log, or list all codes.

    Args:
        options: The command line.

    Returns:
        The exit status: 0, or 1 if nothing in it is known.
    """
    console = open_console()
    if options.list:
        _list(console)
        return 0
    paths = [Path(text) for text in options.code]
    if paths and all(map(os.path.lexists, paths)) and (len(paths) > 1 or paths[0].is_dir()):
        return _show_first(read_ranks(file for path in paths for file in files_of(path)), console)
    asked = " ".join(options.code).strip()
    log = _log(asked)
    if not asked and (log is None or not log.has_text):
        options.parser.error("a code, a name, a text or a log is missing after 'explain'")
    entries = log.entries() if log is not None else look_up(asked)
    if entries:
        show_entries(entries, console)
        return 0
    _report_unknown(asked, is_log=log is not None)
    return _UNKNOWN


def _log(asked: str) -> Log | None:
    """Read the log that is meant: standard input, or a file; None for a code or a text."""
    if asked == "-" or (not asked and not os.isatty(0)):
        with open(0, "rb", closefd=False) as file:  # a descriptor
            return Log().read(lines_of(file))
    # A code is never taken for a file that happens to be called like it.
    if asked and os.path.lexists(asked) and not look_up(asked):
        with open_file(asked, "a log", most=_LARGEST_LOG, streams=True) as file:
            return Log().read(lines_of(file))
    return None


def _show_first(ranks: Sequence[Rank], console: Console) -> int:
    """Print which rank failed first, those that followed, and the explanation of the first."""
    failed = [rank for rank in ranks if rank.line]
    for number, rank in enumerate(failed[:_MOST_RANKS]):
        when = f"{rank.failed or 'at an unknown time'}  {rank.name}"
        head = Text("failed first: " if not number else "        then: ", "bold")
        console.print(Text.assemble(head, when), soft_wrap=True)
        console.print(Text(f"              {rank.line[:_LONGEST_SHOWN]}"), soft_wrap=True)
    if len(failed) > _MOST_RANKS:
        console.print(f"        and {len(failed) - _MOST_RANKS} more")
    for rank in [rank for rank in ranks if not rank.line][:_MOST_RANKS]:
        console.print(f"no failure in {rank.name}; it ends at {rank.ended or 'an unknown time'}")
    if not failed:
        return _UNKNOWN
    console.print("Clocks of machines may differ: compare those of the first two.", soft_wrap=True)
    entries = failed[0].log.entries()
    if entries:
        show_entries(entries, console)
    return 0


def _report_unknown(asked: str, *, is_log: bool) -> None:
    if is_log:
        lines = ["pyaclnn explain: nothing in this log is known."]
    else:
        near = suggestions(asked)
        lines = [f"pyaclnn explain: nothing is known about '{asked}'."]
        lines += ["Did you mean one of these?", *(f"  {line}" for line in near)] if near else []
        lines += [] if near else ["`pyaclnn explain --list` lists every status code."]
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def _list(console: Console) -> None:
    for code, name in sorted(codes.names().items()):
        known = codes.explanation(code)
        line = Text.assemble((f"{code:>7} {name}", "bold"), f"  {known.meaning}")
        console.print(line, soft_wrap=True)
