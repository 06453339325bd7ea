# SPDX-License-Identifier: Apache-2.0
"""Forward and backward launches of norms on tensors of PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from pyaclnn import ops as _ops
from pyaclnn.torch.tensors import Tensor, on_npu, pytorch

if TYPE_CHECKING:
    from collections.abc import Sequence

ops: Final[Any] = _ops
"""The operators, untyped: arrays are always device arrays here."""

__all__ = ["AddRmsNorm", "GroupNorm", "LayerNorm", "Norm", "RmsNorm"]


class Norm(Protocol):
    """A norm with its options."""

    def forward(self, *given: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Launch the norm.

        Args:
            *given: The tensors of the call; None for an omitted one.

        Returns:
            The results, and the tensors that ``backward`` needs.
        """

    def backward(
        self, saved: Sequence[Tensor], gradients: Sequence[Tensor], wanted: Sequence[bool]
    ) -> tuple[Tensor | None, ...]:
        """Launch the gradient of the norm.

        Args:
            saved: The tensors that ``forward`` saved.
            gradients: The gradients of the results.
            wanted: For each tensor of the call, whether its gradient is required.

        Returns:
            The gradients; None where not required.
        """


def _statistics(x: Tensor, axes: int) -> Tensor:
    shape = (*x.shape[: x.dim() - axes], *(1,) * axes)
    return x.new_empty(shape, dtype=pytorch().float32)


def _gradients(wanted: Sequence[bool], *like: Tensor) -> list[Tensor | None]:
    return [
        tensor.new_empty(tensor.shape) if asked else None
        for asked, tensor in zip(wanted, like, strict=True)
    ]


class LayerNorm(NamedTuple):
    """``aclnnLayerNorm`` and ``aclnnLayerNormBackward``."""

    shape: tuple[int, ...]
    eps: float

    def forward(self, *given: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Launch the norm; see ``Norm``."""
        x, weight, bias = given
        with on_npu("layer_norm", "input", x) as npu:
            y = x.new_empty(x.shape)
            mean, rstd = (_statistics(x, len(self.shape)) for _ in range(2))
            a, *affine = npu.arrays(input=x, weight=weight, bias=bias)
            out = npu.arrays(out=y, mean=mean, rstd=rstd)
            ops.layer_norm(a, self.shape, *affine, self.eps, stream=npu.stream, out=out)
        return (y,), (x, mean, rstd, weight, bias)

    def backward(
        self, saved: Sequence[Tensor], gradients: Sequence[Tensor], wanted: Sequence[bool]
    ) -> tuple[Tensor | None, ...]:
        """Launch the gradient; see ``Norm``."""
        x, mean, rstd, weight, bias = saved
        with on_npu("layer_norm", "input", x) as npu:
            results = _gradients(wanted, x, weight, bias)
            dy, a = npu.arrays(grad_out=gradients[0], input=x)
            kept = npu.arrays(mean=mean, rstd=rstd, weight=weight, bias=bias)
            mask = (wanted[0], wanted[1], wanted[2])
            out = [npu.array("out", result) for result in results]
            ops.layer_norm_backward(
                dy, a, self.shape, *kept, output_mask=mask, stream=npu.stream, out=out
            )
        return tuple(results)


class RmsNorm(NamedTuple):
    """``aclnnRmsNorm`` and ``aclnnRmsNormGrad``."""

    eps: float

    def forward(self, *given: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Launch the norm; see ``Norm``."""
        x, weight = given
        with on_npu("rms_norm", "input", x) as npu:
            y = x.new_empty(x.shape)
            rstd = _statistics(x, weight.dim())
            a, gamma = npu.arrays(input=x, weight=weight)
            out = npu.arrays(out=y, rstd=rstd)
            ops.rms_norm(a, gamma, self.eps, stream=npu.stream, out=out)
        return (y,), (x, rstd, weight)

    def backward(
        self, saved: Sequence[Tensor], gradients: Sequence[Tensor], wanted: Sequence[bool]
    ) -> tuple[Tensor | None, ...]:
        """Launch the gradient; see ``Norm``."""
        found = _rms_norm_grad("rms_norm", gradients[0], saved)
        return tuple(found[n] if asked else None for n, asked in enumerate(wanted))


def _rms_norm_grad(routine: str, gradient: Tensor, saved: Sequence[Tensor]) -> tuple[Tensor, ...]:
    x, rstd, weight = saved
    torch = pytorch()
    with on_npu(routine, "input", x) as npu:
        dx = x.new_empty(x.shape)
        dgamma = weight.new_empty(weight.shape, dtype=torch.float32)
        given = npu.arrays(grad_out=gradient, input=x, rstd=rstd, weight=weight)
        ops.rms_norm_grad(*given, stream=npu.stream, out=npu.arrays(dx=dx, dgamma=dgamma))
    return dx, dgamma.to(weight.dtype)


class AddRmsNorm(NamedTuple):
    """``aclnnAddRmsNorm``, and ``aclnnRmsNormGrad`` of the sum."""

    eps: float

    def forward(self, *given: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Launch the norm; see ``Norm``."""
        x1, x2, weight = given
        with on_npu("add_rms_norm", "x1", x1) as npu:
            y, x = (x1.new_empty(x1.shape) for _ in range(2))
            rstd = _statistics(x1, weight.dim())
            a, b, gamma = npu.arrays(x1=x1, x2=x2, weight=weight)
            out = npu.arrays(out=y, rstd=rstd, sum=x)
            ops.add_rms_norm(a, b, gamma, self.eps, stream=npu.stream, out=out)
        return (y, x), (x, rstd, weight)

    def backward(
        self, saved: Sequence[Tensor], gradients: Sequence[Tensor], wanted: Sequence[bool]
    ) -> tuple[Tensor | None, ...]:
        """Launch the gradient; see ``Norm``."""
        dx, dgamma = _rms_norm_grad("add_rms_norm", gradients[0], saved)
        total = dx + gradients[1]
        found = (total, total, dgamma)
        return tuple(one if asked else None for one, asked in zip(found, wanted, strict=True))


class GroupNorm(NamedTuple):
    """``aclnnGroupNorm`` and ``aclnnGroupNormBackward``."""

    groups: int
    eps: float

    def forward(self, *given: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Launch the norm; see ``Norm``."""
        x, weight, bias = given
        with on_npu("group_norm", "input", x) as npu:
            y = x.new_empty(x.shape)
            mean, rstd = (x.new_empty((x.shape[0], self.groups)) for _ in range(2))
            a, *affine = npu.arrays(input=x, weight=weight, bias=bias)
            out = npu.arrays(out=y, mean=mean, rstd=rstd)
            ops.group_norm(a, self.groups, *affine, self.eps, stream=npu.stream, out=out)
        return (y,), (x, mean, rstd, weight, bias)

    def backward(
        self, saved: Sequence[Tensor], gradients: Sequence[Tensor], wanted: Sequence[bool]
    ) -> tuple[Tensor | None, ...]:
        """Launch the gradient; see ``Norm``."""
        x, mean, rstd, weight, bias = saved
        with on_npu("group_norm", "input", x) as npu:
            results = _gradients(wanted, x, weight, bias)
            given = npu.arrays(grad_out=gradients[0], input=x, mean=mean, rstd=rstd)
            gamma = npu.array("weight", weight)
            mask = (wanted[0], wanted[1], wanted[2])
            out = [npu.array("out", result) for result in results]
            ops.group_norm_backward(
                *given, self.groups, gamma, output_mask=mask, stream=npu.stream, out=out
            )
        return tuple(results)
