# SPDX-License-Identifier: Apache-2.0
"""What a child process tries of the operators on each device: are the numbers right?

Every result is held against float64 by CANN's published accuracy standard, on outputs that were
full of NaN before.
"""

from __future__ import annotations

import functools
from typing import Final

from pyaclnn.facts.operators import all_operators
from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.options import Level

__all__ = ["CHECKS", "OPERATOR_CHECKS", "SOAK"]

SOAK: Final = "NUM-302"
"""The check that only runs if a time for it is given."""

OPERATOR_CHECKS: Final = {f"NUM-{operator}": operator for operator in all_operators()}
"""The public function that each of these checks examines."""

_LOADING: Final = 120.0
"""The first use of an operator loads its kernels."""
_EACH: Final = 10.0
"""What each operator adds to a check of all."""


_check = functools.partial(
    Check,
    category="numbers",
    group="numbers",
    needs=("DEV-106", "DEV-107"),
    level=Level.MEDIUM,
    seconds=_LOADING + _EACH * len(OPERATOR_CHECKS),
)
CHECKS: Final = (
    *(
        _check(
            name,
            operator,
            f"Computes {operator} for float32, float16 and, where the chip has it, bfloat16 in "
            "several shapes, and judges every output by CANN's accuracy standard.",
            seconds=_LOADING,
        )
        for name, operator in OPERATOR_CHECKS.items()
    ),
    _check(
        "NUM-101",
        "edge shapes",
        "One element, one row, rows of one element, lengths just beside a block of 32 bytes, very "
        "long rows, many rows: where kernels treat the rest of a row apart.",
    ),
    _check(
        "NUM-201",
        "repeatability",
        "With deterministic computing switched on, each operator is computed twice on the same "
        "input; the outputs must be equal in every bit.",
    ),
    _check(
        "NUM-202",
        "concurrent streams",
        "Queues every operator on four streams before waiting for any of them, and judges all.",
    ),
    _check(
        "NUM-301",
        "shape sweep",
        "Every operator and dtype over some thirty shapes, three times.",
        level=Level.LONG,
        seconds=900.0,
    ),
    _check(
        "NUM-302",
        "soak",
        "Repeats the operators for the time given with --soak, from several threads and, if asked "
        "for, processes. Judges every result, and watches whether memory and open files grow.",
        level=Level.LONG,
        seconds=300.0,
        group="soak",
    ),
)
