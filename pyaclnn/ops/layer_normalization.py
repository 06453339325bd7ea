# SPDX-License-Identifier: Apache-2.0
"""Layer normalization and its gradients.

Source of the rules: CANN: ops-nn norm/layer_norm_v4 and norm/layer_norm_grad_v3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.calling.arguments import BoolArray, IntArray
from pyaclnn.calling.fast_path import Recipes, exact, layouts, prepared_by
from pyaclnn.calling.invocation import Invocation, Masked, Prepared
from pyaclnn.calling.launch import NO_TENSOR
from pyaclnn.calling.refusals import FLOATING, Rules
from pyaclnn.runtime.dtypes import float32

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.invocation import Array
    from pyaclnn.runtime.stream import Stream

__all__ = ["LayerNormGradients", "LayerNormResult", "layer_norm", "layer_norm_backward"]


class LayerNormResult(NamedTuple):
    """What ``layer_norm`` returns; arrays of the kind that went in."""

    out: Any
    mean: Any
    rstd: Any


class LayerNormGradients(NamedTuple):
    """What ``layer_norm_backward`` returns; None for what ``output_mask`` leaves out."""

    grad_input: Any
    grad_weight: Any
    grad_bias: Any


def _prepare(
    input: Array,
    normalized_shape: int | Sequence[int],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    *,
    stream: Stream | None = None,
    out: Sequence[Array | None] | None = None,
) -> Prepared:
    rules = Rules("layer_norm")
    given = rules.out(out, LayerNormResult._fields)
    invocation = Invocation(
        "layer_norm",
        {"input": input},
        stream,
        optional={"weight": weight, "bias": bias},
        outputs=given,
    )
    rules.dtype("input", input, FLOATING, "")
    _check_parameter(rules, "weight", weight, input)
    _check_parameter(rules, "bias", bias, input)
    if weight is not None and bias is not None:
        rules.dtype("bias", bias, [weight.dtype], ", the dtype of 'weight'")
    shape = _check_shapes(rules, input, normalized_shape, weight, bias)
    epsilon = rules.epsilon("eps", eps)
    statistics = input.shape[: -len(shape)] + (1,) * len(shape)
    return invocation.prepare(
        "aclnnLayerNorm",
        {
            "input": input,
            "normalized_shape": IntArray(shape),
            "weight": weight,
            "bias": bias,
            "eps": epsilon,
            "out": invocation.output("out: out", input.shape, [input.dtype]),
            "mean": invocation.output("out: mean", statistics, [float32]),
            "rstd": invocation.output("out: rstd", statistics, [float32]),
        },
        LayerNormResult,
    )


_FORWARD = Recipes()


@prepared_by(_prepare)
def layer_norm(
    input: Array,
    normalized_shape: int | Sequence[int],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    *,
    stream: Stream | None = None,
    out: Sequence[Array | None] | None = None,
) -> LayerNormResult:
    """Normalize over the trailing axes: ``(input - mean) * rstd * weight + bias``.

    ``mean`` is that of the normalized axes, ``rstd`` is ``1 / sqrt(variance + eps)`` with the
    biased variance. Drives ``aclnnLayerNorm``.

    Args:
        input: float32, float16 or bfloat16 of 1 to 8 axes. NumPy arrays in mean NumPy arrays out,
            when all is done; device arrays in mean device arrays out, queued and not waited for.
        normalized_shape: The lengths of the trailing axes of ``input`` to normalize over.
        weight: Of shape ``normalized_shape``, float32 or the dtype of ``input``; ones if None.
        bias: The same, and of the dtype of ``weight`` if that is given; zeros if None.
        eps: Added to the variance; finite, 0 or more.
        stream: Where to queue the work; the device's default stream if None.
        out: Three arrays to write to, and to return, each of the dtype and shape of what is
            returned; None for one to be allocated. Not overlapping each other or an input. Strided
            device arrays are fine.

    Returns:
        ``out`` like ``input``; ``mean`` and ``rstd`` in float32, of the shape of ``input`` with 1
        for each normalized axis. Over no elements, ``mean`` is 0 and ``rstd`` NaN.

    Raises:
        InvalidArgumentError: An argument is not acceptable; nothing was computed or allocated.
        AclError: CANN refused the call, or, with NumPy arrays, the work failed.
    """
    key, repeated = _repeat(input, normalized_shape, weight, bias, eps, stream, out)
    if repeated is not None:
        return repeated
    prepared = _prepare(input, normalized_shape, weight, bias, eps, stream=stream, out=out)
    result: LayerNormResult = prepared.run()
    _FORWARD.remember(key, prepared, (normalized_shape, eps))
    return result


def _repeat(
    input: Any,
    normalized_shape: object,
    weight: Any,
    bias: Any,
    eps: float,
    stream: Stream | None,
    out: Any,
) -> tuple[object, LayerNormResult | None]:
    """Make the call by a recipe, if there is one; return its key and the result."""
    try:
        weights = (
            None if weight is None else weight.layout,
            None if bias is None else bias.layout,
        )
        key = (input.layout, normalized_shape, *weights, eps, layouts(out))
        recipe = _FORWARD.get(key)
    except (AttributeError, TypeError):
        return None, None
    if recipe is None or not exact((normalized_shape, eps), recipe):
        return key, None
    timeline = recipe.timeline(stream, input.device)
    if timeline is None:
        return key, None
    results = recipe.results(timeline, input.device, out)
    status = recipe.queue(
        timeline,
        input.tensor,
        recipe.constants[0],
        NO_TENSOR if weight is None else weight.tensor,
        NO_TENSOR if bias is None else bias.tensor,
        recipe.constants[1],
        *[result.tensor for result in results],
    )
    if status > 0:
        shape, epsilon = recipe.kept
        raise recipe.failure(status, input, shape, weight, bias, epsilon, *results)
    return key, None if status else LayerNormResult(*results)


def _prepare_backward(
    grad_out: Array,
    input: Array,
    normalized_shape: int | Sequence[int],
    mean: Array,
    rstd: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    output_mask: Sequence[bool] = (True, True, True),
    stream: Stream | None = None,
    out: Sequence[Array | None] | None = None,
) -> Prepared:
    rules = Rules("layer_norm_backward")
    mask = _check_mask(rules, output_mask)
    given = rules.out(out, LayerNormGradients._fields, mask)
    invocation = Invocation(
        "layer_norm_backward",
        {"grad_out": grad_out, "input": input, "mean": mean, "rstd": rstd},
        stream,
        optional={"weight": weight, "bias": bias},
        outputs=given,
    )
    rules.dtype("input", input, FLOATING, "")
    rules.dtype("grad_out", grad_out, [input.dtype], ", the dtype of 'input'")
    rules.dtype("mean", mean, FLOATING, "")
    rules.dtype("rstd", rstd, FLOATING, "")
    _check_parameter(rules, "weight", weight, input)
    if bias is not None:
        rules.dtype("bias", bias, FLOATING, "")
    shape = _check_shapes(rules, input, normalized_shape, weight, bias)
    rules.shape("grad_out", grad_out, input.shape, "the shape of 'input'")
    _check_statistics(rules, mean, rstd, input.shape[: -len(shape)])
    sums = [float32, weight.dtype if weight is not None else float32]
    kinds = [(input.shape, [input.dtype]), (shape, sums), (shape, sums)]
    results = {
        name: invocation.output(f"out: {name}", *kind) if on else Masked()
        for name, on, kind in zip(LayerNormGradients._fields, mask, kinds, strict=True)
    }
    return invocation.prepare(
        "aclnnLayerNormBackward",
        {
            "grad_out": grad_out,
            "input": input,
            "normalized_shape": IntArray(shape),
            "mean": mean,
            "rstd": rstd,
            "weight": weight,
            "bias": bias,
            "output_mask": BoolArray(mask),
            **results,
        },
        LayerNormGradients,
        None if any(mask) else _compute_nothing,
    )


def _compute_nothing(_arguments: Sequence[Argument], _stream: Stream) -> None:
    """Stand in for an operator of which no result is wanted."""


_BACKWARD = Recipes()


@prepared_by(_prepare_backward)
def layer_norm_backward(
    grad_out: Array,
    input: Array,
    normalized_shape: int | Sequence[int],
    mean: Array,
    rstd: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    output_mask: Sequence[bool] = (True, True, True),
    stream: Stream | None = None,
    out: Sequence[Array | None] | None = None,
) -> LayerNormGradients:
    """Compute the gradients of ``layer_norm``.

    With ``xhat = (input - mean) * rstd``, ``g = grad_out * weight`` and means over the normalized
    axes: ``grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd``; ``grad_weight`` and
    ``grad_bias`` are the sums of ``grad_out * xhat`` and ``grad_out`` over the other axes.
    ``mean`` and ``rstd`` are used as they are given. Drives ``aclnnLayerNormBackward``.

    Args:
        grad_out: The gradient of ``out``, of dtype and shape of ``input``.
        input: What ``layer_norm`` was given: float32, float16 or bfloat16 of 1 to 8 axes.
            NumPy arrays in mean NumPy arrays out, when all is done; device arrays in mean device
            arrays out, queued and not waited for.
        normalized_shape: The lengths of the trailing axes of ``input`` that were normalized.
        mean: float32, float16 or bfloat16, one element for each row, in any shape of up to 8 axes.
        rstd: The same; of the shape of ``mean``.
        weight: Of shape ``normalized_shape``, float32 or the dtype of ``input``; ones if None.
        bias: Of shape ``normalized_shape``; float32, float16 or bfloat16. Its values do not matter.
        output_mask: Which of the three gradients to compute. The others are None, and nothing is
            computed or allocated for them.
        stream: Where to queue the work; the device's default stream if None.
        out: Three arrays to write to, and to return; None for gradients that are masked off or to
            be allocated. Not overlapping each other or an input. ``grad_input`` is of dtype and
            shape of ``input``, the others are of shape ``normalized_shape`` and in float32 or the
            dtype of ``weight``. Strided device arrays are fine.

    Returns:
        The gradients; ``grad_weight`` and ``grad_bias`` in float32 unless ``out`` says otherwise.
        Sums over no rows are 0.

    Raises:
        InvalidArgumentError: An argument is not acceptable; nothing was computed or allocated.
        AclError: CANN refused the call, or, with NumPy arrays, the work failed.
    """
    key, repeated = _repeat_backward(
        grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask, stream, out
    )
    if repeated is not None:
        return repeated
    prepared = _prepare_backward(
        grad_out,
        input,
        normalized_shape,
        mean,
        rstd,
        weight,
        bias,
        output_mask=output_mask,
        stream=stream,
        out=out,
    )
    result: LayerNormGradients = prepared.run()
    _BACKWARD.remember(key, prepared, (normalized_shape, output_mask))
    return result


def _repeat_backward(
    grad_out: Any,
    input: Any,
    normalized_shape: object,
    mean: Any,
    rstd: Any,
    weight: Any,
    bias: Any,
    output_mask: object,
    stream: Stream | None,
    out: Any,
) -> tuple[object, LayerNormGradients | None]:
    """Make the call by a recipe, if there is one; return its key and the result."""
    try:
        weights = (
            None if weight is None else weight.layout,
            None if bias is None else bias.layout,
        )
        layouts_in = (grad_out.layout, input.layout, mean.layout, rstd.layout, *weights)
        key = (*layouts_in, normalized_shape, output_mask, layouts(out))
        recipe = _BACKWARD.get(key)
    except (AttributeError, TypeError):
        return None, None
    if recipe is None or not exact((normalized_shape, output_mask), recipe):
        return key, None
    timeline = recipe.timeline(stream, input.device)
    if timeline is None:
        return key, None
    results = recipe.results(timeline, input.device, out)
    status = recipe.queue(
        timeline,
        grad_out.tensor,
        input.tensor,
        recipe.constants[0],
        mean.tensor,
        rstd.tensor,
        NO_TENSOR if weight is None else weight.tensor,
        NO_TENSOR if bias is None else bias.tensor,
        recipe.constants[1],
        *[NO_TENSOR if result is None else result.tensor for result in results],
    )
    if status > 0:
        shape, mask = recipe.kept
        arrays = (grad_out, input, shape, mean, rstd, weight, bias, mask)
        raise recipe.failure(status, *arrays, *results)
    return key, None if status else LayerNormGradients(*results)


def _check_parameter(rules: Rules, name: str, parameter: Array | None, x: Array) -> None:
    if parameter is not None:
        rules.dtype(name, parameter, [float32, x.dtype], ", as 'input' is " + str(x.dtype))


def _check_shapes(
    rules: Rules,
    x: Array,
    normalized_shape: int | Sequence[int],
    weight: Array | None,
    bias: Array | None,
) -> tuple[int, ...]:
    rules.rank("input", x, least=1)
    shape = rules.normalized_shape(normalized_shape, "input", x)
    for name, array in (("weight", weight), ("bias", bias)):
        if array is not None:
            rules.shape(name, array, shape, "the normalized shape")
    return shape


def _check_statistics(rules: Rules, mean: Array, rstd: Array, rows: tuple[int, ...]) -> None:
    rules.rank("mean", mean)
    count = math.prod(rows)
    if math.prod(mean.shape) != count:
        expected = f"of {count} elements, one for each row of 'input' ({rows} without the "
        rules.refuse("mean", f"of shape {mean.shape}", expected + "normalized axes)")
    rules.shape("rstd", rstd, mean.shape, "the shape of 'mean'")


def _check_mask(rules: Rules, mask: Sequence[bool]) -> tuple[bool, ...]:
    try:
        flags = tuple(mask)
    except TypeError:
        flags = ()
    flat = all(isinstance(flag, (bool, np.bool_)) for flag in flags)
    if len(flags) != len(LayerNormGradients._fields) or not flat:
        rules.refuse("output_mask", repr(mask), "three booleans, one for each gradient")
    return tuple(bool(flag) for flag in flags)
