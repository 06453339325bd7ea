# SPDX-License-Identifier: Apache-2.0
"""CANN's published accuracy standard: is a result as good as an operator's must be?

Source: CANN: opbase docs, operator precision standard, experimental edition of 2026-07-15. A result
is held element by element against a golden result of higher precision:

* an element *matches* if `|actual - golden| <= atol + rtol * |golden|`;
* at least 99 % of the elements must match; and
* no error may exceed a limit, which the standard gives in the form "1e-1 or 32 ULP", with a figure
  for each data type.

Where the standard leaves room, this module reads it so:

* **The limit** is an element's own: the larger of the two, with the ULP (unit in the last place)
  that the golden value has in the output's data type. The absolute figure covers results near zero,
  and 32 ULP those so large that neighbouring numbers of the data type lie far apart.
* **Special values** are compared apart from the errors: NaN is required where NaN is expected, and
  an infinity where an infinity of the same sign is; one misplaced value fails the result. A finite
  golden value beyond the data type's range may come out as what the data type rounds it to.
* **float64** is not in the standard, for no NPU computes in it. Its row is the float32 row scaled
  by 2**-29, the ratio of the two formats' ULPs.
* **Integers and booleans** must be equal, every one.
* **No elements** is a pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import ml_dtypes
import numpy as np

from pyaclnn.base.errors import repr_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["EXACT", "QUANTIZED", "REQUIRED_RATIO", "TOLERANCES", "Tolerance", "Verdict", "judge"]

REQUIRED_RATIO = 0.99
"""The share of the elements that must match, for floating-point results."""

LIMIT_ULPS = 32

# NumPy's own does not know bfloat16 and float8; this one states no types.
finfo: Callable[[DTypeLike], Any] = ml_dtypes.finfo


class Tolerance(NamedTuple):
    """One data type's column of the standard.

    Attributes:
        rtol: Allowed error relative to the golden value.
        atol: Allowed error on top of that.
        limit: The error that no element may exceed, unless 32 ULP is more.
        required_ratio: The share of elements that must match.
    """

    rtol: float
    atol: float
    limit: float
    required_ratio: float = REQUIRED_RATIO


TOLERANCES: dict[np.dtype[Any], Tolerance] = {
    np.dtype(np.float16): Tolerance(2**-9, 2**-9, 1e-1),
    np.dtype(ml_dtypes.bfloat16): Tolerance(2**-6, 2**-6, 1.0),
    np.dtype(np.float32): Tolerance(2**-10, 2**-16, 1e-2),
    np.dtype(ml_dtypes.float8_e4m3fn): Tolerance(2**-2, 2**-4, 1.0),
    np.dtype(ml_dtypes.float8_e5m2): Tolerance(2**-1, 2**-3, 1e-1),
    np.dtype(ml_dtypes.float8_e8m0fnu): Tolerance(1.0, 0.0, 0.0),
    np.dtype(np.float64): Tolerance(2**-39, 2**-45, 1e-2 * 2**-29),
}
"""The standard's figures per output data type. Those of float64 are this module's own, and so are
those of scales of blocks, float8_e8m0fnu, which may be the next power of two."""

EXACT = Tolerance(0.0, 0.0, 0.0, required_ratio=1.0)
"""Criteria for integers and booleans."""

QUANTIZED = Tolerance(0.0, 1.0, 1.0, required_ratio=1.0)
"""Criteria for integers that represent real numbers."""


@dataclass(frozen=True)
class Verdict:
    """Result of `judge` in exact figures.

    Attributes:
        dtype: The name of the data type whose figures were applied.
        elements: Number of compared elements.
        compared: Number of those that are finite on both sides, so that they have an error.
        matched: Number of those within `atol + rtol * |golden|`.
        over_limit: Number of those whose error exceeds its limit.
        misplaced: Number of elements with an infinity or NaN where the golden result has something
            else, or the other way round.
        rtol: The relative tolerance applied.
        atol: The absolute tolerance applied.
        required_ratio: The `matched_ratio` that is required.
        max_abs_error: The largest error.
        max_rel_error: The largest error relative to a golden value other than 0.
        worst: The index of the worst element, or None if there are no elements: the first misplaced
            special value if there is one, else the error that is largest in terms of its limit.
        worst_actual: The result there.
        worst_golden: The golden result there.
        limit: The limit of the error there.
    """

    dtype: str
    elements: int
    compared: int
    matched: int
    over_limit: int
    misplaced: int
    rtol: float
    atol: float
    required_ratio: float
    max_abs_error: float
    max_rel_error: float
    worst: tuple[int, ...] | None
    worst_actual: float
    worst_golden: float
    limit: float

    @property
    def matched_ratio(self) -> float:
        """The share of the compared elements that match; 1 if none could be compared."""
        return self.matched / self.compared if self.compared else 1.0

    @property
    def passed(self) -> bool:
        """True if the result satisfies all the criteria."""
        return (
            self.misplaced == 0
            and self.over_limit == 0
            and self.matched_ratio >= self.required_ratio
        )

    def __str__(self) -> str:
        """Describe it in one line."""
        line = (
            f"{'passed' if self.passed else 'failed'}: {self.dtype}, {self.elements} elements, "
            f"{self.matched_ratio:.4%} matched (required {self.required_ratio:.0%}), "
            f"{self.over_limit} over the limit, {self.misplaced} misplaced inf or nan, "
            f"max abs error {self.max_abs_error:.3g}, max rel error {self.max_rel_error:.3g}"
        )
        if self.worst is None or (self.max_abs_error == 0 and self.misplaced == 0):
            return line
        return (
            f"{line}; worst at {self.worst}: {self.worst_actual:.9g} "
            f"instead of {self.worst_golden:.9g} (limit {self.limit:.3g})"
        )


def judge(
    actual: ArrayLike, golden: ArrayLike, dtype: DTypeLike | None = None, *, quantized: bool = False
) -> Verdict:
    """Hold a result against a golden result of higher precision.

    Args:
        actual: The result of the operator, any shape.
        golden: The golden result: the same shape, float64 (other types are converted to it; for an
            integer result, integers are compared as integers).
        dtype: The operator's output data type, if `actual` was converted from it since.
        quantized: True if integers represent real numbers: they may be 1 apart.

    Returns:
        The verdict; ask its `passed`.

    Raises:
        TypeError: The standard has no figures for the data type.
        ValueError: The shapes differ.

    Source: CANN: opbase docs, operator precision standard of 2026-07-15 (see the module's text).
    """
    result, expected = _made(np.asarray, "actual", actual), _made(np.asarray, "golden", golden)
    if result.shape != expected.shape:
        raise ValueError(
            f"actual has the shape {result.shape}; it must be the shape of golden, {expected.shape}"
        )
    kind = result.dtype if dtype is None else _made(np.dtype, "dtype", dtype)
    with np.errstate(all="ignore"):
        if kind.kind in "biu":
            return _judge_exact(kind, result, expected, QUANTIZED if quantized else EXACT)
        if kind not in TOLERANCES:
            raise TypeError(
                f"dtype is {kind}, for which the standard has no figures; it must be an integer "
                f"type or one of {', '.join(map(str, TOLERANCES))}"
            )
        return _judge_floating(kind, result.astype(np.float64), expected.astype(np.float64))


def _made(make: Callable[[Any], Any], name: str, value: object) -> Any:
    """Return what NumPy makes of an argument, whose own text may raise in NumPy's message."""
    try:
        return make(value)
    except (TypeError, ValueError):
        raise
    except Exception as error:
        raise TypeError(f"{name} is {repr_of(value)}, which NumPy cannot take") from error


def _judge_exact(
    dtype: np.dtype[Any], actual: NDArray[Any], golden: NDArray[Any], tolerance: Tolerance
) -> Verdict:
    equal = np.asarray(actual == golden)
    wide_actual, wide_golden = actual.astype(np.float64), golden.astype(np.float64)
    # A difference too small for float64 to show is still a difference.
    error = np.where(equal, 0.0, np.fmax(np.abs(wide_actual - wide_golden), 1.0))
    ordinary = np.ones(actual.shape, bool)
    limits = np.full_like(error, tolerance.limit)
    return _verdict(
        dtype, tolerance, wide_actual, wide_golden, error=error, ordinary=ordinary, limits=limits
    )


def _judge_floating(
    dtype: np.dtype[Any], actual: NDArray[np.float64], golden: NDArray[np.float64]
) -> Verdict:
    rounded = golden.astype(dtype).astype(np.float64)
    ordinary = np.isfinite(actual) & np.isfinite(golden)
    in_place = _same_special(actual, golden) | _same_special(actual, rounded)
    error = np.where(ordinary, np.abs(actual - golden), np.where(in_place, 0.0, np.inf))
    tolerance = TOLERANCES[dtype]
    limits = np.maximum(tolerance.limit, LIMIT_ULPS * ulp(golden, dtype))
    return _verdict(dtype, tolerance, actual, golden, error=error, ordinary=ordinary, limits=limits)


def _same_special(actual: NDArray[np.float64], golden: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where both are NaN, or the same infinity."""
    both_nan = np.isnan(actual) & np.isnan(golden)
    same: NDArray[np.bool_] = both_nan | (np.isinf(actual) & (actual == golden))
    return same


def ulp(values: NDArray[np.float64], dtype: DTypeLike) -> NDArray[np.float64]:
    """Return the distance between neighbouring numbers of a data type at the given values.

    Args:
        values: Where; infinities and NaNs count as 0.
        dtype: A floating-point data type.

    Returns:
        The distances: from the smallest subnormal number up to that at the largest finite one.
    """
    info = finfo(dtype)
    magnitude = np.where(np.isfinite(values), np.abs(values), 0.0)
    _, exponent = np.frexp(np.clip(magnitude, float(info.smallest_normal), float(info.max)))
    distance: NDArray[np.float64] = np.ldexp(1.0, exponent - 1 - int(info.nmant))
    return distance


def _verdict(
    dtype: np.dtype[Any],
    tolerance: Tolerance,
    actual: NDArray[np.float64],
    golden: NDArray[np.float64],
    *,
    error: NDArray[np.float64],
    ordinary: NDArray[np.bool_],
    limits: NDArray[np.float64],
) -> Verdict:
    """Count. `error` is 0 at a special value in its place and infinite at a misplaced one."""
    magnitude = np.abs(golden)
    within = error <= tolerance.atol + tolerance.rtol * magnitude
    nonzero = ordinary & (magnitude > 0)
    relative = error[nonzero] / magnitude[nonzero]
    worst = None
    if error.size:
        excess = np.where(limits > 0, error / limits, error)
        worst = np.unravel_index(int(np.argmax(excess)), error.shape)
    return Verdict(
        dtype=str(dtype),
        elements=error.size,
        compared=int(ordinary.sum()),
        matched=int((within & ordinary).sum()),
        over_limit=int(((error > limits) & ordinary).sum()),
        misplaced=int((~ordinary & (error > 0)).sum()),
        rtol=tolerance.rtol,
        atol=tolerance.atol,
        required_ratio=tolerance.required_ratio,
        max_abs_error=float(np.max(error[ordinary], initial=0.0)),
        max_rel_error=float(np.max(relative, initial=0.0)),
        worst=None if worst is None else tuple(int(index) for index in worst),
        worst_actual=float("nan") if worst is None else float(actual[worst]),
        worst_golden=float("nan") if worst is None else float(golden[worst]),
        limit=tolerance.limit if worst is None else float(limits[worst]),
    )
