# SPDX-License-Identifier: Apache-2.0
"""Layer normalization and its gradients.

Source of the rules: CANN: ops-nn norm/layer_norm_v4 and norm/layer_norm_grad_v3.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.descriptors import BoolArray, IntArray
from pyaclnn.dtypes import float32
from pyaclnn.launch import launch
from pyaclnn.ops.invocation import Invocation
from pyaclnn.ops.rules import FLOATING, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.ops.invocation import Array, Output
    from pyaclnn.stream import Stream

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
    return LayerNormResult(
        *invocation.run(
            functools.partial(launch, "aclnnLayerNorm"),
            input,
            IntArray(shape),
            weight,
            bias,
            epsilon,
            invocation.output("out: out", input.shape, [input.dtype]),
            invocation.output("out: mean", statistics, [float32]),
            invocation.output("out: rstd", statistics, [float32]),
        )
    )


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
    wanted: list[Output | None] = [
        invocation.output(f"out: {name}", *kind) if on else None
        for name, on, kind in zip(
            LayerNormGradients._fields,
            mask,
            [(input.shape, [input.dtype]), (shape, sums), (shape, sums)],
            strict=True,
        )
    ]
    if not any(mask):
        return LayerNormGradients(None, None, None)
    results = iter(
        invocation.run(
            functools.partial(launch, "aclnnLayerNormBackward"),
            grad_out,
            input,
            IntArray(shape),
            mean,
            rstd,
            weight,
            bias,
            BoolArray(mask),
            *wanted,
        )
    )
    return LayerNormGradients(*(next(results) if on else None for on in mask))


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
