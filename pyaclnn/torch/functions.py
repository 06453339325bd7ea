# SPDX-License-Identifier: Apache-2.0
"""Differentiable norms: the public functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.torch import library
from pyaclnn.torch.tensors import Tensor, require_npu

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["add_rms_norm", "group_norm", "layer_norm", "rms_norm"]


def layer_norm(
    input: Tensor,  # PyTorch's name
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize over the trailing axes, as ``torch.nn.functional.layer_norm``.

    Drives ``aclnnLayerNorm`` and ``aclnnLayerNormBackward``.

    Args:
        input: The tensor to normalize; float32, float16 or bfloat16, on an NPU; it may be strided.
        normalized_shape: The lengths of the trailing axes to normalize over.
        weight: The scale, of that shape; ones if None.
        bias: The shift, of that shape; zeros if None.
        eps: Added to the variance.

    Returns:
        A contiguous tensor of the shape and dtype of ``input``, float32 under autocast. It supports
        first-order gradients.

    Raises:
        InvalidArgumentError: An argument is invalid, or on another device.
        ImportError: PyTorch or torch-npu is not installed.
        AclError: CANN refused the call.
    """
    import torch  # noqa: PLC0415  # its compiler traces this import

    given: tuple[Tensor | None, ...] = input, weight, bias
    if torch.is_autocast_enabled("npu"):
        given = _wide("layer_norm", *given)
    return library.OPERATORS["layer_norm"](*given, _lengths(normalized_shape), eps)[0]


def rms_norm(
    input: Tensor,  # PyTorch's name
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Normalize by the root of the mean square, as ``torch.nn.functional.rms_norm``.

    Drives ``aclnnRmsNorm`` and ``aclnnRmsNormGrad``.

    Args:
        input: The tensor to normalize; float32, float16 or bfloat16, on an NPU; it may be strided.
        normalized_shape: The lengths of the trailing axes to normalize over.
        weight: The scale, of that shape; ones if None.
        eps: Added to the mean square; the machine epsilon of the dtype of ``input`` if None.

    Returns:
        A contiguous tensor of the shape and dtype of ``input``. It supports first-order gradients.

    Raises:
        InvalidArgumentError: An argument is invalid, or on another device.
        ImportError: PyTorch or torch-npu is not installed.
        AclError: CANN refused the call.
    """
    if eps is None or weight is None:
        require_npu("rms_norm", "input", input)
    if eps is None:
        import torch  # noqa: PLC0415  # its compiler traces this import

        eps = torch.finfo(input.dtype).eps
    if weight is None:
        weight = input.new_ones(_lengths(normalized_shape))
    elif tuple(weight.shape) != _lengths(normalized_shape):
        given, wanted = f"of shape {tuple(weight.shape)}", f"of shape {_lengths(normalized_shape)}"
        raise InvalidArgumentError.of("rms_norm", "weight", given, wanted)
    return library.OPERATORS["rms_norm"](input, weight, eps)[0]


def add_rms_norm(
    x1: Tensor, x2: Tensor, weight: Tensor, eps: float = 1e-6
) -> tuple[Tensor, Tensor]:
    """Add two tensors and normalize the sum by the root of its mean square.

    Drives ``aclnnAddRmsNorm`` and ``aclnnRmsNormGrad``.

    Args:
        x1: The first summand; float32, float16 or bfloat16, on an NPU.
        x2: The second summand, of the same shape and dtype.
        weight: The scale, of the dtype of both, whose axes are those to normalize over.
        eps: Added to the mean square.

    Returns:
        The norm of the sum, and the sum: contiguous tensors of the shape and dtype of ``x1``.
        They support first-order gradients.

    Raises:
        InvalidArgumentError: An argument is invalid, or on another device.
        ImportError: PyTorch or torch-npu is not installed.
        AclError: CANN refused the call.
    """
    normed, total = library.OPERATORS["add_rms_norm"](x1, x2, weight, eps)[:2]
    return normed, total


def group_norm(
    input: Tensor,  # PyTorch's name
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize the channels of each group together, as ``torch.nn.functional.group_norm``.

    Drives ``aclnnGroupNorm`` and ``aclnnGroupNormBackward``.

    Args:
        input: The tensor, of shape (N, C, ...); float32, float16 or bfloat16, on an NPU.
        num_groups: The number of groups of channels.
        weight: The scale of each channel, of the dtype of ``input``; ones if None.
        bias: The shift of each channel, of the dtype of ``input``; zeros if None.
        eps: Added to the variance.

    Returns:
        A contiguous tensor of the shape and dtype of ``input``, float32 under autocast. It supports
        first-order gradients.

    Raises:
        InvalidArgumentError: An argument is invalid, or on another device.
        ImportError: PyTorch or torch-npu is not installed.
        AclError: CANN refused the call.
    """
    import torch  # noqa: PLC0415  # its compiler traces this import

    given: tuple[Tensor | None, ...] = input, weight, bias
    if torch.is_autocast_enabled("npu"):
        given = _wide("group_norm", *given)
    return library.OPERATORS["group_norm"](*given, num_groups, eps)[0]


def _lengths(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _wide(routine: str, *given: Tensor | None) -> tuple[Tensor | None, ...]:
    """Return the arguments as autocast of ``torch.nn.functional`` gives them: float32."""
    import torch  # noqa: PLC0415  # as above

    for name, tensor in zip(("input", "weight", "bias"), given, strict=True):
        if tensor is not None:
            require_npu(routine, name, tensor)
    narrow = (torch.float16, torch.bfloat16)
    return tuple(t.float() if t is not None and t.dtype in narrow else t for t in given)
