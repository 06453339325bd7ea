# SPDX-License-Identifier: Apache-2.0
"""Steps of a child that run operators and evaluate their outputs."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Final

import numpy as np

from pyaclnn.base.errors import AclError
from pyaclnn.cann import raw
from pyaclnn.cann.gate import call
from pyaclnn.facts.operators import all_operators
from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.checks.numbers import OPERATOR_CHECKS
from pyaclnn.health.child.evaluation import MOST_EVIDENCE, evaluate
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.health.smoke.launching import launch
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyaclnn.health.child.session import Session
    from pyaclnn.health.report.record import Evidence
    from pyaclnn.health.smoke.cases import Outcome
    from pyaclnn.health.smoke.launching import Case, Launched

__all__ = ["STEPS"]

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


def _run_all(cases: Iterable[Case], session: Session) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for case in cases:
        # One look at the way in which outputs are wrong is enough.
        patience = smoke.PATIENCE if all(outcome.passed for outcome in outcomes) else 0.0
        outcomes += smoke.run(case, session.device, patience)
    return outcomes


def _operator(name: str, session: Session) -> Finding:
    cases = [case for case in smoke.cases(session.device) if case.operator == name]
    if not cases:
        return skip(f"CANN has no {name} for this chip")
    # The first use loads the kernels, so its duration is meaningless.
    first = _run_all(cases[:1], session)
    if not all(outcome.passed for outcome in first):
        return evaluate(first + _run_all(cases[1:], session))
    return evaluate(_run_all(cases, session), timed=True)


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


STEPS: Final[dict[str, Callable[[Session], Finding]]] = {
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
