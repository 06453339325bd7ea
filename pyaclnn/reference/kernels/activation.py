# SPDX-License-Identifier: Apache-2.0
"""Activations and their gradients, computed in float32 at least."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.kernel import operator
from pyaclnn.reference.kernels.promotion import category, promoted, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__: list[str] = []

Array = Any
_erf = np.vectorize(math.erf, otypes=[np.float64])
_C0, _C1 = math.sqrt(2 / math.pi), 0.044715
_APPROXIMATE = {0: False, 1: True, "none": False, "tanh": True}


def _real(function: Callable[..., Any], *tensors: Array) -> NDArray[Any]:
    """Compute a function of floats, in their own type."""
    dtype = promoted(*tensors)
    if category(dtype) != "f":
        raise ValueError(f"the tensors are {dtype}; they must be of floating point")
    return np.asarray(function(*(wide(tensor, dtype) for tensor in tensors))).astype(dtype)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@operator("aclnnSigmoid")
def sigmoid(self: Array) -> Array:
    """``1 / (1 + exp(-x))``."""
    return _real(_sigmoid, self)


@operator("aclnnSigmoidBackward")
def sigmoid_backward(gradOutput: Array, output: Array) -> Array:
    """The gradient, from the result of the forward pass."""
    return _real(lambda g, y: g * y * (1 - y), gradOutput, output)


@operator("aclnnTanh")
def tanh(self: Array) -> Array:
    """The hyperbolic tangent."""
    return _real(np.tanh, self)


@operator("aclnnTanhBackward")
def tanh_backward(gradOutput: Array, output: Array) -> Array:
    """The gradient, from the result of the forward pass."""
    return _real(lambda g, y: g * (1 - y * y), gradOutput, output)


@operator("aclnnSilu")
def silu(self: Array) -> Array:
    """``x * sigmoid(x)``."""
    return _real(lambda x: x * _sigmoid(x), self)


@operator("aclnnSiluBackward")
def silu_backward(gradOutput: Array, self: Array) -> Array:
    """The gradient."""
    return _real(lambda g, x: g * _sigmoid(x) * (1 + x * (1 - _sigmoid(x))), gradOutput, self)


@operator("aclnnRelu", "aclnnInplaceRelu")
def relu(self: Array) -> Array:
    """``max(x, 0)``."""
    return np.maximum(self, np.zeros((), self.dtype))


@operator("aclnnThresholdBackward")
def threshold_backward(gradOutput: Array, self: Array, threshold: Any) -> Array:
    """The gradient where the input was above a threshold, else 0; of a ReLU, the threshold is 0."""
    return np.where(wide(self) > threshold, gradOutput, np.zeros((), gradOutput.dtype))


def _gelu(x: Array, approximate: bool) -> Array:
    if approximate:
        return 0.5 * x * (1 + np.tanh(_C0 * (x + _C1 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _gelu_slope(x: Array, approximate: bool) -> Array:
    if approximate:
        tangent = np.tanh(_C0 * (x + _C1 * x**3))
        inner = _C0 * (1 + 3 * _C1 * x**2)
        return 0.5 * (1 + tangent) + 0.5 * x * (1 - tangent**2) * inner
    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return 0.5 * (1 + _erf(x / math.sqrt(2))) + x * density


def _chosen(approximate: Any) -> bool:
    if approximate not in _APPROXIMATE:
        raise ValueError(f"approximate is {approximate!r}; it must be one of {[*_APPROXIMATE]}")
    return _APPROXIMATE[approximate]


# CANN's own kernels of these two approximate by the hyperbolic tangent; the facts do not say how
# closely, and the exact function differs from it by less than 5e-4.
@operator("aclnnGelu")
def gelu(self: Array) -> Array:
    """The Gaussian error linear unit."""
    return _real(lambda x: _gelu(x, approximate=False), self)


@operator("aclnnGeluBackward")
def gelu_backward(gradOutput: Array, self: Array) -> Array:
    """The gradient of `gelu`."""
    return _real(lambda g, x: g * _gelu_slope(x, approximate=False), gradOutput, self)


@operator("aclnnGeluV2")
def gelu_v2(x: Array, approximate: int) -> Array:
    """The Gaussian error linear unit; with ``approximate`` 1 by the hyperbolic tangent."""
    return _real(lambda x: _gelu(x, _chosen(approximate)), x)


@operator("aclnnGeluBackwardV2")
def gelu_backward_v2(gradOutput: Array, self: Array, approximate: str) -> Array:
    """The gradient of `gelu_v2`; ``approximate`` is ``"none"`` or ``"tanh"``."""
    return _real(lambda g, x: g * _gelu_slope(x, _chosen(approximate)), gradOutput, self)


def _softmax(x: Array, dim: int) -> Array:
    raised = np.exp(x - x.max(axis=dim, keepdims=True)) if x.size else x
    return raised / raised.sum(axis=dim, keepdims=True)


@operator("aclnnSoftmax")
def softmax(self: Array, dim: int) -> Array:
    """``exp(x) / sum(exp(x))`` along a dimension."""
    return _real(lambda x: _softmax(np.atleast_1d(x), dim).reshape(x.shape), self)


@operator("aclnnSoftmaxBackward")
def softmax_backward(gradOutput: Array, output: Array, dim: int) -> Array:
    """The gradient, from the result of the forward pass."""
    return _real(lambda g, y: y * (g - (g * y).sum(axis=dim, keepdims=True)), gradOutput, output)


@operator("aclnnLogSoftmax")
def log_softmax(self: Array, dim: int) -> Array:
    """``x - log(sum(exp(x)))`` along a dimension."""

    def of(x: Array) -> Array:
        shifted = x - x.max(axis=dim, keepdims=True) if x.size else x
        return shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))

    return _real(lambda x: of(np.atleast_1d(x)).reshape(x.shape), self)


@operator("aclnnLogSoftmaxBackward")
def log_softmax_backward(gradOutput: Array, output: Array, dim: int) -> Array:
    """The gradient, from the result of the forward pass."""
    return _real(lambda g, y: g - np.exp(y) * g.sum(axis=dim, keepdims=True), gradOutput, output)
