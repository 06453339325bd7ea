# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization and its gradients.

Source of the rules: CANN: ops-nn norm/rms_norm and norm/rms_norm_grad.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn.calling.fast_path import Recipes, exact, layouts, prepared_by
from pyaclnn.calling.invocation import Invocation, Prepared
from pyaclnn.calling.refusals import FLOATING, Rules
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.dtypes import float32

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.invocation import Array
    from pyaclnn.runtime.stream import Stream

__all__ = ["RmsNormGradients", "RmsNormResult", "rms_norm", "rms_norm_grad"]


class RmsNormResult(NamedTuple):
    """What ``rms_norm`` returns; arrays of the kind that went in."""

    y: Any
    rstd: Any


class RmsNormGradients(NamedTuple):
    """What ``rms_norm_grad`` returns; arrays of the kind that went in."""

    dx: Any
    dgamma: Any


def _prepare(
    x: Array,
    gamma: Array,
    epsilon: float = 1e-6,
    *,
    stream: Stream | None = None,
    out: Sequence[Array | None] | None = None,
) -> Prepared:
    rules = Rules("rms_norm")
    given = rules.out(out, RmsNormResult._fields)
    invocation = Invocation("rms_norm", {"x": x, "gamma": gamma}, stream, outputs=given)
    lead = _check_x_and_gamma(rules, x, gamma)
    if 0 in gamma.shape and 0 not in lead:
        expected = "not empty: the operator takes no mean over nothing"
        rules.refuse("gamma", f"of shape {gamma.shape}", expected)
    number = rules.epsilon("epsilon", epsilon)
    statistics = lead + (1,) * len(gamma.shape)
    return invocation.prepare(
        "aclnnRmsNorm",
        {
            "x": x,
            "gamma": gamma,
            "epsilon": number,
            "y": invocation.output("out: y", x.shape, [x.dtype], contiguous=True),
            "rstd": invocation.output("out: rstd", statistics, [float32], contiguous=True),
        },
        RmsNormResult,
    )


_FORWARD = Recipes()


@prepared_by(_prepare)
def rms_norm(
    x: Array,
    gamma: Array,
    epsilon: float = 1e-6,
    *,
    stream: Stream | None = None,
    out: Sequence[Array | None] | None = None,
) -> RmsNormResult:
    """Normalize by the root of the mean square over the trailing axes: ``x * rstd * gamma``.

    ``rstd`` is ``1 / sqrt(mean(x ** 2) + epsilon)`` over as many trailing axes as ``gamma`` has.
    Drives ``aclnnRmsNorm``.

    Args:
        x: float32, float16 or bfloat16 of 1 to 8 axes. NumPy arrays in mean NumPy arrays out, when
            all is done; device arrays in mean device arrays out, queued and not waited for.
        gamma: Of the shape of trailing axes of ``x``; float32 or the dtype of ``x``. Not empty,
            unless ``x`` has no rows either: the operator takes no mean over nothing.
        epsilon: Added to the mean square; finite, 0 or more.
        stream: Where to queue the work; the device's default stream if None.
        out: Two arrays to write to, and to return, each of the dtype and shape of what is returned;
            None for one to be allocated. Not overlapping each other or an input; on a device,
            contiguous.

    Returns:
        ``y`` like ``x``; ``rstd`` in float32, of the shape of ``x`` with 1 for each axis of
        ``gamma``.

    Raises:
        InvalidArgumentError: An argument is not acceptable; nothing was computed or allocated.
        AclError: CANN refused the call, or, with NumPy arrays, the work failed.
    """
    key, repeated = _repeat(x, gamma, epsilon, stream, out)
    if repeated is not None:
        return repeated
    prepared = _prepare(x, gamma, epsilon, stream=stream, out=out)
    result: RmsNormResult = prepared.run()
    _FORWARD.remember(key, prepared, (epsilon,))
    return result


def _repeat(
    x: Any, gamma: Any, epsilon: float, stream: Stream | None, out: Any
) -> tuple[object, RmsNormResult | None]:
    """Make the call by a recipe, if there is one; return its key and the result."""
    try:
        key = (x.layout, gamma.layout, epsilon, layouts(out))
        recipe = _FORWARD.get(key)
    except (AttributeError, TypeError):
        return None, None
    if recipe is None or not exact((epsilon,), recipe):
        return key, None
    timeline = recipe.timeline(stream, x.device)
    if timeline is None:
        return key, None
    y, rstd = recipe.results(timeline, x.device, out)
    status = recipe.queue(
        timeline, x.tensor, gamma.tensor, recipe.constants[0], y.tensor, rstd.tensor
    )
    if status > 0:
        raise recipe.failure(status, x, gamma, *recipe.kept, y, rstd)
    return key, None if status else RmsNormResult(y, rstd)


def _prepare_grad(
    dy: Array,
    x: Array,
    rstd: Array,
    gamma: Array,
    *,
    stream: Stream | None = None,
    out: Sequence[Array | None] | None = None,
) -> Prepared:
    rules = Rules("rms_norm_grad")
    given = rules.out(out, RmsNormGradients._fields)
    arrays = {"dy": dy, "x": x, "rstd": rstd, "gamma": gamma}
    invocation = Invocation("rms_norm_grad", arrays, stream, outputs=given)
    lead = _check_x_and_gamma(rules, x, gamma)
    rules.dtype("dy", dy, [x.dtype], ", the dtype of 'x'")
    rules.shape("dy", dy, x.shape, "the shape of 'x'")
    rules.dtype("rstd", rstd, [float32], "")
    _check_rstd(rules, rstd, lead)
    return invocation.prepare(
        "aclnnRmsNormGrad",
        {
            "dy": dy,
            "x": x,
            "rstd": rstd,
            "gamma": gamma,
            "dx": invocation.output("out: dx", x.shape, [x.dtype], contiguous=True),
            "dgamma": invocation.output("out: dgamma", gamma.shape, [float32], contiguous=True),
        },
        RmsNormGradients,
        _sum_over_no_rows if 0 in lead else None,
    )


_BACKWARD = Recipes()


@prepared_by(_prepare_grad)
def rms_norm_grad(
    dy: Array,
    x: Array,
    rstd: Array,
    gamma: Array,
    *,
    stream: Stream | None = None,
    out: Sequence[Array | None] | None = None,
) -> RmsNormGradients:
    """Compute the gradients of ``rms_norm``.

    With ``xhat = x * rstd``, ``g = dy * gamma`` and the mean over the axes of ``gamma``:
    ``dx = (g - xhat * mean(g * xhat)) * rstd``; ``dgamma`` is the sum of ``dy * xhat`` over the
    other axes. ``rstd`` is used as it is given. Drives ``aclnnRmsNormGrad``.

    Args:
        dy: The gradient of ``y``, of dtype and shape of ``x``.
        x: What ``rms_norm`` was given: float32, float16 or bfloat16 of 1 to 8 axes. NumPy arrays in
            mean NumPy arrays out, when all is done; device arrays in mean device arrays out,
            queued and not waited for.
        rstd: float32, one element for each row: of the shape of ``x`` without the axes of
            ``gamma``. Ones may follow; trailing axes of length 1 may be left out.
        gamma: Of the shape of trailing axes of ``x``; float32 or the dtype of ``x``.
        stream: Where to queue the work; the device's default stream if None.
        out: Two arrays to write to, and to return: ``dx`` of dtype and shape of ``x``, ``dgamma``
            in float32 and of the shape of ``gamma``; None for one to be allocated. Not overlapping
            each other or an input; on a device, contiguous.

    Returns:
        ``dx`` like ``x``, and ``dgamma`` in float32 like ``gamma``. Where ``x`` has no rows,
        ``dgamma`` is 0: CANN itself disagrees there from chip to chip, so it is not asked.

    Raises:
        InvalidArgumentError: An argument is not acceptable; nothing was computed or allocated.
        AclError: CANN refused the call, or, with NumPy arrays, the work failed.
    """
    key, repeated = _repeat_grad(dy, x, rstd, gamma, stream, out)
    if repeated is not None:
        return repeated
    prepared = _prepare_grad(dy, x, rstd, gamma, stream=stream, out=out)
    result: RmsNormGradients = prepared.run()
    _BACKWARD.remember(key, prepared, ())
    return result


def _repeat_grad(
    dy: Any, x: Any, rstd: Any, gamma: Any, stream: Stream | None, out: Any
) -> tuple[object, RmsNormGradients | None]:
    """Make the call by a recipe, if there is one; return its key and the result."""
    try:
        key = (dy.layout, x.layout, rstd.layout, gamma.layout, layouts(out))
        recipe = _BACKWARD.get(key)
    except (AttributeError, TypeError):
        return None, None
    timeline = None if recipe is None else recipe.timeline(stream, x.device)
    if recipe is None or timeline is None:
        return key, None
    dx, dgamma = recipe.results(timeline, x.device, out)
    arrays = (dy, x, rstd, gamma, dx, dgamma)
    status = recipe.queue(timeline, *[array.tensor for array in arrays])
    if status > 0:
        raise recipe.failure(status, *arrays)
    return key, None if status else RmsNormGradients(dx, dgamma)


def _sum_over_no_rows(arguments: Sequence[Argument], stream: Stream) -> None:
    dgamma = arguments[-1]
    if isinstance(dgamma, DeviceArray):
        dgamma.fill_bytes(0, stream)


def _check_x_and_gamma(rules: Rules, x: Array, gamma: Array) -> tuple[int, ...]:
    """Check ``x`` and ``gamma``; return the axes of ``x`` that ``gamma`` does not have."""
    rules.dtype("x", x, FLOATING, "")
    rules.dtype("gamma", gamma, [float32, x.dtype], f", as 'x' is {x.dtype}")
    rules.rank("x", x, least=1)
    rules.trailing("gamma", gamma, "x", x)
    return x.shape[: len(x.shape) - len(gamma.shape)]


def _check_rstd(rules: Rules, rstd: Array, lead: tuple[int, ...]) -> None:
    rules.rank("rstd", rstd)
    shorter = min(len(lead), len(rstd.shape))
    agrees = rstd.shape[:shorter] == lead[:shorter]
    # What one of the two has beyond the other must not count.
    rest = math.prod(rstd.shape[shorter:]) if shorter == len(lead) else math.prod(lead[shorter:])
    if not agrees or rest != 1:
        expected = (
            f"of shape {lead}, the axes of 'x' that 'gamma' does not have; ones may follow or be "
            "left out at the end"
        )
        rules.refuse("rstd", f"of shape {rstd.shape}", expected)
