# SPDX-License-Identifier: Apache-2.0
"""Answers about variables whose values a line of a log refuses, by the table of variables."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.machine import variables
from pyaclnn.health.checks.driver import read_visible
from pyaclnn.health.explain.entry import TEXT, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyaclnn.facts.machine import Variable

__all__ = ["about_variables"]

_NAME: Final = re.compile(r"\b([A-Z]+(?:_[A-Z]+)+)\b(?:[\s\"'=:\[(]+(?:is )?([\w.,/-]+))?")
"""A name in capitals, and a value behind it."""
_VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"
_ACCEPTED: Final = {
    "folder": "a folder that exists",
    "folders": "folders, separated by colons",
    "writable": "a folder in which this user may write",
    "file": "a file that exists",
    "files": "files, separated by colons or blanks",
    "json": "a file of JSON",
    "interfaces": "names of network interfaces, or their beginnings",
}
"""Accepted values by the kind of a variable."""
_MOST: Final = 4096


@functools.cache
def _rows() -> Mapping[str, Variable]:
    return {row.name: row for row in variables()}


def about_variables(line: str) -> Iterator[Entry]:
    """Explain the variables that a line names: the accepted values, and who reads them.

    Args:
        line: A line that refuses a value.
    """
    for name, text in _NAME.findall(line):
        row = _rows().get(name)
        if name == _VISIBLE:
            problem = read_visible(text, _MOST).problem if text[:1].isdigit() else None
            yield _entry(name, "ascending numbers of devices, with commas", "CANN", problem)
        elif row is not None:
            yield _entry(name, row.words or _ACCEPTED[row.kind], row.needed_by)


def _entry(name: str, accepted: str, reader: str, problem: str | None = None) -> Entry:
    return Entry(
        f"{name} (environment variable)",
        f"The value of {name} is not accepted; it must be {accepted}.",
        (problem or "a typing error, or a value for another release or machine",),
        f"See `echo ${name}`, and unset it or set an accepted value. Who reads it: {reader}.",
        rank=TEXT,
        component="the shell",
        place=-1,  # before a text that only says the same of any variable
    )
