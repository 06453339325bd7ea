# SPDX-License-Identifier: Apache-2.0
"""Steps that run operators and evaluate their outputs: which are wrong, and the likely cause."""

from __future__ import annotations

import contextlib
import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from pyaclnn.base.errors import AclError, DeviceLostError
from pyaclnn.cann import raw
from pyaclnn.cann.gate import call
from pyaclnn.cann.status import explanation, meaning
from pyaclnn.facts.operators import all_operators
from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.child.failures import advice_for, lost_after
from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.health.smoke.launching import launch
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyaclnn.health.child.session import Session
    from pyaclnn.health.report.record import Evidence, Number
    from pyaclnn.health.smoke.launching import Case, Launched

__all__ = ["evaluate"]

_SLOW: Final = 1.0
"""Seconds that a small case may take once its kernels are loaded."""
_DURATION: Final = attrgetter("seconds")
MOST_EVIDENCE: Final = 6
"""The number of wrong outputs that a finding lists."""

_PHASE_1: Final = "GetWorkspaceSize"
"""End of the names of functions that a launch calls between making and destroying its tensors."""
_BY_VERDICT: Final = {
    smoke.SOMETIMES: "NUM-operator.sometimes",
    "right, but too late": "NUM-operator.late",
    "nothing was written": "NUM-operator.unwritten",
    "all zero": "NUM-operator.zero",
    "NaN or infinite": "NUM-operator.not_finite",
    "one wrong element": "NUM-operator.one_element",
    smoke.IMPRECISE: "NUM-operator.imprecise",
}
"""Outcome by a part of the verdict; the first that fits counts."""


def evaluate(outcomes: list[Number], *, timed: bool = False) -> Finding:
    """Build the finding of comparisons.

    Args:
        outcomes: The comparisons, one for each output.
        timed: True if their durations are meaningful.
    """
    failed = [outcome for outcome in outcomes if not outcome.passed]
    numbers = _numbers(outcomes, by_output=timed)
    worst = max(outcomes, key=lambda number: number.seconds or 0.0)
    seconds = worst.seconds or 0.0
    if failed:
        finding = _failure(failed, outcomes)
    elif timed and seconds > _SLOW:
        seen = value("seconds", f"{seconds:.2f}")
        finding = found(
            "NUM-operator.slow", seen, case=f"{worst.operator} {worst.case}", seconds=seconds
        )
    else:
        finding = ok(f"{len(outcomes)} outputs are right by CANN's accuracy standard")
    return dataclasses.replace(finding, numbers=numbers)


def _failure(failed: list[Number], outcomes: list[Number]) -> Finding:
    first = failed[0]
    finding = found(
        _outcome(failed, outcomes),
        value("function of CANN", all_operators()[first.operator].c_name),
        *(
            value(f"{one.operator} {one.case} {one.output}", one.verdict)
            for one in failed[:MOST_EVIDENCE]
        ),
        failed=len(failed),
        tried=len(outcomes),
        first=f"{first.operator} {first.case} {first.output}: {first.verdict.splitlines()[0]}",
        dtype=first.dtype,
    )
    if first.code is None:
        return finding
    if first.output == "-":
        causes, step = advice_for(first.code)
        if issubclass(explanation(first.code).exception, DeviceLostError):
            causes = (lost_after(_before(first)), *causes)
        finding = dataclasses.replace(finding, causes=causes, next_step=step)
    return dataclasses.replace(finding, code=first.code, code_name=meaning(first.code).name)


def _before(failed: Number) -> str:
    """Return the call that a launch makes before the one that failed, or the last of the launch."""
    routine = failed.verdict.partition(" ")[0]
    operator = routine.removesuffix(_PHASE_1)
    if not operator.startswith("aclnn"):
        return "aclDestroyTensor"
    return "aclCreateTensor" if routine.endswith(_PHASE_1) else f"{operator}{_PHASE_1}"


def _outcome(failed: list[Number], outcomes: list[Number]) -> str:
    """Return the outcome that fits the first failure."""
    if failed[0].output == "-":
        return "NUM-operator.refused"
    for words, name in _BY_VERDICT.items():
        if words in failed[0].verdict:
            return name
    wrong, tried = ({outcome.dtype for outcome in group} for group in (failed, outcomes))
    return "NUM-operator.one_dtype" if len(wrong) == 1 < len(tried) else "NUM-operator.wrong"


def _numbers(outcomes: list[Number], *, by_output: bool) -> tuple[Number, ...]:
    """Return the comparisons for the report: failures, and an aggregate of those that passed.

    One number stands for all shapes of an operator and dtype. With ``by_output`` it stands for one
    output, and has the elements of all shapes in its histogram.
    """
    passed = Aggregate(
        (replace(n, verdict="") for n in outcomes if n.passed),  # the figures are enough
        attrgetter("operator", "dtype", *(["output"] if by_output else [])),
    )
    failed = [number for number in outcomes if not number.passed]
    return tuple(
        replace(
            number,
            max_abs_error=_rounded(number.max_abs_error),
            seconds=_rounded(number.seconds),
            error_histogram=number.error_histogram if by_output else (),
        )
        for number in (*failed[:MOST_EVIDENCE], *passed.numbers())
    )


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else float(f"{figure:.4g}")


_EDGES: Final = (
    *((1, 1), (1, 8), (7, 1), (1, 15), (3, 16), (3, 17), (2, 31), (2, 33), (5, 255)),
    *((2, 2, 2, 3), (1, 8192), (2, 20011), (4099, 8)),
)
_SWEEP_LENGTHS: Final = (
    *(2, 7, 32, 63, 128, 129, 500, 768, 1000, 1024, 2048, 2560, 4096, 5120, 12288),
)
_SWEEP: Final = tuple((rows, length) for length in _SWEEP_LENGTHS for rows in (3, 64))
_SWEEP_ROUNDS: Final = 3
_STREAMS: Final = 4
_TWICE: Final = (37, 1531)


def _run_all(cases: Iterable[Case], session: Session) -> list[Number]:
    outcomes: list[Number] = []
    patience, iterations = smoke.PATIENCE, session.task.iterations
    for case in cases:
        found = list(smoke.run(case, session.device, patience, iterations, session.begin))
        if not _passed(found):
            patience = 0.0  # one look at the way in which outputs are wrong is enough
        outcomes += found
    return outcomes


def _operator(session: Session) -> Finding:
    name = session.step.removeprefix("NUM-")
    brief = session.stand_in is not None
    shapes = smoke.SHAPES[:1] if brief else smoke.SHAPES
    cases = smoke.cases(session.device, shapes, (name,))
    if not cases:
        return skip(f"CANN has no {name} for this chip")
    # The first use loads the kernels, so its duration is meaningless.
    first = _run_all(cases[:1], session)
    if brief or not _passed(first):
        return evaluate(first + _run_all(cases[1:], session))
    outcomes = _run_all(cases, session)
    if _passed(outcomes) and max(map(_DURATION, outcomes)) > _SLOW:
        again = _run_all(cases, session)  # slow once may be other programs' doing
        pairs = zip(outcomes, again, strict=True) if _passed(again) else ()
        outcomes = [min(pair, key=_DURATION) for pair in pairs] or again
    return evaluate(outcomes, timed=True)


def _passed(outcomes: Iterable[Number]) -> bool:
    return all(outcome.passed for outcome in outcomes)


def _few_dtypes(cases: Sequence[Case]) -> list[Case]:
    """Return all cases of essential operators, and those of the first dtype of the others.

    Many shapes times many operators take long, and a fault of a shape shows in any dtype.
    """
    first: dict[str, object] = {}
    for case in cases:
        first.setdefault(case.operator, case.dtype)
    known = all_operators()
    return [c for c in cases if known[c.operator].essential or c.dtype == first[c.operator]]


def _edges(session: Session) -> Finding:
    return evaluate(_run_all(_few_dtypes(smoke.cases(session.device, _EDGES)), session))


def _sweep(session: Session) -> Finding:
    cases = _few_dtypes(smoke.cases(session.device, _SWEEP)) * _SWEEP_ROUNDS
    return evaluate(_run_all(cases, session))


@contextlib.contextmanager
def _deterministic(session: Session) -> Iterator[bool]:
    """Switch deterministic computing on for a while; yield whether that is possible here."""
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
                # Sums over rows are made in any order without the switch.
                continue
            runs = []
            for _ in range(max(2, session.task.iterations)):
                launched = launch(case, stream)
                stream.synchronize()
                runs.append(launched.read())
            for name, first in runs[0].items():
                count = max(_unequal_bits(first, run[name]) for run in runs[1:])
                if count:
                    label = f"{case.operator} {case.dtype} {name}"
                    different.append(value(label, f"{count} of {first.size} elements differ"))
    if not different:
        return ok(f"{len(cases)} cases give the same bits when repeated")
    words = f"{different[0].label}, {different[0].text}"
    return found("NUM-201.different", *different[:MOST_EVIDENCE], first=words)


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
            outcome for item in launched for outcome in smoke.evaluate_outputs(item, item.read())
        ]
    finally:
        for stream in streams:
            stream.close()
    return evaluate(outcomes)
