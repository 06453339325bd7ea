# SPDX-License-Identifier: Apache-2.0
"""Refused arguments, and the remedy in the message."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

from pyaclnn.ascendc import tiling
from pyaclnn.ascendc.tiling import (
    TilingError,
    get_layer_norm_grad_beta_nd_tiling_info,
    get_layer_norm_grad_nd_tiling_info,
    get_layer_norm_max_min_tmp_size,
    get_layer_norm_nd_tiling_info,
    get_layer_norm_rstd_max_min_tmp_size,
    get_layer_norm_rstd_nd_tiling_info,
)
from pyaclnn.ascendc.tiling.chips import family_of, has_vector_registers
from pyaclnn.facts.chips import all_chips

SHAPE = (2, 32, 16, 16)


@pytest.mark.parametrize(
    ("function", "arguments", "needed", "message"),
    [
        (
            get_layer_norm_nd_tiling_info,
            (SHAPE, 191, 4),
            192,
            (
                "stack_buffer_size is 191 bytes, which has no room for one row of 16 elements; "
                "it must be at least 192"
            ),
        ),
        (get_layer_norm_nd_tiling_info, (SHAPE, 127, 4, True), 128, "it must be at least 128"),
        # less than the statistics alone, where unsigned arithmetic would wrap around
        (get_layer_norm_nd_tiling_info, (SHAPE, 0, 2), 704, "it must be at least 704"),
        (
            get_layer_norm_rstd_nd_tiling_info,
            ((4, 10), 159, 4),
            160,
            (
                "stack_buffer_size is 159 bytes, which has no room for one row of 16 elements; "
                "it must be at least 160"
            ),
        ),
        (
            get_layer_norm_grad_nd_tiling_info,
            ((1, 1, 8, 8), 191, 4),
            1536,
            (
                "stack_buffer_size is 191 bytes, which has no room for one row of 8 elements in "
                "each of 6 buffers; it must be at least 1536, which holds the 8 rows that the "
                "layout rounds up to (CANN's function would accept 192 and lay out more than that)"
            ),
        ),
        (get_layer_norm_grad_nd_tiling_info, (SHAPE, 0, 4, True), 2048, "it must be at least 2048"),
        (get_layer_norm_grad_nd_tiling_info, (SHAPE, 0, 2), 9216, "it must be at least 9216"),
        (
            get_layer_norm_grad_beta_nd_tiling_info,
            (SHAPE, 127, 4),
            128,
            (
                "stack_buffer_size is 127 bytes, which is too small for rows of 16 elements; "
                "it must be at least 128"
            ),
        ),
        (get_layer_norm_grad_beta_nd_tiling_info, (SHAPE, 255, 2), 256, "must be at least 256"),
        (get_layer_norm_grad_beta_nd_tiling_info, (SHAPE, 0, 2), 256, "must be at least 256"),
    ],
)
def test_a_buffer_without_room(
    function: Any, arguments: tuple[Any, ...], needed: int, message: str
) -> None:
    with pytest.raises(TilingError, match=re.escape(message)) as caught:
        function(*arguments)
    assert caught.value.needed == needed


@pytest.mark.parametrize(
    ("src_shape", "type_size", "message"),
    [
        ((2, 32, 16), 4, "src_shape is [2, 32, 16]; it must be [B, S, storageH, originH]"),
        ((0, 32, 16, 16), 4, "src_shape has B 0; it must be at least 1"),
        ((2, 32, 16, 0), 4, "src_shape has originH 0; it must be at least 1"),
        ((2, -1, 16, 16), 4, "S of src_shape is -1; it must fit into 32 bits"),
        ((2, 32, 16, 17), 4, "src_shape has originH 17; it must be at most storageH, 16"),
        (
            (2, 32, 10, 10),
            4,
            (
                "src_shape has storageH 10, 40 bytes; kernels take rows of whole blocks of 32 "
                "bytes: pad them with zeros to 16 elements and say storageH 16, originH 10"
            ),
        ),
        ((2, 32, 8, 8), 2, "pad them with zeros to 16 elements"),
        ((2, 32, 16, 16), 1, "type_size is 1; it must be 2 (half) or 4 (float)"),
        ((65536, 65536, 8, 8), 4, "B * S * storageH is 34359738368; it must fit into 32 bits"),
        ((65536, 4096, 8, 8), 4, "the maximum temporary size in bytes is 27917287424; it must fit"),
    ],
)
def test_a_shape_that_no_kernel_takes(
    src_shape: tuple[int, ...], type_size: int, message: str
) -> None:
    with pytest.raises(TilingError, match=re.escape(message)):
        get_layer_norm_max_min_tmp_size(src_shape, type_size)


@pytest.mark.parametrize("part", ["max_min_tmp_size", "nd_tiling_info"])
@pytest.mark.parametrize("interface", ["grad", "grad_beta"])
@pytest.mark.parametrize(("type_size", "multiple"), [(4, "8 (float)"), (2, "16 (half)")])
def test_gradients_of_rows_of_half_blocks_get_no_advice_to_pad(
    interface: str, part: str, type_size: int, multiple: str
) -> None:
    function = getattr(tiling, f"get_layer_norm_{interface}_{part}")
    sizes = (type_size,) if part == "max_min_tmp_size" else (65536, type_size)
    message = f"without padding: H must be a multiple of {multiple}"
    with pytest.raises(TilingError, match=re.escape(message)) as caught:
        function((2, 32, 17, 17), *sizes)
    assert "pad them" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((4, 10, 10), 4), "src_shape is [4, 10, 10]; it must be [A, R]"),
        (((4, 0), 4), "src_shape has R 0; it must be at least 1"),
        (((4, 10), 8), "type_size is 8; it must be 2 (half) or 4 (float)"),
        (((2**16, 2**16), 4), "A * R with padding is 4294967296; it must fit into 32 bits"),
        (((4, 10), 4, False, True, True), "is_only_output is True; CANN supports False only"),
    ],
)
def test_a_call_of_the_other_form_that_no_kernel_takes(
    arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(TilingError, match=re.escape(message)):
        get_layer_norm_rstd_max_min_tmp_size(*arguments)


@pytest.mark.parametrize("stack", [-1, 2**32])
@pytest.mark.parametrize("name", [name for name in tiling.__all__ if name.endswith("tiling_info")])
def test_a_buffer_size_that_is_none(name: str, stack: int) -> None:
    shape = (4, 10) if "rstd" in name else SHAPE
    message = f"stack_buffer_size is {stack}; it must fit into 32 bits"
    with pytest.raises(TilingError, match=re.escape(message)):
        getattr(tiling, name)(shape, stack, 4)


@pytest.mark.parametrize("name", [name for name in tiling.__all__ if name.startswith("get_")])
@pytest.mark.parametrize(
    ("soc", "message"),
    [
        ("Ascend310B1", "soc is 'Ascend310B1', whose cores have none of the Ascend C"),
        ("Ascend910A", "it must be a chip of Atlas A2, Atlas A3, Ascend 310P or Ascend 950"),
        ("Ascend910B", "whose cores have none"),  # the first generation, for want of a digit
        ("ascend910b3", "soc is 'ascend910b3', which names no chip known here"),
    ],
)
def test_a_chip_without_the_interfaces(name: str, soc: str, message: str) -> None:
    shape = (4, 10) if "rstd" in name else SHAPE
    sizes = (4,) if name.endswith("tmp_size") else (8192, 4)
    with pytest.raises(TilingError, match=re.escape(message)):
        getattr(tiling, name)(shape, *sizes, soc=soc)


@pytest.mark.parametrize("chip", all_chips(), ids=lambda chip: chip.soc_name)
def test_families_are_those_of_the_simulated_npu(chip: Any) -> None:
    assert family_of(chip.soc_name) == chip.family
    if chip.family not in {"910", "310b"}:
        assert has_vector_registers(chip.soc_name) is (chip.family == "950")


def test_the_error_is_a_value_error_and_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(TilingError("too small", 192)))  # noqa: S301  # our own
    assert issubclass(TilingError, ValueError)
    assert (str(error), error.needed) == ("too small", 192)
