# SPDX-License-Identifier: Apache-2.0
"""Time of phase 1 on the simulated NPU for long tensors, against that for short ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.mock_device.bench import Bench
from tests.mock_device.cost import grown
from tests.mock_device.test_cost import FIRST
from tests.mock_device.test_kernels import Stage

from .measure import Comparison, take_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["compare"]

OPERATORS = (
    "aclnnAdd",
    "aclnnMatmul",
    "aclnnSoftmax",
    "aclnnConvDepthwise2d",
    "aclnnChunkCat",
    "aclnnPdist",
    "aclnnFusedInferAttentionScore",
    "aclnnPromptFlashAttentionV3",
)
"""Three that networks call most, and those that take the most time more."""
MOST = 10.0
"""A kernel is tried with at most as many short lengths, and once where tensors are short."""


def compare(turns: int) -> Iterator[Comparison]:
    """Time calls with up to 10^12 elements, and with about ten."""
    bench = Bench()
    for name in OPERATORS:
        few = Stage(bench, FIRST[name]).arguments
        many = {parameter: grown(value) for parameter, value in few.items()}
        ways = {"10^12": partial(bench.check, name, many), "10": partial(bench.check, name, few)}
        timings = take_turns(ways, turns)
        yield Comparison(name, "10^12", timings["10^12"], "10", timings["10"], MOST)
    bench.close()
