# SPDX-License-Identifier: Apache-2.0
"""Explanations of codes and logs on a terminal: the command ``pyaclnn explain``."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from rich.text import Text

from pyaclnn.base.files import open_file
from pyaclnn.base.spelling import nearest
from pyaclnn.cann import status as codes
from pyaclnn.health.explain.codes import suggestions
from pyaclnn.health.explain.log import Log, look_up
from pyaclnn.health.explain.ranks import files_of, lines_of, read_ranks
from pyaclnn.health.report.text import emit, open_console, part

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from pyaclnn.health.explain.entry import Entry
    from pyaclnn.health.explain.ranks import Rank

__all__ = ["show_entries"]

_UNKNOWN: Final = 1
_LARGEST_LOG: Final = 1 << 50
_MOST_RANKS: Final = 8
_LONGEST_SHOWN: Final = 160
_FILE: Final = re.compile(r"(?i)(?:\S*/)?[^\s/]+\.(?:log|txt|out|err)(?:\.\w+)?")
"""Words that can only be names of files."""
_PACKED: Final = (
    (b"\x1f\x8b", "gzip", "gzip -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"\xff\xfe", "UTF-16", "iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16", "iconv -f UTF-16 -t UTF-8"),
)
"""Beginnings of files that are no text for this command, and what makes text of them."""
_LONGEST_BEGIN: Final = 6


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
    if paths and all(map(os.path.lexists, options.code)) and (len(paths) > 1 or paths[0].is_dir()):
        return _show_first(read_ranks(file for path in paths for file in files_of(path)), console)
    asked = " ".join(options.code).strip()
    log = None if options.code and not asked else _log(asked)
    if not asked and (log is None or not log.has_text):
        options.parser.error("a code, a name, a text or a log is missing after 'explain'")
    entries = log.entries() if log is not None else look_up(asked)
    if entries:
        show_entries(entries, console)
        return 0
    if log is not None:
        sys.stderr.write(f"pyaclnn explain: nothing in this log is known{_packed(asked)}\n")
    else:
        _report_unknown(asked, options.code)
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


def _packed(path: str) -> str:
    """Return how to make text of a file that is none, or the end of the sentence."""
    try:
        with open_file(path, "a log", most=_LARGEST_LOG) as file:
            begin = file.read(_LONGEST_BEGIN)
    except OSError:
        return "."  # standard input, or a stream that was read
    found = next((row for row in _PACKED if begin.startswith(row[0])), None)
    return f"; it is in {found[1]}: {found[2]} {quote(path)} | pyaclnn explain" if found else "."


def _report_unknown(asked: str, words: Sequence[str]) -> None:
    near = suggestions(asked)
    lines = [f"pyaclnn explain: nothing is known about '{asked}'."]
    lines += [f"pyaclnn explain: there is no file {text}" for text in _missing(words)]
    lines += ["Did you mean one of these?", *(f"  {line}" for line in near)] if near else []
    lines += [] if near else ["`pyaclnn explain --list` lists every status code."]
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def _missing(words: Sequence[str]) -> Iterator[str]:
    """Yield the words that can only be names of files and are none, with the closest of these."""
    are_files = any(map(os.path.lexists, words))
    for word in words:
        is_path = _FILE.fullmatch(word) or (are_files and {"/", "."} & {*word})
        if is_path and not os.path.lexists(word):
            path = Path(word)
            near = nearest(path.name, [other.name for other in path.parent.glob("*")])
            found = [f"; did you mean '{path.with_name(name)}'?" for name in near]
            yield f"'{word}'{''.join(found) or '.'}"


def _list(console: Console) -> None:
    for code, name in sorted(codes.names().items()):
        known = codes.explanation(code)
        line = Text.assemble((f"{code:>7} {name}", "bold"), f"  {known.meaning}")
        console.print(line, soft_wrap=True)
