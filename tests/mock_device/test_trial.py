# SPDX-License-Identifier: Apache-2.0
"""Phase 1 finds the same mistakes in calls of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.kernel_call import KernelCall
from pyaclnn.mock.operators.trial import MisfitError, try_kernel
from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import BoolArray, IntArray, TensorList, Value
from pyaclnn.reference.kernels.kernel import Kernel, KernelLimitError

from .bench import tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

HUGE = 1_000_000
INT64, BOOL = DATA_TYPES["INT64"], DATA_TYPES["BOOL"]


def test_a_running_sum_of_a_gigabyte_is_checked_at_once(bench: Bench) -> None:
    x = tensor(256, 256, 70_000)
    assert bench.check("aclnnCumsum", {"self": x, "dim": 2, "dtype": 0, "out": x}).status == 0
    reply = bench.check("aclnnCumsum", {"self": x, "dim": 3, "dtype": 0, "out": x})
    assert (reply.status, "dimension 3 is not in [-3, 2]" in reply.text) == (161002, True)


A, B = tensor(HUGE, 2000), tensor(HUGE, 3000)
PLACES = tensor(HUGE, 7, data_type=INT64)
RIGHT: dict[str, tuple[str, dict[str, Value]]] = {
    "cat": ("aclnnCat", {"tensors": TensorList((A, B)), "dim": 1, "out": tensor(HUGE, 5000)}),
    "stack": (
        "aclnnStack",
        {"tensors": TensorList((A, A)), "dim": 0, "out": tensor(2, HUGE, 2000)},
    ),
    "topk": (
        "aclnnTopk",
        {
            "self": A,
            "k": 1500,
            "dim": -1,
            "largest": True,
            "sorted": True,
            "valuesOut": tensor(HUGE, 1500),
            "indicesOut": tensor(HUGE, 1500, data_type=INT64),
        },
    ),
    "pieces": (
        "aclnnSplitTensor",
        {
            "self": tensor(HUGE, 10),
            "splitSections": 300_000,
            "dim": 0,
            "out": TensorList((*[tensor(300_000, 10)] * 3, tensor(100_000, 10))),
        },
    ),
    "matrices": (
        "aclnnMatmul",
        {
            "self": tensor(64, HUGE, 300),
            "mat2": tensor(300, 7000),
            "out": tensor(64, HUGE, 7000),
            "cubeMathType": 0,
        },
    ),
    "frames of a signal": (
        "aclStft",
        {
            "self": tensor(2, 2000),
            "windowOptional": tensor(400),
            "out": tensor(2, 201, 11, data_type=DATA_TYPES["COMPLEX64"]),
            "nFft": 400,
            "hopLength": 160,
            "winLength": 400,
            "normalized": False,
            "onesided": True,
            "returnComplex": True,
        },
    ),
    "a window that takes strides": (
        "aclnnConvolution",
        {
            "input": tensor(7, 3, 20_000),
            "weight": tensor(2, 3, 400),
            "bias": None,
            "stride": IntArray((160,)),
            "padding": IntArray((0,)),
            "dilation": IntArray((1,)),
            "transposed": False,
            "outputPadding": IntArray((0,)),
            "groups": 1,
            "output": tensor(7, 2, 123),
            "cubeMathType": 0,
        },
    ),
    "a window with the remainder of its axis": (
        "aclnnConvolution",
        {
            "input": tensor(7, 3, 6_419),
            "weight": tensor(2, 3, 16),
            "bias": None,
            "stride": IntArray((8,)),
            "padding": IntArray((0,)),
            "dilation": IntArray((1,)),
            "transposed": False,
            "outputPadding": IntArray((0,)),
            "groups": 1,
            "output": tensor(7, 2, 801),
            "cubeMathType": 0,
        },
    ),
    "a window that dilation makes long": (
        "aclnnConvolution",
        {
            "input": tensor(7, 3, 70_000),
            "weight": tensor(2, 3, 20),
            "bias": None,
            "stride": IntArray((1,)),
            "padding": IntArray((0,)),
            "dilation": IntArray((8,)),
            "transposed": False,
            "outputPadding": IntArray((0,)),
            "groups": 1,
            "output": tensor(7, 2, 69_848),
            "cubeMathType": 0,
        },
    ),
    "a kept length beside padded ones": (
        "aclnnReflectionPad2dBackward",
        {
            "gradOutput": tensor(2, 4, 11, 12),
            "self": tensor(2, 4, 9, 8),
            "padding": IntArray((2, 2, 1, 1)),
            "gradInput": tensor(2, 4, 9, 8),
        },
    ),
    "indices": (
        "aclnnGather",
        {"self": tensor(HUGE, 900), "dim": 1, "index": PLACES, "out": tensor(HUGE, 7)},
    ),
    "a number below the lengths": (
        "aclnnSlice",
        {
            "self": tensor(7, 1337),
            "dim": 1,
            "start": 1020,
            "end": 1275,
            "step": 1,
            "out": tensor(7, 255),
        },
    ),
    "lengths that are not proportional": (
        "aclnnConvolutionBackward",
        {
            "gradOutput": tensor(2, 8, 99),
            "input": tensor(2, 1, 400),
            "weight": tensor(8, 1, 8),
            "biasSizes": IntArray((8,)),
            "stride": IntArray((4,)),
            "padding": IntArray((0,)),
            "dilation": IntArray((1,)),
            "transposed": False,
            "outputPadding": IntArray((0,)),
            "groups": 1,
            "outputMask": BoolArray((True, True, True)),
            "cubeMathType": 0,
            "gradInput": tensor(2, 1, 400),
            "gradWeight": tensor(8, 1, 8),
            "gradBias": tensor(8),
        },
    ),
    "no elements": ("aclnnAbs", {"self": tensor(0, HUGE, HUGE), "out": tensor(0, HUGE, HUGE)}),
}
WRONG: dict[str, tuple[str, dict[str, Value], str]] = {
    "cat": (
        "aclnnCat",
        {"tensors": TensorList((A, B)), "dim": 1, "out": tensor(HUGE, 4999)},
        "out has shape (1000000, 4999); the result has (1000000, 5000)",
    ),
    "elements": (
        "aclnnExp",
        {"self": A, "out": B},
        "out has shape (1000000, 3000); the result has (1000000, 2000)",
    ),
    "more places than there are": (
        "aclnnTopk",
        RIGHT["topk"][1] | {"k": 2001},
        "k is 2001; it must be in [0, 2000]",
    ),
    "a dimension": (
        "aclnnCumsum",
        {"self": A, "dim": 2, "dtype": 0, "out": A},
        "dimension 2 is not in [-2, 1]",
    ),
    "factors": (
        "aclnnMm",
        {"self": A, "mat2": B, "out": A, "cubeMathType": 0},
        "shapes (1000000, 2000) and (1000000, 3000) do not go together",
    ),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_large_call_that_is_right_is_accepted(case: str, bench: Bench) -> None:
    reply = bench.check(*RIGHT[case])
    assert (reply.status, reply.text) == (0, "")


@pytest.mark.parametrize("case", WRONG)
def test_a_large_call_that_is_wrong_is_refused_with_its_own_lengths(
    case: str, bench: Bench
) -> None:
    name, arguments, text = WRONG[case]
    reply = bench.check(name, arguments)
    assert (reply.status, text in reply.text) == (161002, True), reply.text


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("aclnnDot", {"self": tensor(3), "tensor": tensor(4), "out": tensor()}, "mismatch"),
        (
            "aclnnGluBackward",
            {"gradOut": tensor(1), "self": tensor(3), "dim": 0, "out": tensor(3)},
            "equal division",
        ),
        (
            "aclnnMatmul",
            {"self": tensor(), "mat2": tensor(3, 3), "out": tensor(3, 3), "cubeMathType": 0},
            "shapes () and (3, 3) do not go together as factors",
        ),
        (
            "aclnnDivMod",
            {"self": tensor(3), "other": tensor(3), "mode": 3, "out": tensor(3)},
            "mode is 3; it must be one of [0, 1, 2]",
        ),
    ],
)
def test_what_a_kernel_refuses_is_refused(
    name: str, arguments: dict[str, Value], text: str, bench: Bench
) -> None:
    reply = bench.check(name, arguments)
    assert (reply.status, text in reply.text) == (161002, True), reply.text


def in_blocks(x: Any) -> Any:
    if x.shape[-1] % 32:
        raise ValueError("the last dimension must be a multiple of 32")
    return x.reshape(*x.shape[:-1], -1, 32).max(-1)


KERNELS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], bool]] = {
    "whole blocks": (in_blocks, (HUGE, 10), True),
    "no whole blocks": (lambda x: in_blocks(x[:, 1:]), (HUGE, 10), False),
    "every second": (lambda x: x[:, ::2], (HUGE, 160), True),
    "a product of lengths": (lambda x: x.reshape(-1), (HUGE * 320,), True),
    "a product, and too few: left to phase 2": (lambda x: x.reshape(-1), (HUGE,), True),
    "one more": (lambda x: np.concatenate([x, x[:1]]), (HUGE + 1, 320), True),
    "one more, and too few": (lambda x: np.concatenate([x, x[:1]]), (HUGE, 320), False),
}


@pytest.mark.parametrize("case", KERNELS)
def test_no_probe_refuses_what_the_kernel_takes(case: str) -> None:
    function, dims, taken = KERNELS[case]

    def compute(self: Any) -> Any:
        return function(self)

    kernel = Kernel("aclnnAbs", compute)
    signature = signature_of(kernel.name, kernel)
    assert signature is not None
    values: dict[str, Value] = {"self": tensor(HUGE, 320), "out": tensor(*dims)}
    if taken:
        try_kernel(KernelCall(signature, kernel), values)
    else:
        with pytest.raises((MisfitError, ValueError), match=r"multiple of 32|shape"):
            try_kernel(KernelCall(signature, kernel), values)


def test_a_limit_of_a_kernel_of_this_project_is_none_of_cann() -> None:
    def compute(self: Any) -> Any:
        raise NotImplementedError(f"no {self.dtype}")

    kernel = Kernel("aclnnAbs", compute, plain=True)
    signature = signature_of(kernel.name, kernel)
    assert signature is not None
    with pytest.raises(KernelLimitError, match=r"does not take these arguments \(.*no float32"):
        try_kernel(KernelCall(signature, kernel), {"self": tensor(3), "out": tensor(3)})


def test_a_list_of_lengths_is_shortened_as_the_tensors_are() -> None:
    def compute(self: Any, dim: tuple[int, ...]) -> Any:
        return np.broadcast_to(self[:1], dim)

    kernel = Kernel("aclnnAmax", compute)
    signature = signature_of(kernel.name, kernel)
    assert signature is not None
    values: dict[str, Value] = {
        "self": tensor(HUGE, 320),
        "dim": IntArray((HUGE * 1000, 320)),
        "keepDim": False,
        "out": tensor(HUGE * 1000, 320),
    }
    try_kernel(KernelCall(signature, kernel), values)
