# SPDX-License-Identifier: Apache-2.0
"""Functions of the simulated NPU that can wait, read from the C sources, and what they wait for.

A function waits if it calls ``mock_wait_progress``, itself or through others. What it waits for
follows from the functions on the way.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from tests.architecture.c_graph import ROOT

__all__ = ["OPERATOR", "WAITED_FOR", "waiting_functions", "what_it_awaits"]

OPERATOR: Final = "mock_operator_phase1"
"""The entry of phase 1 of every operator."""

WAITED_FOR: Final = {
    "HELLO": {"mock_process_start"},
    "CHECK": {"mock_phase1"},
    "RUN": {"mock_stream_wait", "mock_stream_run"},
    "BYE": {"mock_process_stop"},
    "FORGET": {"mock_process_detach"},
    "ranks": {"mock_communicators_await"},
}
"""The holders of a wait, a request of the wire or ranks, with the functions that wait for them."""

_NOISE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_FUNCTION = re.compile(
    r"^[A-Za-z_][\w ]*?[ *](\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.DOTALL | re.MULTILINE
)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
_EXPORTED = re.compile(r"(acl|Hccl|Nnopbase)[A-Za-z]")
# They wait for a second at most; the last one runs at the end of every call.
_BOUNDED = {"mock_stream_advance", "mock_advance_eagerly"}


@cache
def _calls() -> dict[tuple[str, str], frozenset[tuple[str, str]]]:
    """Return which functions each calls; both by file and name, for static ones share names."""
    named: dict[tuple[str, str], set[str]] = {}
    for path in sorted(ROOT.rglob("*.c")):
        code = _NOISE.sub("", path.read_text(encoding="utf-8"))
        for name, body in _FUNCTION.findall(code):
            named.setdefault((str(path), name), set()).update(_CALL.findall(body))
    shared = {name: (path, name) for path, name in named if name.startswith("mock_")}
    return {
        (path, name): frozenset(
            (path, word) if (path, word) in named else shared[word]
            for word in words
            if (path, word) in named or word in shared
        )
        for (path, name), words in named.items()
    }


@cache
def _reached(function: tuple[str, str]) -> frozenset[str]:
    found, left = {function}, [function]
    while left:
        place = left.pop()
        new = _calls()[place] - found if place[1] not in _BOUNDED else set()
        found |= new
        left += new
    return frozenset(name for _, name in found)


@cache
def waiting_functions() -> dict[str, frozenset[str]]:
    """Return every entry of the libraries that can wait, and what it calls on the way."""
    return {
        name: _reached((path, name))
        for path, name in sorted(_calls(), key=lambda place: place[1])
        if (_EXPORTED.match(name) or name == OPERATOR)
        and "mock_wait_progress" in _reached((path, name))
    }


def what_it_awaits(name: str) -> list[str]:
    """Return what can hold a waiting function."""
    reached = waiting_functions()[name]
    found = [what for what, by in WAITED_FOR.items() if by & reached]
    # A process that has not started is not asked to end.
    return [what for what in found if what not in ("BYE", "FORGET") or "HELLO" not in found]
