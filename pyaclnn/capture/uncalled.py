# SPDX-License-Identifier: Apache-2.0
"""Operators that a captured program was expected to call and did not."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pyaclnn.base.spelling import did_you_mean
from pyaclnn.calling.by_name import c_spelling
from pyaclnn.capture.roles import with_contents
from pyaclnn.capture.trace import Call, TraceError, read_trace, traces_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["uncalled"]


def uncalled(names: Sequence[str], trace: Path) -> Iterator[str]:
    """Warn of operators that --full names and no recorded call of any process is of.

    Args:
        names: C names of operators.
        trace: The trace of the program; its processes have files beside it.

    Returns:
        A message for each of them, and one for a trace that ends early.
    """
    left, called = dict.fromkeys(names), set()
    try:
        for record in itertools.chain.from_iterable(map(read_trace, traces_of(trace))):
            if not left:
                return
            if isinstance(record, Call):
                left.pop(record.name, None)
                called.add(record.name)
    except TraceError as error:
        yield str(error)
    operators = called & {*with_contents()}
    listing = f"'pyaclnn trace show {trace}' lists all"
    for name in left:
        hint = did_you_mean(c_spelling(name), operators) or listing
        yield f"--full {name}: no call of it was recorded; {hint}"
