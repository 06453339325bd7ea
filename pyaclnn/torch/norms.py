# SPDX-License-Identifier: Apache-2.0
"""Norms of PyTorch as calls of operators: what each makes, and calls, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from pyaclnn import ops as _ops
from pyaclnn.torch.launches import Call
from pyaclnn.torch.tensors import pytorch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.torch.launches import Place, Spec
    from pyaclnn.torch.tensors import Tensor

ops: Final[Any] = _ops
"""The operators, untyped: arguments are places here, and views of tensors later."""

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

    def outputs(self, *given: Tensor) -> list[Spec]:
        """Return the shapes of the results and the statistics, for the tensors of a call."""

    def call(self, given: Sequence[Place | None], outputs: Sequence[Place]) -> Call:
        """Return the call.

        Args:
            given: The tensors of the call; None for an omitted one.
            outputs: The results and the statistics.
        """

    @staticmethod
    def saved(given: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the tensors that the gradient needs: the call's, and the statistics."""
        return (*given, *outputs[1:])

    def gradients(self, saved: Sequence[Tensor], wanted: Sequence[bool]) -> list[Spec]:
        """Return the shapes of what the call of the gradient writes: here those that are wanted.

        Args:
            saved: The tensors that ``saved`` returned.
            wanted: Which gradients are required, by their places.
        """
        like = saved[: max(self.places) + 1]
        return [(x.shape, x.dtype) for asked, x in zip(wanted, like, strict=True) if asked]

    def call_backward(
        self,
        saved: Sequence[Place | None],
        upstream: Sequence[Place | None],
        made: Sequence[Place],
        wanted: Sequence[bool],
    ) -> Call:
        """Return the call of the gradient.

        Args:
            saved: The tensors that ``saved`` returned.
            upstream: The gradients of the results.
            made: Tensors that it writes.
            wanted: Which gradients are required, by their places.
        """

    @classmethod
    def returned(
        cls,
        made: list[Tensor],
        saved: Sequence[Tensor],
        upstream: Sequence[Tensor],
        wanted: Sequence[bool],
    ) -> list[Tensor]:
        """Return the gradients that are wanted, of what the call has written."""
        del saved, upstream, wanted
        return made


def _statistics(x: Tensor, axes: int) -> Spec:
    return (*x.shape[: x.dim() - axes], *(1,) * axes), pytorch().float32


def _placed(wanted: Sequence[bool], made: Sequence[Place]) -> list[Place | None]:
    """Return what is made by places of gradients; None for those that nobody wants."""
    each = iter(made)
    return [next(each) if asked else None for asked in wanted]


def _mask(wanted: Sequence[bool]) -> dict[str, Any]:
    return {"output_mask": tuple(wanted)}


@dataclass(frozen=True)
class LayerNorm(Norm):
    """``aclnnLayerNorm`` and ``aclnnLayerNormBackward``."""

    shape: Sequence[int]
    eps: float

    results: ClassVar = 1
    statistics: ClassVar = 2
    places: ClassVar = (0, 1, 2)

    def outputs(self, *given: Tensor) -> list[Spec]:
        """See ``Norm``."""
        x, statistics = given[0], _statistics(given[0], len(self.shape))
        return [(x.shape, x.dtype), statistics, statistics]

    def call(self, given: Sequence[Place | None], outputs: Sequence[Place]) -> Call:
        """See ``Norm``."""
        x, *affine = given
        return Call(ops.layer_norm, (x, tuple(self.shape), *affine, self.eps), outputs)

    def call_backward(
        self,
        saved: Sequence[Place | None],
        upstream: Sequence[Place | None],
        made: Sequence[Place],
        wanted: Sequence[bool],
    ) -> Call:
        """See ``Norm``."""
        x, weight, bias, mean, rstd = saved
        given = (*upstream, x, tuple(self.shape), mean, rstd, weight, bias)
        return Call(ops.layer_norm_backward, given, _placed(wanted, made), _mask(wanted))


@dataclass(frozen=True)
class RmsNorm(Norm):
    """``aclnnRmsNorm`` and ``aclnnRmsNormGrad``, which always writes both gradients."""

    eps: float

    results: ClassVar = 1
    statistics: ClassVar = 1
    places: ClassVar[tuple[int, ...]] = (0, 1)

    def outputs(self, *given: Tensor) -> list[Spec]:
        """See ``Norm``."""
        x, weight = given
        return [(x.shape, x.dtype), _statistics(x, weight.dim())]

    def call(self, given: Sequence[Place | None], outputs: Sequence[Place]) -> Call:
        """See ``Norm``."""
        return Call(ops.rms_norm, (*given, self.eps), outputs)

    def gradients(self, saved: Sequence[Tensor], wanted: Sequence[bool]) -> list[Spec]:
        """Return both; the second is float32."""
        del wanted
        x, weight, _ = saved
        return [(x.shape, x.dtype), (weight.shape, pytorch().float32)]

    def call_backward(
        self,
        saved: Sequence[Place | None],
        upstream: Sequence[Place | None],
        made: Sequence[Place],
        wanted: Sequence[bool],
    ) -> Call:
        """See ``Norm``."""
        del wanted
        x, weight, rstd = saved
        return Call(ops.rms_norm_grad, (upstream[0], x, rstd, weight), made)

    @classmethod
    def returned(
        cls,
        made: list[Tensor],
        saved: Sequence[Tensor],
        upstream: Sequence[Tensor],
        wanted: Sequence[bool],
    ) -> list[Tensor]:
        """Return those that are wanted, the second in the dtype of the weight."""
        del upstream
        dx, dgamma = made
        found = [dx] if wanted[0] else []
        return [*found, dgamma.to(saved[1].dtype)] if wanted[1] else found


@dataclass(frozen=True)
class AddRmsNorm(RmsNorm):
    """``aclnnAddRmsNorm``, and ``aclnnRmsNormGrad`` of the sum."""

    results: ClassVar = 2
    places: ClassVar = (0, 0, 1)

    def outputs(self, *given: Tensor) -> list[Spec]:
        """See ``Norm``."""
        x, _, weight = given
        return [(x.shape, x.dtype), (x.shape, x.dtype), _statistics(x, weight.dim())]

    def call(self, given: Sequence[Place | None], outputs: Sequence[Place]) -> Call:
        """See ``Norm``."""
        y, total, rstd = outputs
        return Call(ops.add_rms_norm, (*given, self.eps), (y, rstd, total))

    @staticmethod
    def saved(given: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the sum, the weight and the statistics."""
        return outputs[1], given[2], outputs[2]

    @classmethod
    def returned(
        cls,
        made: list[Tensor],
        saved: Sequence[Tensor],
        upstream: Sequence[Tensor],
        wanted: Sequence[bool],
    ) -> list[Tensor]:
        """Add the gradient of the sum to that of the norm's input."""
        if wanted[0]:
            made[0].add_(upstream[1])
        return super().returned(made, saved, upstream, wanted)


@dataclass(frozen=True)
class GroupNorm(Norm):
    """``aclnnGroupNorm`` and ``aclnnGroupNormBackward``."""

    groups: int
    eps: float

    results: ClassVar = 1
    statistics: ClassVar = 2
    places: ClassVar = (0, 1, 2)

    def outputs(self, *given: Tensor) -> list[Spec]:
        """See ``Norm``."""
        x, statistics = given[0], ((given[0].shape[0], self.groups), given[0].dtype)
        return [(x.shape, x.dtype), statistics, statistics]

    def call(self, given: Sequence[Place | None], outputs: Sequence[Place]) -> Call:
        """See ``Norm``."""
        x, *affine = given
        return Call(ops.group_norm, (x, self.groups, *affine, self.eps), outputs)

    def call_backward(
        self,
        saved: Sequence[Place | None],
        upstream: Sequence[Place | None],
        made: Sequence[Place],
        wanted: Sequence[bool],
    ) -> Call:
        """See ``Norm``."""
        x, weight, _, mean, rstd = saved
        given = (*upstream, x, mean, rstd, self.groups, weight)
        return Call(ops.group_norm_backward, given, _placed(wanted, made), _mask(wanted))
