# SPDX-License-Identifier: Apache-2.0
"""Forward and backward launches of norms on tensors of PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from pyaclnn import ops as _ops
from pyaclnn.torch.tensors import Tensor, on_npu, pytorch

if TYPE_CHECKING:
    from collections.abc import Sequence

ops: Final[Any] = _ops
"""The operators, untyped: arrays are always device arrays here."""

__all__ = ["AddRmsNorm", "GroupNorm", "LayerNorm", "Norm", "RmsNorm"]


class Norm(Protocol):
    """A norm with its options.

    Attributes:
        results: The number of its results.
        statistics: The number of its statistics, which follow.
        places: For each tensor of a call, the place of its gradient.
    """

    results: ClassVar[int]
    statistics: ClassVar[int]
    places: ClassVar[tuple[int, ...]]

    def outputs(self, *given: Tensor) -> tuple[Tensor, ...]:
        """Allocate the results and the statistics, for the tensors of a call."""

    def launch(self, given: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Launch the norm.

        Args:
            given: The tensors of the call; None for an omitted one.
            outputs: What it writes.
        """

    @staticmethod
    def saved(given: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the tensors that the gradient needs: the call's, and the statistics."""
        return (*given, *outputs[1:])

    def gradients(self, saved: Sequence[Tensor], wanted: Sequence[bool]) -> list[Tensor]:
        """Allocate the gradients that are wanted, by their places."""
        like = saved[: max(self.places) + 1]
        return [x.new_empty(x.shape) for asked, x in zip(wanted, like, strict=True) if asked]

    def launch_backward(
        self,
        saved: Sequence[Tensor],
        gradients: Sequence[Tensor],
        wanted: Sequence[bool],
        found: Sequence[Tensor],
    ) -> None:
        """Launch the gradient of the norm.

        Args:
            saved: The tensors that ``saved`` returned.
            gradients: The gradients of the results.
            wanted: Which gradients are required.
            found: What it writes: those.
        """


def _statistics(x: Tensor, axes: int) -> Tensor:
    shape = (*x.shape[: x.dim() - axes], *(1,) * axes)
    return x.new_empty(shape, dtype=pytorch().float32)


def _placed(wanted: Sequence[bool], found: Sequence[Tensor]) -> list[Tensor | None]:
    """Return the gradients by their places; None for those that nobody wants."""
    each = iter(found)
    return [next(each) if asked else None for asked in wanted]


@dataclass(frozen=True)
class LayerNorm(Norm):
    """``aclnnLayerNorm`` and ``aclnnLayerNormBackward``."""

    shape: Sequence[int]
    eps: float

    results: ClassVar = 1
    statistics: ClassVar = 2
    places: ClassVar = (0, 1, 2)

    def outputs(self, *given: Tensor) -> tuple[Tensor, ...]:
        """See ``Norm``."""
        x, axes = given[0], len(self.shape)
        return x.new_empty(x.shape), _statistics(x, axes), _statistics(x, axes)

    def launch(self, given: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """See ``Norm``."""
        (x, weight, bias), (y, mean, rstd) = given, outputs
        npu = on_npu("layer_norm", "input", x)
        a, *affine = npu.arrays(input=x, weight=weight, bias=bias)
        out = npu.results(out=y, mean=mean, rstd=rstd)
        ops.layer_norm(a, tuple(self.shape), *affine, self.eps, stream=npu.stream, out=out)

    def launch_backward(
        self,
        saved: Sequence[Tensor],
        gradients: Sequence[Tensor],
        wanted: Sequence[bool],
        found: Sequence[Tensor],
    ) -> None:
        """See ``Norm``."""
        x, weight, bias, mean, rstd = saved
        npu = on_npu("layer_norm", "input", x)
        dy, a = npu.arrays(grad_out=gradients[0], input=x)
        kept = npu.arrays(mean=mean, rstd=rstd, weight=weight, bias=bias)
        out = [npu.result("out", result) for result in _placed(wanted, found)]
        ops.layer_norm_backward(
            dy,
            a,
            tuple(self.shape),
            *kept,
            output_mask=tuple(wanted),
            stream=npu.stream,
            out=out,
        )


@dataclass(frozen=True)
class RmsNorm(Norm):
    """``aclnnRmsNorm`` and ``aclnnRmsNormGrad``."""

    eps: float

    results: ClassVar = 1
    statistics: ClassVar = 1
    places: ClassVar = (0, 1)

    def outputs(self, *given: Tensor) -> tuple[Tensor, ...]:
        """See ``Norm``."""
        x, weight = given
        return x.new_empty(x.shape), _statistics(x, weight.dim())

    def launch(self, given: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """See ``Norm``."""
        (x, weight), (y, rstd) = given, outputs
        npu = on_npu("rms_norm", "input", x)
        a, gamma = npu.arrays(input=x, weight=weight)
        out = npu.results(out=y, rstd=rstd)
        ops.rms_norm(a, gamma, self.eps, stream=npu.stream, out=out)

    def launch_backward(
        self,
        saved: Sequence[Tensor],
        gradients: Sequence[Tensor],
        wanted: Sequence[bool],
        found: Sequence[Tensor],
    ) -> None:
        """See ``Norm``."""
        dx, dgamma = _placed(wanted, found)
        _rms_norm_grad("rms_norm", gradients[0], saved, dx, dgamma)


def _rms_norm_grad(
    routine: str, gradient: Tensor, saved: Sequence[Tensor], dx: Tensor, dgamma: Tensor
) -> None:
    """Launch ``aclnnRmsNormGrad``, which always writes both gradients, the second in float32."""
    x, weight, rstd = saved
    dx = x.new_empty(x.shape) if dx is None else dx
    wide = weight.new_empty(weight.shape, dtype=pytorch().float32)
    npu = on_npu(routine, "input", x)
    given = npu.arrays(grad_out=gradient, input=x, rstd=rstd, weight=weight)
    ops.rms_norm_grad(*given, stream=npu.stream, out=npu.results(dx=dx, dgamma=wide))
    if dgamma is not None:
        dgamma.copy_(wide)


@dataclass(frozen=True)
class AddRmsNorm(Norm):
    """``aclnnAddRmsNorm``, and ``aclnnRmsNormGrad`` of the sum."""

    eps: float

    results: ClassVar = 2
    statistics: ClassVar = 1
    places: ClassVar = (0, 0, 1)

    def outputs(self, *given: Tensor) -> tuple[Tensor, ...]:
        """See ``Norm``."""
        x, _, weight = given
        return x.new_empty(x.shape), x.new_empty(x.shape), _statistics(x, weight.dim())

    def launch(self, given: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """See ``Norm``."""
        (x1, x2, weight), (y, total, rstd) = given, outputs
        npu = on_npu("add_rms_norm", "x1", x1)
        a, b, gamma = npu.arrays(x1=x1, x2=x2, weight=weight)
        out = npu.results(out=y, rstd=rstd, sum=total)
        ops.add_rms_norm(a, b, gamma, self.eps, stream=npu.stream, out=out)

    @staticmethod
    def saved(given: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """See ``Norm``."""
        return outputs[1], given[2], outputs[2]

    def launch_backward(
        self,
        saved: Sequence[Tensor],
        gradients: Sequence[Tensor],
        wanted: Sequence[bool],
        found: Sequence[Tensor],
    ) -> None:
        """See ``Norm``."""
        dx, dgamma = _placed(wanted, found)
        _rms_norm_grad("add_rms_norm", gradients[0], saved, dx, dgamma)
        if dx is not None:
            dx.add_(gradients[1])


@dataclass(frozen=True)
class GroupNorm(Norm):
    """``aclnnGroupNorm`` and ``aclnnGroupNormBackward``."""

    groups: int
    eps: float

    results: ClassVar = 1
    statistics: ClassVar = 2
    places: ClassVar = (0, 1, 2)

    def outputs(self, *given: Tensor) -> tuple[Tensor, ...]:
        """See ``Norm``."""
        x, shape = given[0], (given[0].shape[0], self.groups)
        return x.new_empty(x.shape), x.new_empty(shape), x.new_empty(shape)

    def launch(self, given: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """See ``Norm``."""
        (x, weight, bias), (y, mean, rstd) = given, outputs
        npu = on_npu("group_norm", "input", x)
        a, *affine = npu.arrays(input=x, weight=weight, bias=bias)
        out = npu.results(out=y, mean=mean, rstd=rstd)
        ops.group_norm(a, self.groups, *affine, self.eps, stream=npu.stream, out=out)

    def launch_backward(
        self,
        saved: Sequence[Tensor],
        gradients: Sequence[Tensor],
        wanted: Sequence[bool],
        found: Sequence[Tensor],
    ) -> None:
        """See ``Norm``."""
        x, weight, _, mean, rstd = saved
        npu = on_npu("group_norm", "input", x)
        given = npu.arrays(grad_out=gradients[0], input=x, mean=mean, rstd=rstd)
        gamma = npu.array("weight", weight)
        out = [npu.result("out", result) for result in _placed(wanted, found)]
        ops.group_norm_backward(
            *given, self.groups, gamma, output_mask=tuple(wanted), stream=npu.stream, out=out
        )
