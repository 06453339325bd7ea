# SPDX-License-Identifier: Apache-2.0
"""Seconds become the milliseconds of CANN, which knows no 0."""

from __future__ import annotations

from typing import Any

import pytest

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.runtime.timeout import milliseconds


@pytest.mark.parametrize(
    ("timeout", "expected"), [(None, -1), (1, 1000), (0.0001, 1), (1.2345, 1235)]
)
def test_a_timeout_is_rounded_up_to_whole_milliseconds(
    timeout: float | None, expected: int
) -> None:
    assert milliseconds(timeout, "f") == expected


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "1", 10**10])
def test_other_timeouts_are_refused(timeout: Any) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        milliseconds(timeout, "Stream.synchronize")
    assert str(caught.value) == (
        f"Stream.synchronize(): 'timeout' is {timeout!r}; it must be a number of seconds above 0 "
        "and at most 2147483, or None to wait without limit.\n"
        "Hint: to ask without waiting, use is_done()."
    )
