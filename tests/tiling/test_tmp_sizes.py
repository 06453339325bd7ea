# SPDX-License-Identifier: Apache-2.0
"""Sizes of temporary buffers, in bytes, each worked out by hand from the documented arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from pyaclnn.ascendc.tiling import (
    get_layer_norm_grad_beta_max_min_tmp_size,
    get_layer_norm_grad_max_min_tmp_size,
    get_layer_norm_max_min_tmp_size,
    get_layer_norm_rstd_max_min_tmp_size,
)

from .calls import A2, A5, requests

if TYPE_CHECKING:
    from pyaclnn.ascendc.tiling.request import TilingRequest


@pytest.mark.parametrize(
    ("src_shape", "type_size", "reuse", "max_value", "min_value"),
    [
        # three buffers of 4096 or 64 bytes, two statistics of 256
        ((2, 32, 16, 16), 4, False, 12800, 704),
        ((2, 32, 16, 16), 2, False, 12800, 704),
        ((2, 32, 16, 16), 2, True, 12800, 704),  # half reuses nothing
        ((2, 32, 16, 16), 4, True, 8704, 640),
        ((1, 8, 8, 8), 4, False, 832, 160),
        ((1, 8, 8, 8), 4, True, 576, 128),
        ((1, 1, 16, 10), 2, False, 256, 256),
        ((3, 3, 8, 5), 4, False, 992, 224),  # nine statistics take 64 bytes
    ],
)
@pytest.mark.parametrize("soc", [A2, A5, "Ascend310P3", "Ascend910_9391"])
def test_layer_norm(
    src_shape: tuple[int, ...],
    type_size: int,
    reuse: bool,
    max_value: int,
    min_value: int,
    soc: str,
) -> None:
    found = get_layer_norm_max_min_tmp_size(src_shape, type_size, reuse, soc=soc)
    assert found == (max_value, min_value)
    assert (found.max_value, found.min_value) == (max_value, min_value)


@pytest.mark.parametrize(
    ("src_shape", "type_size", "max_value", "min_value"),
    [
        # rows of 16; 2 * 64 + 2 * 8 * 16 * 4, and 2 * 64, and 32 of statistics
        ((4, 10), 4, 1184, 160),
        ((4, 10), 2, 1184, 288),  # a half row takes four times 64
        ((100, 8), 4, 7136, 832),  # statistics of 416 exceed the rows
        ((1, 8), 4, 608, 96),
        ((8, 64), 4, 4640, 544),
    ],
)
@pytest.mark.parametrize("soc", [A2, "Ascend310P3", "Ascend910_9391"])
@pytest.mark.parametrize("options", [{}, {"is_reuse_source": True}, {"is_compute_rstd": False}])
def test_layer_norm_rstd(
    src_shape: tuple[int, int], type_size: int, max_value: int, min_value: int,
    soc: str, options: dict[str, Any],
) -> None:  # fmt: skip
    found = get_layer_norm_rstd_max_min_tmp_size(src_shape, type_size, soc=soc, **options)
    assert found == (max_value, min_value)


@pytest.mark.parametrize(
    ("src_shape", "compute_rstd", "size"),
    [
        ((16, 1), True, (128 + 16) * 4),
        ((16, 4099), True, (128 + 16) * 4),  # 65 registers
        ((16, 8192), True, (128 + 16) * 4),  # 128 registers
        ((16, 8193), True, (256 + 16) * 4),  # 129 registers
        ((16, 4099), False, (128 + 32) * 4),
    ],
)
@pytest.mark.parametrize("type_size", [2, 4])
def test_layer_norm_rstd_on_ascend_950(
    src_shape: tuple[int, int], compute_rstd: bool, size: int, type_size: int
) -> None:
    found = get_layer_norm_rstd_max_min_tmp_size(
        src_shape, type_size, is_compute_rstd=compute_rstd, soc=A5
    )
    assert found == (size, size)


@pytest.mark.parametrize(
    ("src_shape", "type_size", "reuse", "max_value", "min_value"),
    [
        # 1024 elements against 16 * 16
        ((2, 32, 16, 16), 4, False, 24576, 6144),
        ((2, 32, 16, 16), 4, True, 16384, 4096),
        ((2, 32, 16, 16), 2, False, 18432, 4608),
        ((2, 32, 16, 16), 2, True, 18432, 4608),
        ((1, 1, 8, 8), 4, False, 1536, 192),  # 8 elements against 8 * 8
        ((1, 4, 16, 16), 2, False, 4608, 1152),
    ],
)
def test_layer_norm_grad(
    src_shape: tuple[int, ...], type_size: int, reuse: bool, max_value: int, min_value: int
) -> None:
    found = get_layer_norm_grad_max_min_tmp_size(src_shape, type_size, reuse)
    assert found == (max_value, min_value)


@pytest.mark.parametrize(
    ("type_size", "reuse", "size"),
    [(4, False, 128), (4, True, 0), (2, False, 128), (2, True, 128)],
)
def test_layer_norm_grad_on_ascend_950(type_size: int, reuse: bool, size: int) -> None:
    found = get_layer_norm_grad_max_min_tmp_size((2, 32, 16, 16), type_size, reuse, soc=A5)
    assert found == (size, size)


@pytest.mark.parametrize(
    ("src_shape", "type_size", "max_value", "min_value"),
    [
        ((2, 32, 16, 16), 4, 8192, 128),
        ((2, 32, 16, 16), 2, 16384, 256),
        ((1, 1, 8, 8), 4, 64, 64),
    ],
)
@pytest.mark.parametrize("soc", [A2, A5])
@pytest.mark.parametrize("reuse", [False, True])
def test_layer_norm_grad_beta(
    src_shape: tuple[int, ...], type_size: int, max_value: int, min_value: int,
    soc: str, reuse: bool,
) -> None:  # fmt: skip
    found = get_layer_norm_grad_beta_max_min_tmp_size(src_shape, type_size, reuse, soc=soc)
    assert found == (max_value, min_value)


@settings(deadline=None, max_examples=200)
@given(request_=requests(socs=(A2, A5)))
def test_the_minimum_is_no_more_than_the_maximum(request_: TilingRequest) -> None:
    size = request_.tmp_size()
    assert 0 <= size.min_value <= size.max_value


@settings(deadline=None, max_examples=200)
@given(request_=requests(socs=(A2, A5)))
def test_more_rows_never_take_less(request_: TilingRequest) -> None:
    size = request_.tmp_size()
    more = (request_.src_shape[0] + 1, *request_.src_shape[1:])
    larger = request_._replace(src_shape=more).tmp_size()
    assert larger.max_value >= size.max_value
    assert larger.min_value >= size.min_value
