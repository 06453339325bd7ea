# SPDX-License-Identifier: Apache-2.0
"""Activations and their gradients, computed in float32 at least."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.kernel import operator
from pyaclnn.reference.kernels.promotion import floating, promoted, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__: list[str] = []

Array = Any
_erf = np.vectorize(math.erf, otypes=[np.float64])
_C0, _C1 = math.sqrt(2 / math.pi), 0.044715
_APPROXIMATE = {0: False, 1: True, "none": False, "tanh": True}


def _real(function: Callable[..., Any], *tensors: Array) -> NDArray[Any]:
    """Compute a function of floats or complex numbers in their own type, of integers in float32."""
    dtype = floating(promoted(*tensors))
    return np.asarray(function(*(wide(tensor, dtype) for tensor in tensors))).astype(dtype)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _of_one(name: str, function: Callable[[Array], Array]) -> Callable[..., Any]:
    """Make the kernel of an activation."""

    def compute(self: Array) -> Array:
        return _real(function, self)

    return operator(name)(compute)


def _from_output(name: str, function: Callable[[Array, Array], Array]) -> Callable[..., Any]:
    """Make the kernel of a gradient that follows from the result of the forward pass."""

    def compute(gradOutput: Array, output: Array) -> Array:
        return _real(function, gradOutput, output)

    return operator(name)(compute)


def _from_input(name: str, function: Callable[[Array, Array], Array]) -> Callable[..., Any]:
    """Make the kernel of a gradient that follows from the input of the forward pass."""

    def compute(gradOutput: Array, self: Array) -> Array:
        return _real(function, gradOutput, self)

    return operator(name)(compute)


sigmoid = _of_one("aclnnSigmoid", _sigmoid)
sigmoid_backward = _from_output("aclnnSigmoidBackward", lambda g, y: g * y * (1 - y))
tanh = _of_one("aclnnTanh", np.tanh)
tanh_backward = _from_output("aclnnTanhBackward", lambda g, y: g * (1 - y * y))
silu = _of_one("aclnnSilu", lambda x: x * _sigmoid(x))
silu_backward = _from_input(
    "aclnnSiluBackward", lambda g, x: g * _sigmoid(x) * (1 + x * (1 - _sigmoid(x)))
)


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
gelu = _of_one("aclnnGelu", lambda x: _gelu(x, approximate=False))
gelu_backward = _from_input("aclnnGeluBackward", lambda g, x: g * _gelu_slope(x, approximate=False))


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
