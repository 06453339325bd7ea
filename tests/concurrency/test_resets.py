# SPDX-License-Identifier: Apache-2.0
"""Threads that close one device at the same moment leave each other's contexts alone."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from pyaclnn import mock
from pyaclnn.base.errors import CleanupWarning
from pyaclnn.cann.gate import let_go
from pyaclnn.runtime.device import Device

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

SPARE = 1
USED = "pyaclnn.runtime.device.let_go"


def failure_in_thread(work: Callable[[], object]) -> BaseException | None:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).exception()


def test_the_last_reset_may_come_from_the_thread_that_was_not_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures: list[BaseException | None] = []

    def close_both() -> None:  # on a thread whose context is that of the device
        first, second = Device(SPARE), Device(SPARE)

        def overtaken(*arguments: Any) -> None:
            monkeypatch.setattr(USED, let_go)
            failures.append(failure_in_thread(second.close))
            let_go(*arguments)

        monkeypatch.setattr(USED, overtaken)
        first.close()
        assert second.closed

    with warnings.catch_warnings():
        warnings.simplefilter("error", CleanupWarning)
        failures.append(failure_in_thread(close_both))
    assert failures == [None, None]
    assert mock.violations() == []
