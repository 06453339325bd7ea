# SPDX-License-Identifier: Apache-2.0
"""Calls on NumPy arrays: how they travel, and where the results are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import mock
from pyaclnn.base.errors import AclError

if TYPE_CHECKING:
    from pyaclnn.runtime.stream import Stream

REFUSED = 507899


@pytest.mark.parametrize(
    ("rows", "copies"), [(1, 2), (8, 2), (128, 4)], ids=["one row", "small", "large"]
)
def test_small_arrays_travel_together(rows: int, copies: int, stream: Stream) -> None:
    x, gamma = np.ones((rows, 64), np.float32), np.ones(64, np.float32)

    def norm() -> Any:
        return pyaclnn.rms_norm(x, gamma, stream=stream)

    norm()
    with mock.faults(f"aclrtMemcpy:{copies + 1}={REFUSED}"):
        norm()
    for each in range(1, copies + 1):
        with mock.faults(f"aclrtMemcpy:{each}={REFUSED}"), pytest.raises(AclError):
            norm()


@pytest.mark.parametrize("turns", [1, 3])
def test_results_are_arrays_of_their_own(turns: int) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = [pyaclnn.rms_norm(x + turn, np.ones(4, np.float32)) for turn in range(turns)]
    for turn, (y, rstd) in enumerate(found):
        expected = 1 / np.sqrt(np.square(x + turn).mean(1, keepdims=True) + 1e-6)
        assert y.flags.owndata
        assert rstd.flags.owndata
        np.testing.assert_allclose(rstd, expected, 1e-5)
        np.testing.assert_allclose(y, (x + turn) * expected, 1e-5)


@pytest.mark.parametrize("gaps", [1, 2], ids=["dense", "with gaps"])
def test_what_is_read_and_written_is_written_in_place(gaps: int) -> None:
    wide = np.arange(10 * gaps, dtype=np.float32)
    part, other = wide[::gaps], np.full(10, 2, np.float32)
    expected = part + 3 * other
    add: Any = pyaclnn.op("aclnnInplaceAdd")
    add(part, other, 3.0)
    np.testing.assert_array_equal(part, expected)
    if gaps > 1:
        np.testing.assert_array_equal(wide[1::gaps], np.arange(1, 10 * gaps, gaps))


def test_lists_are_results_in_lists() -> None:
    arrays = [np.full((2, size), size, np.float32) for size in (1, 3, 5)]
    norms: Any = pyaclnn.foreach_norm(arrays)
    np.testing.assert_allclose(
        [norm.item() for norm in norms], [np.sqrt(2 * size) * size for size in (1, 3, 5)], 1e-6
    )


def test_an_array_without_elements_takes_no_part() -> None:
    x = np.ones((0, 4), np.float32)
    y, rstd = pyaclnn.rms_norm(x, np.ones(4, np.float32))
    assert (y.shape, rstd.shape) == ((0, 4), (0, 1))


def test_a_refusal_describes_the_arrays() -> None:
    x, gamma = np.ones((2, 4), np.float32), np.ones(4, np.float32)
    with (
        mock.faults("aclnnRmsNormGetWorkspaceSize=561002"),
        pytest.raises(AclError) as caught,
    ):
        pyaclnn.rms_norm(x, gamma)
    assert caught.value.arguments["x"].startswith("float32 tensor, shape (2, 4)")
    assert caught.value.arguments["rstdOut"].startswith("float32 tensor, shape (2, 1)")
