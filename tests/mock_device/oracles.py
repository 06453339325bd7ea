# SPDX-License-Identifier: Apache-2.0
"""Compositions of PyTorch's functions that operators without one of their own are compared with."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional

F = torch.nn.functional
aten = torch.ops.aten


def grad(function: Any, gradient: Any, *tensors: Any) -> Any:
    """The gradients of a function by tensors, by automatic differentiation."""
    leaves = [tensor.double().requires_grad_() for tensor in tensors]
    found = torch.autograd.grad(function(*leaves), leaves, gradient.double())
    made = tuple(each.to(tensor.dtype) for each, tensor in zip(found, tensors, strict=True))
    return made[0] if len(made) == 1 else made
