# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch whose norms pyaclnn launches; they load the states of PyTorch's own."""

from __future__ import annotations

from typing import Any, Final

from pyaclnn.torch import add_rms_norm, group_norm, layer_norm, rms_norm
from pyaclnn.torch.tensors import Tensor, pytorch

__all__ = ["AddLayerNorm", "AddRMSNorm", "GroupNorm", "LayerNorm", "RMSNorm"]

_torch: Final[Any] = pytorch()
_nn: Final[Any] = _torch.nn


class LayerNorm(_nn.LayerNorm):  # type: ignore[misc]  # known at run time
    """``torch.nn.LayerNorm`` by `layer_norm`."""

    def forward(self, input: Tensor) -> Tensor:  # PyTorch's name
        """Normalize over the trailing axes."""
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(_nn.RMSNorm):  # type: ignore[misc]
    """``torch.nn.RMSNorm`` by `rms_norm`."""

    def forward(self, input: Tensor) -> Tensor:  # PyTorch's name
        """Normalize by the root of the mean square."""
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(_nn.GroupNorm):  # type: ignore[misc]
    """``torch.nn.GroupNorm`` by `group_norm`."""

    def forward(self, input: Tensor) -> Tensor:  # PyTorch's name
        """Normalize the channels of each group together."""
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class AddRMSNorm(_nn.RMSNorm):  # type: ignore[misc]
    """RMS norm of a tensor and its residual, with the state of ``torch.nn.RMSNorm``."""

    def forward(self, input: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:  # as above
        """Return the norm of the sum, and the sum."""
        eps = _torch.finfo(input.dtype).eps if self.eps is None else self.eps
        return add_rms_norm(input, residual, self.weight, eps)


class AddLayerNorm(_nn.LayerNorm):  # type: ignore[misc]
    """Layer norm of a tensor and its residual, with the state of ``torch.nn.LayerNorm``."""

    def forward(self, input: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:  # as above
        """Return the norm of the sum, and the sum."""
        total = input + residual
        return layer_norm(total, self.normalized_shape, self.weight, self.bias, self.eps), total
