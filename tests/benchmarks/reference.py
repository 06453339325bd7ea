# SPDX-License-Identifier: Apache-2.0
"""The NumPy reference against PyTorch's kernels for the CPU, with the same number of threads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from pyaclnn.reference import (
    batch_norm,
    batch_norm_elemt,
    group_norm,
    layer_norm,
    layer_norm_backward,
    linalg_vector_norm,
    renorm,
    rms_norm,
    rms_norm_grad,
)

from .measure import Comparison, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = ["compare"]

SMALL = (64, 512)
SHAPES = [SMALL, (4096, 4096), (65536, 256), (8, 262144)]
DTYPES: list[np.dtype[Any]] = [np.dtype(t) for t in (np.float32, np.float16, ml_dtypes.bfloat16)]
EPSILON = 1e-5
GROUPS = 8
SHORTER = 10.0

Ways = tuple["Callable[[], object]", "Callable[[], object]"]


def compare(turns: int) -> Iterator[Comparison]:
    """Time gradients and forward functions; targets hold for the gradients."""
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # torch-npu wants an installation
    import torch  # noqa: PLC0415 - the other benchmarks do without it

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    for dtype in DTYPES:
        for shape in SHAPES:
            for operator, (ours, theirs) in pairs(torch, shape, dtype):
                timings = take_turns({"pyaclnn": ours, "PyTorch": theirs}, turns)
                yield Comparison(
                    f"{operator} {dtype} {shape[0]}x{shape[1]}",
                    "pyaclnn",
                    timings["pyaclnn"],
                    "PyTorch",
                    timings["PyTorch"],
                    target(shape, dtype) if "grad" in operator else None,
                )


def target(shape: tuple[int, int], dtype: np.dtype[Any]) -> float:
    if shape == SMALL:
        return 6.0
    return 1.0 if dtype == np.float32 else 1.5


def pairs(torch: Any, shape: tuple[int, int], dtype: np.dtype[Any]) -> Iterator[tuple[str, Ways]]:
    """Each operator, as the reference and as PyTorch compute it from the same memory."""
    generator = np.random.default_rng(1)
    size = shape[1:]
    sizes = (shape, shape, size, size)
    x, dy, weight, bias = (
        generator.standard_normal(shape, np.float32).astype(dtype) for shape in sizes
    )
    tx, tdy, tweight, tbias = (as_tensor(torch, array) for array in (x, dy, weight, bias))

    _, mean, rstd = layer_norm(x, size, eps=EPSILON)
    # PyTorch wants the statistics in the type of the weight, as its own forward function has them.
    _, tmean, trstd = torch.native_layer_norm(tx, size, tweight, tbias, EPSILON)
    gradient = torch.ops.aten.native_layer_norm_backward
    yield (
        "layer_norm grad",
        (
            lambda: layer_norm_backward(dy, x, size, mean, rstd, weight, bias),
            lambda: gradient(tdy, tx, size, tmean, trstd, tweight, tbias, [True] * 3),
        ),
    )

    root = rms_norm(x, weight, EPSILON).rstd
    leaves = [tensor.clone().requires_grad_() for tensor in (tx, tweight)]
    ty = torch.nn.functional.rms_norm(leaves[0], size, leaves[1], EPSILON)
    yield (
        "rms_norm grad",
        (
            lambda: rms_norm_grad(dy, x, root, weight),
            lambda: torch.autograd.grad(ty, leaves, tdy, retain_graph=True),
        ),
    )
    yield (
        "layer_norm",
        (
            lambda: layer_norm(x, size, weight, bias, EPSILON),
            lambda: torch.native_layer_norm(tx, size, tweight, tbias, EPSILON),
        ),
    )
    yield (
        "rms_norm",
        (
            lambda: rms_norm(x, weight, EPSILON),
            lambda: torch.nn.functional.rms_norm(tx, size, tweight, EPSILON),
        ),
    )
    rows, columns = shape
    yield (
        "group_norm",
        (
            lambda: group_norm(x, GROUPS, weight, bias, EPSILON),
            lambda: torch.native_group_norm(tx, tweight, tbias, rows, columns, 1, GROUPS, EPSILON),
        ),
    )
    yield (
        "batch_norm",
        (
            lambda: batch_norm(x, None, None, weight, bias, training=True, eps=EPSILON),
            lambda: torch.native_batch_norm(tx, tweight, tbias, None, None, True, 0.1, EPSILON),
        ),
    )
    center, inverse = weight.astype(np.float32), np.abs(bias.astype(np.float32)) + 0.5
    tcenter, tvariance = (as_tensor(torch, array) for array in (center, inverse**-2 - EPSILON))
    wide, shift = tweight.float(), tbias.float()  # of the type of the statistics, as PyTorch wants
    yield (
        "batch_norm_elemt",
        (
            lambda: batch_norm_elemt(x, weight, bias, center, inverse, EPSILON),
            lambda: torch.native_batch_norm(
                tx, wide, shift, tcenter, tvariance, False, 0.1, EPSILON
            ),
        ),
    )
    yield (
        "linalg_vector_norm",
        (lambda: linalg_vector_norm(x, 2, 1), lambda: torch.linalg.vector_norm(tx, 2, 1)),
    )
    yield (
        "renorm",
        (lambda: renorm(x, 2, 0, SHORTER), lambda: torch.renorm(tx, 2, 0, SHORTER)),
    )


def as_tensor(torch: Any, array: NDArray[Any]) -> Any:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)
