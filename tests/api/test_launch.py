# SPDX-License-Identifier: Apache-2.0
"""Errors of CANN carry code, name, text and the descriptor of every argument."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.base.errors import AclError, CleanupWarning, InvalidArgumentError, MissingSymbolError
from pyaclnn.calling.launch import launch
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, cleanup, create, fetch
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.handle import live_handles

if TYPE_CHECKING:
    from pyaclnn.runtime.array import DeviceArray
    from pyaclnn.runtime.stream import Stream


def ones(*shape: int, dtype: Any = np.float32) -> DeviceArray:
    return to_device(np.ones(shape, dtype))


def test_a_refusal_in_phase_1_describes_every_argument(stream: Stream) -> None:
    x, gamma, y, rstd = ones(2, 8)[:, ::2], ones(5), ones(2, 4), ones(2, 1)
    with pytest.raises(InvalidArgumentError) as caught:
        launch("aclnnRmsNorm", x, gamma, 1e-6, y, rstd, stream=stream)
    error = caught.value
    assert (error.code, error.name) == (561002, "ACLNN_ERR_INNER_TILING_ERROR")
    assert error.routine == "aclnnRmsNormGetWorkspaceSize"
    assert error.detail
    assert error.arguments == {
        "x": "float32 tensor, shape (2, 4), strides (8, 2), offset 0, format ND, storage (15,), "
        f"at 0x{x.buffer.address:x} on device 0",
        "gamma": "float32 tensor, shape (5,), strides (1,), offset 0, format ND, storage (5,), "
        f"at 0x{gamma.buffer.address:x} on device 0",
        "epsilon": "1e-06",
        "yOut": "float32 tensor, shape (2, 4), strides (4, 1), offset 0, format ND, storage (8,), "
        f"at 0x{y.buffer.address:x} on device 0",
        "rstdOut": "float32 tensor, shape (2, 1), strides (1, 1), offset 0, format ND, "
        f"storage (2,), at 0x{rstd.buffer.address:x} on device 0",
    }
    lines = str(error).splitlines()
    assert lines[0] == (
        "aclnnRmsNormGetWorkspaceSize failed with 561002 (ACLNN_ERR_INNER_TILING_ERROR)."
    )
    assert lines[1].startswith("CANN says: ")
    assert [line for line in lines if line.startswith("  ")] == [
        f"  {name} = {text}" for name, text in error.arguments.items()
    ]
    assert lines[-1].startswith("Hint: the operator refused the shapes")


REFUSED: list[tuple[str, list[Any], int]] = [
    ("null", [None, 1], 161001),
    ("dtype", [np.float64, 1], 161002),
    ("mask", [np.float32, 2], 161002),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("case", "how", "code"), REFUSED, ids=str)
def test_nulls_dtypes_and_masks_are_refused_by_their_codes(
    case: str, how: list[Any], code: int, stream: Stream
) -> None:
    dtype, flags = how
    x = ones(2, 4, dtype=dtype) if dtype is not None else None
    statistics, mask = ones(2), (True,) * (3 if case != "mask" else flags)
    with pytest.raises(InvalidArgumentError) as caught:
        launch(
            "aclnnLayerNormBackward",
            ones(2, 4), x, (4,), statistics, statistics, None, None, mask,
            ones(2, 4), ones(4), ones(4), stream=stream,
        )  # fmt: skip
    assert caught.value.code == code
    assert caught.value.arguments["weightOptional"] == "NULL"
    assert caught.value.arguments["normalizedShape"] == "int array (4,)"
    assert caught.value.arguments["outputMask"] == f"bool array {mask}"


def test_a_failing_launch_leaves_nothing_behind(stream: Stream) -> None:
    before = live_handles()
    with pytest.raises(AclError):
        launch("aclnnRmsNorm", None, None, 1e-6, None, None, stream=stream)
    assert live_handles() == before


def test_a_function_that_returns_null_is_an_error_without_a_code() -> None:
    with pytest.raises(AclError) as caught:
        create("aclCreateScalar", raw.NULL, raw.ACL_FLOAT)
    assert caught.value.code is None
    assert str(caught.value).splitlines()[0] == "aclCreateScalar returned NULL."


def test_a_plain_call_describes_its_arguments_by_their_names() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        fetch("aclrtMalloc", OUT, 0, raw.ACL_MEM_MALLOC_HUGE_FIRST)
    assert caught.value.code == 100000
    assert caught.value.arguments["size"] == "0"
    assert caught.value.arguments["devPtr"].startswith("void * * 0x")
    with pytest.raises(InvalidArgumentError) as caught:
        call("aclrtFree", raw.NULL)
    assert caught.value.arguments == {"devPtr": "void * NULL"}


def test_cleaning_up_never_raises_but_says_what_failed() -> None:
    with pytest.warns(CleanupWarning) as caught:
        cleanup("aclrtFree", raw.NULL)
    assert str(caught[0].message).startswith(
        "aclrtFree of void * NULL failed with 100000 (ACL_ERROR_INVALID_PARAM): "
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CleanupWarning)
        cleanup("aclrtNoSuchFunction", raw.NULL)


def test_the_raw_layer_has_every_name_of_the_headers() -> None:
    count = raw.ffi.new("uint32_t *")
    assert raw.aclrtGetDeviceCount(count) == 0
    assert raw.ACL_BF16 == 27
    assert {"aclrtMalloc", "aclnnRmsNormGrad", "ACL_FLOAT", "ffi"} <= set(dir(raw))
    with pytest.raises(AttributeError, match=r"no header .* declares .* 'aclnnNothing'"):
        _ = raw.aclnnNothing
    assert issubclass(MissingSymbolError, AttributeError)
