# SPDX-License-Identifier: Apache-2.0
"""Layout of a temporary buffer; rounds and tail make the whole."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings, strategies as st

from pyaclnn.ascendc.tiling import (
    Buffer,
    TilingError,
    TilingStructure,
    addressed_bytes,
    buffer_map,
    get_layer_norm_grad_beta_nd_tiling_info,
    get_layer_norm_grad_nd_tiling_info,
    get_layer_norm_nd_tiling_info,
    get_layer_norm_rstd_nd_tiling_info,
)

from .calls import A5, elements, needed_by, requests, row_length

if TYPE_CHECKING:
    from pyaclnn.ascendc.tiling.request import TilingRequest

EXACT = ("layernorm", "layernorm-rstd", "layernorm-grad-beta")
SHAPE = (2, 32, 16, 16)
stacks = st.integers(0, 300_000)


def names(tiling: TilingStructure) -> str:
    return " ".join(buffer.name for buffer in buffer_map(tiling))


class TestWhatLiesInTheBuffer:
    def test_layer_norm(self) -> None:
        assert buffer_map(get_layer_norm_nd_tiling_info(SHAPE, 704, 4)) == (
            Buffer("firstTmp", 0, 192),
            Buffer("secondTmp", 192, 192),
            Buffer("thirdTmp", 384, 192),
        )
        assert names(get_layer_norm_nd_tiling_info(SHAPE, 704, 4, True)) == "firstTmp secondTmp"
        assert buffer_map(get_layer_norm_nd_tiling_info(SHAPE, 2000, 2)) == (
            Buffer("meanTmpTensor", 0, 256),
            Buffer("varianceTmpTensor", 256, 256),
            Buffer("firstTmp", 512, 448),
            Buffer("secondTmp", 960, 448),
            Buffer("thirdTmp", 1408, 448),
        )

    def test_layer_norm_rstd(self) -> None:
        assert buffer_map(get_layer_norm_rstd_nd_tiling_info((4, 10), 160, 4)) == (
            Buffer("varianceTmpTensor", 0, 32),
            Buffer("firstTmp", 32, 64),
            Buffer("secondTmp", 96, 64),
        )

    def test_layer_norm_grad(self) -> None:
        float_parts = "tmpTensorBSH pdVarTensor pdMeanTensor x1Tensor x2Tensor x3Tensor"
        reuse_parts = "tmpTensorBSH pdVarTensor pdMeanTensor x3Tensor"
        half_parts = f"{float_parts} tmpTensor tmpTensor1 tmpTensor2"
        assert names(get_layer_norm_grad_nd_tiling_info(SHAPE, 8192, 4)) == float_parts
        assert names(get_layer_norm_grad_nd_tiling_info(SHAPE, 8192, 4, True)) == reuse_parts
        assert names(get_layer_norm_grad_nd_tiling_info(SHAPE, 8192, 2)) == half_parts

    def test_layer_norm_grad_beta(self) -> None:
        assert buffer_map(get_layer_norm_grad_beta_nd_tiling_info(SHAPE, 200, 4)) == (
            Buffer("resForGammaTmpTensor", 0, 192),
        )
        assert buffer_map(get_layer_norm_grad_beta_nd_tiling_info(SHAPE, 1000, 2)) == (
            Buffer("gammaTempTensor", 0, 64),
            Buffer("betaTempTensor", 64, 64),
            Buffer("inputDyTmpTensor", 128, 384),
            Buffer("resForGammaTmpTensor", 512, 384),
        )

    def test_kernels_of_ascend_950_arrange_it_themselves(self) -> None:
        for tiling in (
            get_layer_norm_rstd_nd_tiling_info((4, 10), 576, 4, soc=A5),
            get_layer_norm_grad_nd_tiling_info(SHAPE, 128, 4, soc=A5),
        ):
            assert buffer_map(tiling) == ()
            assert addressed_bytes(tiling) == 0

    def test_a_structure_of_another_kind_has_no_map(self) -> None:
        with pytest.raises(TypeError, match="tiling is a TilingStructure; it must be"):
            buffer_map(TilingStructure())


class TestTheTrap:
    """LayerNormGrad rounds rows up after it divided the buffer."""

    def test_the_documented_minimum_is_too_small_for_one_row(self) -> None:
        tiling = get_layer_norm_grad_nd_tiling_info((1, 1, 8, 8), 192, 4)
        assert addressed_bytes(tiling) == 1536

    def test_so_can_the_maximum_be(self) -> None:
        # nine rows of 8 floats in six buffers: 1728 bytes, worked through as 16 rows
        tiling = get_layer_norm_grad_nd_tiling_info((1, 9, 8, 8), 1728, 4)
        assert addressed_bytes(tiling) == 3072

    @settings(deadline=None, max_examples=200)
    @given(request=requests(["layernorm-grad"]), stack=stacks)
    def test_what_it_addresses_is_a_buffer_that_it_fits_into(
        self, request: TilingRequest, stack: int
    ) -> None:
        try:
            needed = addressed_bytes(request.tiling(stack))
        except TilingError as error:
            needed = needed_by(error)
        assert addressed_bytes(request.tiling(needed)) == needed


def whole(tiling: TilingStructure) -> tuple[int, int, int]:
    """The elements of a round, the number of rounds and the elements of the tail."""
    fields = {name: int(value) for name, value in tiling.as_dict().items()}
    one = fields.get("oneTmpSize", fields.get("oneCalSize"))
    loops = fields.get("loopRound", fields.get("loopNum"))
    tail = fields.get("inputTailSize", fields.get("tailSize"))
    assert one is not None
    assert loops is not None
    assert tail is not None
    return one, loops, tail


@settings(deadline=None, max_examples=300)
@given(request=requests(), stack=stacks)
def test_rounds_and_tail_make_the_whole(request: TilingRequest, stack: int) -> None:
    try:
        tiling = request.tiling(stack)
    except TilingError:
        assume(False)
    one, loops, tail = whole(tiling)
    assert one > 0
    assert one % row_length(request) == tail % row_length(request) == 0
    assert 0 <= tail < one
    assert loops * one + tail == elements(request)


@settings(deadline=None, max_examples=300)
@given(request=requests(), stack=stacks)
def test_parts_lie_one_behind_the_other(request: TilingRequest, stack: int) -> None:
    try:
        parts = buffer_map(request.tiling(stack))
    except TilingError:
        assume(False)
    assert parts[0].start == 0
    assert all(part.size > 0 for part in parts)
    assert all(first.end == second.start for first, second in pairwise(parts))
    assert len({part.name for part in parts}) == len(parts)


@settings(deadline=None, max_examples=300)
@given(request=requests(EXACT), stack=stacks)
def test_parts_lie_in_the_buffer(request: TilingRequest, stack: int) -> None:
    try:
        tiling = request.tiling(stack)
    except TilingError as error:
        stack = needed_by(error)
        tiling = request.tiling(stack)
    assert 0 < addressed_bytes(tiling) <= stack


@settings(deadline=None, max_examples=200)
@given(request=requests(EXACT))
def test_the_size_that_is_asked_for_is_the_smallest_that_works(request: TilingRequest) -> None:
    with pytest.raises(TilingError) as caught:
        request.tiling(0)
    needed = needed_by(caught.value)
    request.tiling(needed)
    with pytest.raises(TilingError, match=f"must be at least {needed}"):
        request.tiling(needed - 1)
    assert needed <= request.tmp_size().min_value


@settings(deadline=None, max_examples=200)
@given(request=requests(), stack=stacks, more=st.integers(0, 5000))
def test_a_larger_buffer_never_makes_smaller_rounds(
    request: TilingRequest, stack: int, more: int
) -> None:
    try:
        tiling = request.tiling(stack)
    except TilingError:
        assume(False)
    assert whole(request.tiling(stack + more))[0] >= whole(tiling)[0]
