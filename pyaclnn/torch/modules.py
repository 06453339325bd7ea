# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch whose norms pyaclnn launches; they load the states of PyTorch's own."""

from __future__ import annotations

from typing import Any, Final

from pyaclnn.torch.functions import add_rms_norm, group_norm, layer_norm, rms_norm
from pyaclnn.torch.tensors import Tensor, pytorch

__all__ = ["NAMES"]

NAMES: Final = ("AddLayerNorm", "AddRMSNorm", "GroupNorm", "LayerNorm", "RMSNorm")
"""The classes, which are made when one is first used, as they need PyTorch."""


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for made in _classes():
        made.__qualname__ = made.__name__  # so that pickle finds it here
        globals().setdefault(made.__name__, made)
    return globals()[name]


def _classes() -> tuple[type, ...]:
    torch = pytorch()
    nn = torch.nn

    class LayerNorm(nn.LayerNorm):  # type: ignore[misc,name-defined]  # known at run time
        """``torch.nn.LayerNorm`` by `layer_norm`."""

        def forward(self, input: Tensor) -> Tensor:  # PyTorch's name
            """Normalize over the trailing axes."""
            return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    class RMSNorm(nn.RMSNorm):  # type: ignore[misc,name-defined]
        """``torch.nn.RMSNorm`` by `rms_norm`."""

        def forward(self, input: Tensor) -> Tensor:  # PyTorch's name
            """Normalize by the root of the mean square."""
            return rms_norm(input, self.normalized_shape, self.weight, self.eps)

    class GroupNorm(nn.GroupNorm):  # type: ignore[misc,name-defined]
        """``torch.nn.GroupNorm`` by `group_norm`."""

        def forward(self, input: Tensor) -> Tensor:  # PyTorch's name
            """Normalize the channels of each group together."""
            return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    class AddRMSNorm(nn.RMSNorm):  # type: ignore[misc,name-defined]
        """RMS norm of a tensor and its residual, with the state of ``torch.nn.RMSNorm``."""

        def forward(self, input: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:  # as above
            """Return the norm of the sum, and the sum."""
            eps = torch.finfo(input.dtype).eps if self.eps is None else self.eps
            return add_rms_norm(input, residual, self.weight, eps)

    class AddLayerNorm(nn.LayerNorm):  # type: ignore[misc,name-defined]
        """Layer norm of a tensor and its residual, with the state of ``torch.nn.LayerNorm``."""

        def forward(self, input: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:  # as above
            """Return the norm of the sum, and the sum."""
            total = input + residual
            return layer_norm(total, self.normalized_shape, self.weight, self.bias, self.eps), total

    return AddLayerNorm, AddRMSNorm, GroupNorm, LayerNorm, RMSNorm
