# SPDX-License-Identifier: Apache-2.0
"""What operators have computed, judged: a finding of which outputs are wrong, how, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.cann.status import meaning
from pyaclnn.health.checks.finding import Finding, ok, value
from pyaclnn.health.child.failures import advice_for
from pyaclnn.health.report.aggregate import worst_together
from pyaclnn.health.report.record import Number, Status
from pyaclnn.health.smoke import cases as smoke

if TYPE_CHECKING:
    from pyaclnn.health.smoke.cases import Outcome

__all__ = ["MOST_EVIDENCE", "judged"]

_SLOW: Final = 1.0
"""Seconds that a small case may take once its kernels are loaded."""
_MOST_WRONG: Final = 6
MOST_EVIDENCE: Final = 6
"""So many pieces of evidence are told of what is wrong."""


def _figure(measured: float) -> float:
    """A figure in as many digits as anybody reads."""
    return float(f"{measured:.4g}")


def _number(outcome: Outcome) -> Number:
    return Number(
        outcome.operator,
        outcome.output,
        outcome.dtype,
        outcome.shape,
        outcome.passed,
        _figure(outcome.max_abs_error),
        float(outcome.limit),
        float(outcome.matched_ratio),
        _figure(outcome.seconds),
        tuple((float(f"{edge:.3g}"), count) for edge, count in outcome.error_histogram if count),
        # What passed is told by the numbers themselves.
        "" if outcome.passed else outcome.verdict,
    )


def _told(outcomes: list[Outcome], *, by_output: bool) -> tuple[Number, ...]:
    """What the report has of comparisons: those that failed, and the worst of those that passed.

    One number stands for what passed of an operator and dtype, whatever its shape; of each output
    if ``by_output``, and then with the elements of all in its histogram.
    """
    numbers = list(map(_number, outcomes))
    alike: dict[tuple[str, ...], list[Number]] = {}
    for number in (number for number in numbers if number.passed):
        key = (number.operator, number.dtype, *([number.output] if by_output else []))
        alike.setdefault(key, []).append(number)
    failed = [number for number in numbers if not number.passed]
    told = [*failed[:_MOST_WRONG], *map(worst_together, alike.values())]
    if by_output:
        return tuple(told)
    return tuple(replace(number, error_histogram=()) for number in told)


def judged(outcomes: list[Outcome], *, timed: bool = False) -> Finding:
    """Make a finding of comparisons: which failed, in what way, and what that points to.

    Args:
        outcomes: The comparisons, one for each output.
        timed: Whether how long they took says something.
    """
    failed = [outcome for outcome in outcomes if not outcome.passed]
    numbers = _told(outcomes, by_output=timed)
    if not failed:
        slow = [outcome for outcome in outcomes if timed and outcome.seconds > _SLOW]
        if slow:
            return _slow(slow, numbers)
        finding = ok(f"{len(outcomes)} outputs are right by CANN's accuracy standard")
        return Finding(finding.status, finding.summary, numbers=numbers)
    first = failed[0]
    evidence = tuple(
        value(f"{o.operator} {o.dtype} {'x'.join(map(str, o.shape))} {o.output}", o.verdict)
        for o in failed[:MOST_EVIDENCE]
    )
    causes, step = _cause_of(failed, outcomes)
    what = "calls failed" if first.output == "-" else "outputs are wrong"
    return Finding(
        Status.FAIL,
        f"{len(failed)} of {len(outcomes)} {what}; first {first.operator} {first.dtype} "
        f"{'x'.join(map(str, first.shape))} {first.output}: {first.verdict.splitlines()[0]}",
        evidence,
        causes,
        step,
        first.code,
        meaning(first.code).name if first.code is not None else None,
        numbers,
    )


_RUN_LONG: Final = "pyaclnn doctor --level long --only NUM; keep the report with --bundle"
_HEALTH: Final = "npu-smi info -t health -i 0; npu-smi info -t ecc -i 0"
_INSTALL: Final = "install the operator package of this chip in the version of the toolkit"

_LOOKS_LIKE: Final[tuple[tuple[str, tuple[str, ...], str], ...]] = (
    (
        "right, but too late",
        (
            (
                "waiting for a stream returns before its work is done: runtime and driver do not "
                "fit together"
            ),
        ),
        "npu-smi info -t board -i 0 (Compatibility)",
    ),
    (
        "nothing was written",
        (
            (
                "the kernel never ran, although every call answered success: a stand-in library, "
                "or an operator package without this kernel"
            ),
        ),
        _INSTALL,
    ),
    (
        "all zero",
        (
            "the operator does nothing: a stand-in library answers success",
            "the operator package is of another version than the toolkit",
        ),
        _INSTALL,
    ),
    (
        "NaN or infinite",
        (
            (
                "the kernel leaves part of its output unwritten: an operator package of another "
                "version, or a damaged one"
            ),
            "the kernel computes with memory that nobody wrote",
        ),
        _INSTALL,
    ),
    (
        "one wrong element",
        (
            "a fault of the hardware: a damaged core or memory cell",
            "the kernel is wrong for this shape",
        ),
        _HEALTH,
    ),
    (
        smoke.IMPRECISE,
        (
            "float32 is computed in a lower precision: a precision mode is set",
            "the kernel is wrong for this chip",
        ),
        _RUN_LONG,
    ),
)
"""What a verdict says, and what that points to; the first that fits counts."""


def _cause_of(failed: list[Outcome], outcomes: list[Outcome]) -> tuple[tuple[str, ...], str]:
    first = failed[0]
    if first.output == "-":
        refused = ("the operator refused what it should accept",), _RUN_LONG
        return advice_for(first.code) or refused
    for words, causes, step in _LOOKS_LIKE:
        if words in first.verdict:
            return causes, step
    wrong, tried = ({outcome.dtype for outcome in group} for group in (failed, outcomes))
    only = f"only {first.dtype} is wrong; " if len(wrong) == 1 < len(tried) else ""
    return (
        f"{only}the kernel is wrong for this chip: an operator package of another version",
        "a fault of the hardware",
    ), _RUN_LONG


def _slow(slow: list[Outcome], numbers: tuple[Number, ...]) -> Finding:
    worst = max(slow, key=lambda outcome: outcome.seconds)
    return Finding(
        Status.WARN,
        f"the numbers are right, but slow: {worst.operator} {worst.dtype} "
        f"{'x'.join(map(str, worst.shape))} took {worst.seconds:.1f} s",
        (value("seconds", f"{worst.seconds:.2f}"),),
        (
            "another process keeps the device busy",
            "operators are compiled at run time, or kernels are loaded from a slow disk",
            "the device runs at a reduced frequency, e.g. because of heat",
        ),
        "npu-smi info -t usages -i 0",
        numbers=numbers,
    )
