# SPDX-License-Identifier: Apache-2.0
"""Losses and their gradients. ``reduction`` is 0 for none, 1 for the mean, 2 for the sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.kernels.kernel import operator
from pyaclnn.reference.kernels.promotion import cast, floating, indices_within, integers, wide

__all__: list[str] = []

Array = Any
_NONE, _MEAN, _SUM = 0, 1, 2
_IMAGE_AXES = 3


def _checked(reduction: int) -> int:
    if reduction not in (_NONE, _MEAN, _SUM):
        raise ValueError(f"reduction is {reduction}; it must be 0, 1 or 2")
    return reduction


def _reduced(each: Array, reduction: int, dtype: np.dtype[Any]) -> Array:
    found = {_NONE: each, _MEAN: each.mean(), _SUM: each.sum()}[_checked(reduction)]
    return cast(found, dtype)


def _slope(each: Array, gradient: Array, self: Array, reduction: int) -> Array:
    factor = 1 / max(self.size, 1) if _checked(reduction) == _MEAN else 1
    return cast(np.float32(factor) * each * wide(gradient), floating(self.dtype))


@operator("aclnnMseLoss")
def mse_loss(self: Array, target: Array, reduction: int) -> Array:
    """The squared difference."""
    return _reduced((wide(self) - wide(target)) ** 2, reduction, self.dtype)


@operator("aclnnMseLossBackward")
def mse_loss_backward(gradOutput: Array, self: Array, target: Array, reduction: int) -> Array:
    """The gradient of `mse_loss` by its first argument."""
    return _slope(2 * (wide(self) - wide(target)), gradOutput, self, reduction)


@operator("aclnnL1Loss")
def l1_loss(self: Array, target: Array, reduction: int) -> Array:
    """The absolute difference."""
    return _reduced(abs(wide(self) - wide(target)), reduction, self.dtype)


@operator("aclnnL1LossBackward")
def l1_loss_backward(gradOutput: Array, self: Array, target: Array, reduction: int) -> Array:
    """The gradient of `l1_loss` by its first argument."""
    return _slope(np.sign(wide(self) - wide(target)), gradOutput, self, reduction)


@operator("aclnnSmoothL1Loss")
def smooth_l1_loss(self: Array, target: Array, reduction: int, beta: float) -> Array:
    """A parabola where the difference is below ``beta``, from there on its absolute value."""
    far = abs(wide(self) - wide(target))
    near = far < beta
    parabola = far * far / np.float32(2 * (beta or 1))
    each = np.where(near, parabola, far - np.float32(beta / 2))
    return _reduced(each, reduction, self.dtype)


@operator("aclnnSmoothL1LossBackward")
def smooth_l1_loss_backward(
    gradOut: Array, self: Array, target: Array, reduction: int, beta: float
) -> Array:
    """The gradient of `smooth_l1_loss` by its first argument."""
    distance = wide(self) - wide(target)
    each = np.where(abs(distance) < beta, distance / np.float32(beta or 1), np.sign(distance))
    return _slope(each, gradOut, self, reduction)


def _classes(self: Array) -> int:
    """The axis of the classes: in front of those of an image."""
    return -1 if self.ndim < _IMAGE_AXES else -_IMAGE_AXES


def _chosen(self: Array, target: Array, weight: Array, ignored: int) -> tuple[Array, Array, Array]:
    """The rows of ``self``, the class of each, and what each counts: 0 where it is ignored."""
    self = np.moveaxis(self, _classes(self), -1)
    if self.ndim == 0 or target.shape != self.shape[:-1]:
        raise ValueError(f"self is {self.shape} and target {target.shape}; it must be one a row")
    rows = wide(self).reshape(-1, self.shape[-1])
    classes = integers("target", target).reshape(-1)
    counted = classes != ignored
    classes = indices_within("target", np.where(counted, classes, 0), rows.shape[1])
    return rows, classes, np.where(counted, wide(weight)[classes], 0).astype(rows.dtype)


@operator("aclnnNLLLoss", "aclnnNLLLoss2d")
def nll_loss(
    self: Array,
    target: Array,
    weight: Array,
    reduction: int,
    ignoreIndex: int,
    out: Array,
    totalWeightOut: Array,
) -> tuple[Array, Array]:
    """Minus the weighted log-probability of the target's class; the sum of weights beside it."""
    rows, classes, weights = _chosen(self, target, weight, ignoreIndex)
    each = -rows[np.arange(len(rows)), classes] * weights
    total = weights.sum() if _checked(reduction) != _NONE else np.zeros_like(weights.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {_NONE: each, _MEAN: each.sum() / total, _SUM: each.sum()}
    return (
        cast(np.reshape(found[reduction], out.shape), self.dtype),
        cast(np.reshape(total, totalWeightOut.shape), self.dtype),
    )


@operator("aclnnNLLLossBackward", "aclnnNLLLoss2dBackward")
def nll_loss_backward(
    gradOutput: Array,
    self: Array,
    target: Array,
    weight: Array,
    reduction: int,
    ignoreIndex: int,
    totalWeight: Array,
) -> Array:
    """The gradient of `nll_loss` by its first argument."""
    rows, classes, weights = _chosen(self, target, weight, ignoreIndex)
    with np.errstate(invalid="ignore", divide="ignore"):
        divisor = wide(totalWeight).reshape(()) if _checked(reduction) == _MEAN else 1
        slopes = -weights * wide(gradOutput).reshape(-1) / divisor
    found = np.zeros(rows.shape, rows.dtype)
    found[np.arange(len(rows)), classes] = np.where(weights == 0, 0, slopes)
    axis = _classes(self)
    found = found.reshape(np.moveaxis(self, axis, -1).shape)
    return cast(np.moveaxis(found, -1, axis), self.dtype)
