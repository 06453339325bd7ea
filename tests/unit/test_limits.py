# SPDX-License-Identifier: Apache-2.0
"""Errors that come of too little memory name the limits, and no others do."""

from __future__ import annotations

import subprocess
import sys

import pytest

UNDER = """
import resource, sys
from pathlib import Path
from pyaclnn.base.limits import limits_on_memory, memory_error_message
which, share = getattr(resource, sys.argv[1]), float(sys.argv[2])
column = {resource.RLIMIT_AS: 0, resource.RLIMIT_DATA: 5}[which]
used = int(Path("/proc/self/statm").read_text().split()[column]) * resource.getpagesize()
if share:
    limit = int(used / share) + (4 << 20)  # what it takes to go on
    resource.setrlimit(which, (limit, limit))
"""
PLANTED = {
    "memory": "MemoryError()",
    "loading": "ImportError('libx.so: failed to map segment from shared object')",
    "a thread": 'RuntimeError("can\'t start new thread")',
    "another": "RuntimeError('the stream is closed')",
}


def told_under(limit: str, share: float, code: str) -> str:
    """Return the output of code in a process that uses a share of a limit; 0: no limit."""
    command = (sys.executable, "-c", UNDER + code, limit, str(share))
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("limit", "words"),
    [("RLIMIT_AS", "KiB of address space (ulimit -v)"), ("RLIMIT_DATA", "KiB of data (ulimit -d)")],
)
def test_each_limit_is_told_with_its_word_in_the_shell(limit: str, words: str) -> None:
    told = told_under(limit, 0.9, "print(limits_on_memory(), limit >> 10)")
    text, size = told.rsplit(maxsplit=1)
    assert text.startswith(f"no more than {size} {words}, of which ")
    assert text.endswith(" are used")


@pytest.mark.parametrize(("share", "told"), [(0.9, True), (0.01, False)])
def test_a_limit_that_is_far_away_may_be_left_out(share: float, told: bool) -> None:
    text = told_under("RLIMIT_AS", share, "print(limits_on_memory(least_use=0.5))")
    assert ("ulimit -v" in text) == told


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("error", "share", "told"),
    [
        ("memory", 0.9, True),
        ("memory", 0.01, True),
        ("loading", 0.9, True),
        ("loading", 0.01, False),
        ("a thread", 0.9, True),
        ("a thread", 0.01, False),
        ("another", 0.9, False),
    ],
)
def test_an_error_is_a_shortage_where_memory_is_short(error: str, share: float, told: bool) -> None:
    text = told_under("RLIMIT_AS", share, f"print(memory_error_message({PLANTED[error]}))").strip()
    assert (text != "None") == told
    assert ("(ulimit -v)" in text and text.endswith("; raise the limit")) == told


def test_what_raised_it_counts_and_its_words_stay() -> None:
    code = """
try:
    try:
        raise MemoryError("no room for 3 arrays")
    finally:
        raise ValueError("first line\\nlast line")
except ValueError as error:
    print(memory_error_message(error))
"""
    told = told_under("RLIMIT_DATA", 0.01, code)
    assert told.startswith("memory ran out (ValueError: last line): this process may have no more ")


def test_without_a_limit_memory_can_run_out_all_the_same() -> None:
    errors = "MemoryError('no room'), ImportError('no room')"
    code = f"print(*map(memory_error_message, ({errors})), sep='|')"
    told = told_under("RLIMIT_AS", 0, code).strip()
    assert told.endswith("|None")
    assert told.startswith("memory ran out (MemoryError: no room)")


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_words_are_found_where_nothing_is_left(limit: str) -> None:
    code = """
import sys
def fill():  # in a function: a new name of a module may need what is not there
    held = None
    for size in (1 << 20, 1 << 10, 32):
        try:
            while True:
                held = (held, bytes(size))
        except MemoryError as error:
            last = error
    sys.stdout.write(memory_error_message(last))
fill()
"""
    told = told_under(limit, 0.9, code)
    assert told.startswith("memory ran out (MemoryError): this process may have no more than ")
