# SPDX-License-Identifier: Apache-2.0
"""Arguments as C takes them: the limits of its integers, and their description in messages."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pyaclnn
from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.arguments import describe
from pyaclnn.calling.message import check
from pyaclnn.cann.signatures import signature
from pyaclnn.runtime.creation import to_device

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device

LIMITS = [
    ("c", -128, 127, "int8_t"),
    ("i", -2147483648, 2147483647, "int32_t"),
    ("q", -9223372036854775808, 9223372036854775807, "int64_t"),
    ("Q", 0, 18446744073709551615, "uint64_t"),
]


@pytest.mark.parametrize(("kind", "least", "most", "ctype"), LIMITS)
def test_an_integer_is_taken_up_to_the_limits_of_its_c_type(
    kind: str, least: int, most: int, ctype: str
) -> None:
    for accepted in (least, 0, most):
        check(kind, accepted, "aclnnCat", "dim")
    for refused in (least - 1, most + 1):
        with pytest.raises(InvalidArgumentError, match=rf"'dim' is {refused}.*{ctype}"):
            check(kind, refused, "aclnnCat", "dim")


def test_a_list_is_described_by_its_tensors(device: Device) -> None:
    array = to_device(np.ones((2, 3), np.float16), device)
    described = describe(("tensors", "others"), ("T", "T"), ((array, None), ()))
    assert described["tensors"].startswith("list of 2 tensors: ")
    assert described["tensors"].endswith(", NULL")
    assert described["others"] == "list of 0 tensors: none"


@pytest.mark.usefixtures("device")
def test_annotations_allow_none_where_c_takes_null() -> None:
    parameters = inspect.signature(pyaclnn.op("aclnnCumsum")).parameters
    annotations = {name: str(p.annotation) for name, p in parameters.items()}
    assert annotations["self"].endswith(" | None")
    assert "None" not in annotations["dim"]


@pytest.mark.usefixtures("device")
def test_results_over_nothing_are_zeros_on_the_host() -> None:
    gradients = pyaclnn.layer_norm_backward(
        np.ones((0, 4), np.float32),
        np.ones((0, 4), np.float32),
        (4,),
        np.ones((0, 1), np.float32),
        np.ones((0, 1), np.float32),
        np.ones(4, np.float32),
        np.ones(4, np.float32),
    )
    assert gradients[0].shape == (0, 4)
    np.testing.assert_array_equal(gradients[1], np.zeros(4))
    np.testing.assert_array_equal(gradients[2], np.zeros(4))


@pytest.mark.parametrize("name", ["rms_norm", "deep_norm"])
def test_an_empty_normalized_axis_is_refused_at_the_array_that_has_it(name: str) -> None:
    x, gamma = np.ones((2, 0), np.float32), np.ones(0, np.float32)
    arguments = (x, gamma) if name == "rms_norm" else (x, x, gamma, gamma)
    with pytest.raises(InvalidArgumentError, match=r"'(x|gamma)' is of shape \((2, )?0,?\)"):
        getattr(pyaclnn, name)(*arguments)


def test_limits_of_options_are_in_the_docstring() -> None:
    assert "finite, 0 or more" in str(pyaclnn.rms_norm.__doc__)


def test_a_storage_may_fill_the_memory_and_no_more(device: Device) -> None:
    array = to_device(np.ones((2, 3), np.float32), device)
    room = array.buffer.nbytes // 4
    assert array.with_format("NCHW", (1, 1, 1, room)).shape == (2, 3)
    with pytest.raises(InvalidArgumentError, match=r"'storage' is \(1, 1, 1, \d+\)"):
        array.with_format("NCHW", (1, 1, 1, room + 1))


def test_an_operator_of_all_releases_has_no_last_one() -> None:
    declared = signature("aclnnRmsNorm")
    assert declared is not None
    assert (declared.since, declared.until) == ("8.1", None)
