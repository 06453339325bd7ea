# SPDX-License-Identifier: Apache-2.0
"""Evaluation of operators' outputs: which are wrong, in what way, and the likely cause."""

from __future__ import annotations

import dataclasses
import math
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.cann.status import meaning
from pyaclnn.health.checks.finding import Finding, found, ok, value
from pyaclnn.health.child.failures import advice_for
from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.record import Number
from pyaclnn.health.smoke import cases as smoke

if TYPE_CHECKING:
    from pyaclnn.health.smoke.cases import Outcome

__all__ = ["MOST_EVIDENCE", "evaluate"]

_SLOW: Final = 1.0
"""Seconds that a small case may take once its kernels are loaded."""
_MOST_WRONG: Final = 6
MOST_EVIDENCE: Final = 6
"""The number of wrong outputs that a finding lists."""

_BY_VERDICT: Final = {
    "right, but too late": "NUM-operator.late",
    "nothing was written": "NUM-operator.unwritten",
    "all zero": "NUM-operator.zero",
    "NaN or infinite": "NUM-operator.not_finite",
    "one wrong element": "NUM-operator.one_element",
    smoke.IMPRECISE: "NUM-operator.imprecise",
}
"""Outcome by a part of the verdict; the first that fits counts."""


def evaluate(outcomes: list[Outcome], *, timed: bool = False) -> Finding:
    """Build the finding of comparisons.

    Args:
        outcomes: The comparisons, one for each output.
        timed: Whether their durations are meaningful.
    """
    failed = [outcome for outcome in outcomes if not outcome.passed]
    numbers = _numbers(outcomes, by_output=timed)
    slow = [outcome for outcome in outcomes if timed and outcome.seconds > _SLOW]
    if failed:
        finding = _failure(failed, outcomes)
    elif slow:
        worst = max(slow, key=lambda outcome: outcome.seconds)
        seen, seconds = value("seconds", f"{worst.seconds:.2f}"), worst.seconds
        finding = found("NUM-operator.slow", seen, case=_case(worst), seconds=seconds)
    else:
        finding = ok(f"{len(outcomes)} outputs are right by CANN's accuracy standard")
    return dataclasses.replace(finding, numbers=numbers)


def _failure(failed: list[Outcome], outcomes: list[Outcome]) -> Finding:
    first = failed[0]
    finding = found(
        _outcome(failed, outcomes),
        *(value(f"{_case(one)} {one.output}", one.verdict) for one in failed[:MOST_EVIDENCE]),
        failed=len(failed),
        tried=len(outcomes),
        first=f"{_case(first)} {first.output}: {first.verdict.splitlines()[0]}",
        dtype=first.dtype,
    )
    if first.code is None:
        return finding
    if first.output == "-":
        causes, step = advice_for(first.code)
        finding = dataclasses.replace(finding, causes=causes, next_step=step)
    return dataclasses.replace(finding, code=first.code, code_name=meaning(first.code).name)


def _outcome(failed: list[Outcome], outcomes: list[Outcome]) -> str:
    """Return the outcome that fits the first failure."""
    if failed[0].output == "-":
        return "NUM-operator.refused"
    for words, name in _BY_VERDICT.items():
        if words in failed[0].verdict:
            return name
    wrong, tried = ({outcome.dtype for outcome in group} for group in (failed, outcomes))
    return "NUM-operator.one_dtype" if len(wrong) == 1 < len(tried) else "NUM-operator.wrong"


def _case(outcome: Outcome) -> str:
    return f"{outcome.operator} {outcome.dtype} {'x'.join(map(str, outcome.shape))}"


def _numbers(outcomes: list[Outcome], *, by_output: bool) -> tuple[Number, ...]:
    """Return the comparisons for the report: failures, and an aggregate of those that passed.

    One number stands for all shapes of an operator and dtype. With ``by_output`` it stands for one
    output, and has the elements of all shapes in its histogram.
    """
    numbers = list(map(_number, outcomes))
    passed = Aggregate(
        (number for number in numbers if number.passed),
        attrgetter("operator", "dtype", *(["output"] if by_output else [])),
    )
    failed = [number for number in numbers if not number.passed]
    shown = [*failed[:_MOST_WRONG], *passed.numbers()]
    return tuple(n if by_output else replace(n, error_histogram=()) for n in shown)


def _number(outcome: Outcome) -> Number:
    return Number(
        outcome.operator,
        outcome.output,
        outcome.dtype,
        outcome.shape,
        outcome.passed,
        _measured(f"{outcome.max_abs_error:.4g}"),
        _measured(outcome.limit),
        _measured(outcome.matched_ratio),
        _measured(f"{outcome.seconds:.4g}"),
        tuple((_measured(f"{edge:.3g}"), n) for edge, n in outcome.error_histogram if n),
        "" if outcome.passed else outcome.verdict,  # of what passed, the numbers are enough
    )


def _measured(value: float | str) -> float | None:
    """Return a figure; None for one that is not finite."""
    figure = float(value)
    return figure if math.isfinite(figure) else None
