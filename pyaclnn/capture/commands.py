# SPDX-License-Identifier: Apache-2.0
"""The commands ``pyaclnn trace`` and ``replay``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyaclnn.base.errors import AclError
from pyaclnn.capture.program import complain
from pyaclnn.capture.trace import TraceError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from pyaclnn.capture.verdict import Outcome

__all__ = ["compare_traces", "replay_trace", "show_trace", "write_test"]

_DIFFERENT = 1


def _print(command: str, lines: Callable[[], Iterable[str]]) -> int:
    try:
        for line in lines():
            sys.stdout.write(f"{line}\n")
    except (TraceError, AclError) as error:
        return complain(command, error)
    return 0


def show_trace(options: argparse.Namespace) -> int:
    """Print the calls of a trace."""
    from pyaclnn.capture.show import lines_of  # noqa: PLC0415  # each needs little of the others

    given = {"operator": options.operator, "failed": options.failed, "as_json": options.json}
    return _print("trace show", lambda: lines_of(options.trace, **given))


def write_test(options: argparse.Namespace) -> int:
    """Print a test of one call."""
    from pyaclnn.capture.example import test_of  # noqa: PLC0415  # likewise

    return _print("trace test", lambda: [test_of(options.trace, options.number).rstrip("\n")])


def compare_traces(options: argparse.Namespace) -> int:
    """Compare two traces, and print where they part."""
    from pyaclnn.capture.compare import compare  # noqa: PLC0415  # likewise

    return _report("trace compare", options, lambda: compare(
        options.trace, options.other, exact=options.exact))  # fmt: skip


def replay_trace(options: argparse.Namespace) -> int:
    """Run the calls of a trace again, and print where the answers part."""
    from pyaclnn.capture.replay import replay  # noqa: PLC0415  # likewise

    return _report("replay", options, lambda: replay(
        options.trace, exact=options.exact, fail_early=options.fail_early))  # fmt: skip


def _report(command: str, options: argparse.Namespace, make: Callable[[], Outcome]) -> int:
    try:
        outcome = make()
    except (TraceError, AclError) as error:
        return complain(command, error)
    if not (outcome.calls or outcome.skipped or outcome.divergences):
        return complain(command, f"'{options.trace}' has no call: its process ended too early")
    texts = {
        options.json: outcome.json,
        options.junit: outcome.junit,
        options.report: outcome.table,
    }
    sys.stdout.write(f"{outcome.text()}\n")
    try:
        for path, text in texts.items():
            if path is not None:
                path.write_text(f"{text()}\n", "utf-8")
    except OSError as error:
        return complain(command, error)
    return _DIFFERENT if outcome.divergences else 0
