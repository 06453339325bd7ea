# SPDX-License-Identifier: Apache-2.0
"""Numeric smoke test of every operator on a backend.

Each operator runs over a few shapes and dtypes, on outputs filled with NaN. They are compared with
the reference evaluated in float64, by CANN's published accuracy standard.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from msgspec.structs import replace

from pyaclnn.base.errors import AclError, MissingSymbolError
from pyaclnn.cann.gate import OUT, fetch
from pyaclnn.cann.library import function
from pyaclnn.cann.raw import ACL_CANN_ATTR_BF16
from pyaclnn.facts.accuracy import QUANTIZED, TOLERANCES, judge
from pyaclnn.facts.chips import find_family
from pyaclnn.facts.operators import Operator, all_operators
from pyaclnn.facts.operators.parameters import Tensor
from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.record import ERROR_EDGES, Number
from pyaclnn.health.smoke.launching import Case, Host, is_possible, prepare
from pyaclnn.runtime.dtypes import DTYPES, WORDS
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyaclnn.facts.accuracy import Verdict
    from pyaclnn.health.smoke.launching import Launched, Prepared
    from pyaclnn.runtime.device import Device

__all__ = [
    "FLOATS",
    "IMPRECISE",
    "OUTLYING",
    "PATIENCE",
    "SHAPES",
    "SOMETIMES",
    "cases",
    "dtypes_of",
    "evaluate_outputs",
    "run",
]

SHAPES = ((4, 64), (3, 5, 192), (48, 1024))
"""The shapes of the smoke test; the first Ascend 910 normalizes multiples of 64 only."""

PATIENCE = 0.25
"""Seconds after which wrong outputs are read once more, in case they were only late."""

IMPRECISE = "within the standard, but only as exact as float16, not as float32"
"""Beginning of the verdict on float32 results that were computed in a lower precision."""
SOMETIMES = "now and then"
"""Beginning of the verdict on outputs that are wrong in some iterations only."""
OUTLYING = "within the standard, but an element errs more than rounding can explain"
"""Beginning of the verdict on results of which single elements are wrong."""
_OUTLYING = 8
"""Bound of an element's error, in tolerances of the standard."""

_ENOUGH, _WIDE = 64, 16
_TYPICAL = 2**-14

FLOATS = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
"""The dtypes of inputs."""


def dtypes_of(device: Device) -> list[np.dtype[Any]]:
    """List the dtypes of a device's chip: bfloat16 only where CANN says so.

    Args:
        device: An open device.
    """
    with device._active():
        has_bfloat16 = fetch("aclGetCannAttribute", ACL_CANN_ATTR_BF16, OUT) == 1
    return [d for d in FLOATS if has_bfloat16 or d != ml_dtypes.bfloat16]


def cases(
    device: Device,
    shapes: Sequence[tuple[int, ...]] = SHAPES,
    names: Sequence[str] = (),
) -> list[Case]:
    """List the cases: operators in every dtype that they take on a device's chip.

    An operator that this chip or an older CANN lacks is left out, unless it is essential: a machine
    without those is reported.

    Args:
        device: An open device.
        shapes: The shapes of the input.
        names: The operators; all if none.
    """
    dtypes, family = dtypes_of(device), find_family(device.soc_name)
    return [
        Case(operator.name, shape, dtype)
        for operator in all_operators().values()
        if not names or operator.name in names
        for dtype in (*dtypes, *_integers(operator))
        if _takes(operator, dtype, family) and _is_there(operator)
        for shape in shapes
        if is_possible(operator, shape, dtype, family)
    ]


def _integers(operator: Operator) -> list[np.dtype[Any]]:
    """Return the integer dtypes that an operator's leading tensor may have."""
    known = (DTYPES[word] for word in operator.types.allowed(operator.primary.type, {}))
    return [dtype for dtype in known if dtype.kind in "iu"]


def _is_there(operator: Operator) -> bool:
    """Return whether to test an operator: the libraries have it, or it is essential."""
    try:
        function(operator.c_name)
    except MissingSymbolError:
        return operator.essential
    return True


def _takes(operator: Operator, dtype: np.dtype[Any], family: str | None) -> bool:
    rows = operator.types.families.get(family or "", () if family else operator.types.rows)
    if not rows and operator.essential:
        rows = operator.types.rows
    return WORDS[dtype] in operator.types.allowed(operator.primary.type, {}, rows)


def run(
    case: Case,
    device: Device,
    patience: float = PATIENCE,
    iterations: int = 1,
    begin: Callable[[], None] = lambda: None,
) -> Iterator[Number]:
    """Run one case.

    Args:
        case: The case.
        device: The device.
        patience: Seconds after which wrong outputs are read once more; 0 for not at all.
        iterations: Number of runs.
        begin: Called before each time but the first.

    Yields:
        One comparison for each output, the worst of all iterations; a single failed one if the call
        itself fails. The verdict on one that failed says how often it did.
    """
    prepared, every = prepare(case, device), Aggregate()
    failed: dict[str, list[int]] = {}
    for iteration in range(1, iterations + 1):
        if iteration > 1:
            begin()
        outcomes = _once(prepared, device, 0.0 if failed else patience)
        every.add(outcomes)
        for outcome in outcomes:
            if not outcome.passed:
                failed.setdefault(outcome.output, []).append(iteration)
    for number in every.numbers():
        times = failed.get(number.output)
        if times and iterations > 1:
            often = SOMETIMES if len(times) < iterations else "always"
            words = f"{often}: in {len(times)} of {iterations} iterations, first in {times[0]}"
            yield replace(number, verdict=f"{words}; {number.verdict}")
        else:
            yield number


def _once(prepared: Prepared, device: Device, patience: float) -> list[Number]:
    try:
        with Stream(device) as stream:
            launched = prepared.launch(stream)
            begun = time.perf_counter()
            stream.synchronize()
            seconds = launched.seconds + time.perf_counter() - begun
            outcomes = list(evaluate_outputs(launched, launched.read(), seconds))
            if patience and not all(outcome.passed for outcome in outcomes):
                outcomes = _look_again(launched, outcomes, patience)
    except AclError as error:
        return [_failed(prepared.case, error)]
    return outcomes


def evaluate_outputs(
    launched: Launched, actual: Mapping[str, Host], seconds: float = 0.0
) -> Iterator[Number]:
    """Compare outputs with the expected ones.

    Args:
        launched: The case.
        actual: Its outputs, read after its stream was waited for.
        seconds: The duration.

    Yields:
        One comparison for each output.
    """
    case = launched.case
    for name, value in actual.items():
        expected, dtype = launched.golden[name], _standard(case, name, value.dtype)
        verdict = judge(value, expected, dtype, quantized=True)
        imprecise = verdict.passed and _is_half_precise(value, expected, case.shape[-1], dtype)
        outlying = verdict.passed and not imprecise and _outlying(value, expected, dtype)
        error = abs(verdict.worst_actual - verdict.worst_golden) if verdict.elements else 0.0
        error, limit = outlying or (error, verdict.limit)
        reason = IMPRECISE if imprecise else OUTLYING if outlying else ""
        words = _in_words(verdict, value)
        yield Number(
            *(case.operator, name, str(case.dtype), case.shape),
            passed=verdict.passed and not reason,
            max_abs_error=_finite(error),
            limit=_finite(limit),
            matched_ratio=_finite(verdict.matched_ratio),
            seconds=seconds,
            error_histogram=_histogram(value, expected, dtype),
            verdict=f"{reason}; {words}" if reason else words,
        )


def _finite(figure: float) -> float | None:
    return float(figure) if math.isfinite(figure) else None


def _outlying(actual: Host, golden: Host, dtype: np.dtype[Any]) -> tuple[float, float] | None:
    """Return error and bound of the element that rounding cannot explain; None if there is none.

    The standard lets one element in a hundred err up to 32 ULP, or up to an absolute figure that is
    51 times its tolerance in float16. Rounding alone stays within the tolerance: an operator
    computes in float32 and rounds its operands and its result once each, which is less than 2 ULP;
    the relative tolerance is 2 to 4 ULP in float16 and bfloat16 and more in float32.
    """
    if dtype not in TOLERANCES:
        return None
    tolerance, wide = TOLERANCES[dtype], golden.astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.abs(actual.astype(np.float64) - wide)
    bound = _OUTLYING * (tolerance.atol + tolerance.rtol * np.abs(wide))
    excess = np.where(np.isfinite(error), error - bound, -np.inf)
    if not np.any(excess > 0):
        return None
    worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
    return float(error[worst]), float(bound[worst])


def _is_half_precise(actual: Host, golden: Host, width: int, dtype: np.dtype[Any]) -> bool:
    """Return whether the typical error of float32 results is that of float16.

    The standard's tolerance for float32 is 2**-10, which covers the rounding of float16. Computing
    in float32 is typically a thousand times more exact for rows as a whole. Single elements cancel,
    and so do all gradients of narrow rows; these are not considered.
    """
    if dtype != np.float32 or golden.size < _ENOUGH or width < _WIDE:
        return False
    # Statistics are one to a row: all of them together count as one row.
    rows = golden.reshape(1, -1) if golden.shape[-1] == 1 else golden.reshape(-1, golden.shape[-1])
    size = np.linalg.norm(rows, axis=1)
    error = np.linalg.norm(actual.astype(np.float64).reshape(rows.shape) - rows, axis=1)
    return float(np.median(error - _TYPICAL * size)) > 0


def _in_words(verdict: Verdict, actual: Host) -> str:
    """Return the verdict, after the kind of fault that it looks like."""
    if verdict.passed or not actual.size:
        return str(verdict)
    wide = actual.astype(np.float64)
    wrong = verdict.compared - verdict.matched + verdict.misplaced
    if np.isnan(wide).all():
        return f"all NaN, as before the call: nothing was written; {verdict}"
    if not wide.any():
        return f"all zero; {verdict}"
    if verdict.misplaced:
        return f"{verdict.misplaced} elements are NaN or infinite; {verdict}"
    if wrong == 1:
        return f"one wrong element; {verdict}"
    return str(verdict)


def _histogram(
    actual: Host, golden: Host, dtype: np.dtype[Any]
) -> tuple[tuple[float | None, int], ...]:
    tolerance = TOLERANCES.get(np.dtype(dtype), QUANTIZED)
    with np.errstate(all="ignore"):
        error = np.abs(actual.astype(np.float64) - golden)
        ratio = error / (tolerance.atol + tolerance.rtol * np.abs(golden))
    # NaN and infinity count beyond every edge.
    ratio = np.where(np.isfinite(ratio), ratio, np.inf).ravel()
    bins = np.searchsorted(np.array(ERROR_EDGES[:-1]), ratio, side="left")
    counts = np.bincount(bins, minlength=len(ERROR_EDGES)).tolist()
    return tuple((edge, n) for edge, n in zip(ERROR_EDGES, counts, strict=True) if n)


def _look_again(launched: Launched, outcomes: list[Number], patience: float) -> list[Number]:
    """Read wrong outputs again after a while; late ones are right then, and still a failure."""
    time.sleep(patience)
    words = f"right, but too late: only {patience} s after aclrtSynchronizeStream had returned"
    again = evaluate_outputs(launched, launched.read())
    return [
        replace(first, verdict=f"{words}; {first.verdict}")
        if second.passed and not first.passed
        else first
        for first, second in zip(outcomes, again, strict=True)
    ]


def _failed(case: Case, error: AclError) -> Number:
    kind = case.operator, "-", str(case.dtype), case.shape
    return Number(*kind, False, None, None, 0.0, 0.0, (), str(error), error.cause or error.code)


def _standard(case: Case, name: str, own_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype by whose standard an output is compared: the least exact one it passed.

    CANN's LayerNorm kernel produces mean and rstd in the dtype of the weight and widens them
    afterwards (CANN: ops-nn norm/layer_norm_v4).
    """
    found = all_operators()[case.operator].by_name[name]
    return case.dtype if isinstance(found, Tensor) and found.exact_as else own_dtype
