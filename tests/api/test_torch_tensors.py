# SPDX-License-Identifier: Apache-2.0
"""PyTorch's tensors on the host: written in place, and refused with what makes them fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyaclnn import aclnn, ops
from pyaclnn.base.errors import InvalidArgumentError

X = np.random.default_rng(3).normal(2, 3, (4, 3, 5)).astype(np.float32)


def test_running_statistics_and_results_are_written_in_place(torch: Any) -> None:
    mean, var, out = torch.zeros(3), torch.ones(3), torch.empty(4, 3, 5)
    ops.batch_norm(
        torch.from_numpy(X), mean, var, training=True, momentum=1.0, out=(out, None, None)
    )
    np.testing.assert_allclose(mean.numpy(), X.mean((0, 2)), rtol=1e-4)
    np.testing.assert_allclose(out.numpy().mean((0, 2)), np.zeros(3), atol=1e-4)


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's, of nested and quantized tensors
@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("sparse", "make it dense: x.to_dense()."),
        ("meta", "a tensor on PyTorch's device 'meta' has no data: create it on the CPU."),
        ("grad", "a tensor of PyTorch that requires a gradient is shared by x.detach()."),
        ("nested", "fill its rows to one length: x.to_padded_tensor(0.0)."),
        ("quantized", "compute its values: x.dequantize()."),
        ("complex", "take a part of it: x.real.to(torch.float32)."),
    ],
)
def test_a_tensor_that_cannot_be_shared_has_its_own_hint(torch: Any, kind: str, hint: str) -> None:
    tensors = {
        "sparse": lambda: torch.ones(4, 3).to_sparse(),
        "meta": lambda: torch.ones(4, 3, device="meta"),
        "grad": lambda: torch.ones(4, 3, requires_grad=True),
        "nested": lambda: torch.nested.nested_tensor([torch.ones(3), torch.ones(2)]),
        "quantized": lambda: torch.quantize_per_tensor(torch.ones(4, 3), 0.1, 0, torch.qint8),
        "complex": lambda: torch.ones(4, 3, dtype=torch.complex64),
    }
    with pytest.raises(InvalidArgumentError) as caught:
        ops.rms_norm(tensors[kind](), np.ones(3, np.float32))
    assert str(caught.value).endswith(f"\nHint: {hint}")


def test_a_tensor_in_the_place_of_a_number_is_described_by_its_shape(torch: Any) -> None:
    norm: Any = ops.rms_norm  # type checkers refuse this order
    with pytest.raises(InvalidArgumentError, match="each other's place") as caught:
        norm(torch.ones(4, 64), 1e-5, torch.ones(64))
    assert "'epsilon' is an array of torch.float32 and shape (64,)" in str(caught.value)


def test_statistics_are_required_when_not_training() -> None:
    with pytest.raises(InvalidArgumentError, match="'running_mean' is left out; it must be an arr"):
        ops.batch_norm(X)
    with pytest.raises(InvalidArgumentError, match="'running_var' is left out; it must be an arra"):
        ops.batch_norm(X, np.zeros(3, np.float32))
    assert ops.batch_norm(X, training=True).output.shape == X.shape


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'other' is of shape \(3,\); .* \(4, 8\)"):
        aclnn.add(np.ones((4, 8), np.float32), np.ones(3, np.float32), 1)
