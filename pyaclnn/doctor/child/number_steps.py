# SPDX-License-Identifier: Apache-2.0
"""The child's steps that run operators and judge their numbers."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from typing import TYPE_CHECKING, Final

import numpy as np

from pyaclnn.cann import raw
from pyaclnn.cann.gate import call
from pyaclnn.cann.status import meaning
from pyaclnn.doctor.checks.finding import Finding, ok, skip, value
from pyaclnn.doctor.checks.numbers import OPERATOR_CHECKS
from pyaclnn.doctor.child.failures import advice_for
from pyaclnn.doctor.report.record import Evidence, Number, Status
from pyaclnn.doctor.report.worst import worst_together
from pyaclnn.errors import AclError
from pyaclnn.operators import all_operators
from pyaclnn.runtime.stream import Stream
from pyaclnn.smoke import cases as smoke
from pyaclnn.smoke.launching import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyaclnn.doctor.child.session import Session
    from pyaclnn.smoke.cases import Outcome
    from pyaclnn.smoke.launching import Case, Launched

__all__ = ["STEPS", "judged"]

_EDGES: Final = (
    (1, 1),
    (1, 8),
    (7, 1),
    (1, 15),
    (3, 16),
    (3, 17),
    (2, 31),
    (2, 33),
    (5, 255),
    (2, 2, 2, 3),
    (1, 8192),
    (2, 20011),
    (4099, 8),
)
_SWEEP_LENGTHS: Final = (
    2,
    7,
    32,
    63,
    128,
    129,
    500,
    768,
    1000,
    1024,
    2048,
    2560,
    4096,
    5120,
    12288,
)
_SWEEP: Final = tuple((rows, length) for length in _SWEEP_LENGTHS for rows in (3, 64))
_SWEEP_ROUNDS: Final = 3
_STREAMS: Final = 4
_TWICE: Final = (37, 1531)
_SLOW: Final = 1.0
"""Seconds that a small case may take once its kernels are loaded."""
_MOST_WRONG: Final = 6
_MOST_EVIDENCE: Final = 6


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
    return tuple(dataclasses.replace(number, error_histogram=()) for number in told)


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
        for o in failed[:_MOST_EVIDENCE]
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


def _run_all(cases: Iterable[Case], session: Session) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for case in cases:
        # To see once in what way they are wrong is enough.
        patience = smoke.PATIENCE if all(outcome.passed for outcome in outcomes) else 0.0
        outcomes += smoke.run(case, session.device, patience)
    return outcomes


def _operator(name: str, session: Session) -> Finding:
    cases = [case for case in smoke.cases(session.device) if case.operator == name]
    if not cases:
        return skip(f"CANN has no {name} for this chip")
    # The first use loads the kernels; what it takes says nothing.
    first = _run_all(cases[:1], session)
    if not all(outcome.passed for outcome in first):
        return judged(first + _run_all(cases[1:], session))
    return judged(_run_all(cases, session), timed=True)


def _few_dtypes(cases: Sequence[Case]) -> list[Case]:
    """Of operators that are not essential only the cases of their first dtype.

    Many shapes times many operators take long; what is special about a shape shows in any dtype.
    """
    first: dict[str, object] = {}
    for case in cases:
        first.setdefault(case.operator, case.dtype)
    known = all_operators()
    return [c for c in cases if known[c.operator].essential or c.dtype == first[c.operator]]


def _edges(session: Session) -> Finding:
    return judged(_run_all(_few_dtypes(smoke.cases(session.device, _EDGES)), session))


def _sweep(session: Session) -> Finding:
    cases = _few_dtypes(smoke.cases(session.device, _SWEEP)) * _SWEEP_ROUNDS
    return judged(_run_all(cases, session))


@contextlib.contextmanager
def _deterministic(session: Session) -> Iterator[bool]:
    """Switch deterministic computing on for a while; says whether that can be done here."""
    with session.device._active():
        try:
            call("aclrtCtxSetSysParamOpt", raw.ACL_OPT_DETERMINISTIC, 1)
        except AclError:
            yield False
            return
        try:
            yield True
        finally:
            call("aclrtCtxSetSysParamOpt", raw.ACL_OPT_DETERMINISTIC, 0)


def _twice(session: Session) -> Finding:
    different: list[Evidence] = []
    cases = smoke.cases(session.device, (_TWICE,))
    with _deterministic(session) as switched, Stream(session.device) as stream:
        for case in cases:
            if not switched and case.operator.endswith(("_grad", "_backward")):
                # Sums over rows may be made in any order unless told otherwise.
                continue
            runs = []
            for _ in range(2):
                launched = launch(case, stream)
                stream.synchronize()
                runs.append(launched.read())
            for name, first in runs[0].items():
                count = _unequal_bits(first, runs[1][name])
                if count:
                    label = f"{case.operator} {case.dtype} {name}"
                    different.append(value(label, f"{count} of {first.size} elements differ"))
    if not different:
        return ok(f"{len(cases)} cases give the same bits when repeated")
    return Finding(
        Status.FAIL,
        f"the same input gives different bits: {different[0].label}, {different[0].text}",
        tuple(different[:_MOST_EVIDENCE]),
        (
            "a fault of the hardware: a core that computes wrongly now and then",
            "the operator reads memory that nobody wrote",
            "the operator has no deterministic version in this CANN",
        ),
        "pyaclnn doctor --level long --only NUM --soak 600",
    )


def _unequal_bits(first: np.ndarray, second: np.ndarray) -> int:
    left, right = (
        np.ascontiguousarray(a).view(np.uint8).reshape(a.size, -1) for a in (first, second)
    )
    return int(np.count_nonzero((left != right).any(axis=1)))


def _streams(session: Session) -> Finding:
    cases = smoke.cases(session.device, smoke.SHAPES[:2])
    streams = [Stream(session.device) for _ in range(_STREAMS)]
    try:
        launched: list[Launched] = [
            launch(case, streams[index % _STREAMS]) for index, case in enumerate(cases)
        ]
        for stream in streams:
            stream.synchronize()
        outcomes = [
            outcome for item in launched for outcome in smoke.judge_outputs(item, item.read())
        ]
    finally:
        for stream in streams:
            stream.close()
    return judged(outcomes)


STEPS: Final[dict[str, Callable[[Session], Finding | None]]] = {
    **{
        identity: functools.partial(_operator, operator)
        for identity, operator in OPERATOR_CHECKS.items()
    },
    "NUM-101": _edges,
    "NUM-201": _twice,
    "NUM-202": _streams,
    "NUM-301": _sweep,
}
"""The function of each check."""
