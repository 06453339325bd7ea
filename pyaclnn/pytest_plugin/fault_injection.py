# SPDX-License-Identifier: Apache-2.0
"""Fault injection of one test, with the check that each fault occurred."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pyaclnn import mock

if TYPE_CHECKING:
    from pyaclnn.mock import Fault

__all__ = ["FaultInjection"]


class FaultInjection:
    """Injected faults of one test."""

    def __init__(self) -> None:
        self._idle: list[Fault] = []
        self._replaced = False

    def replace(self, text: str) -> None:
        """Replace the current faults.

        Args:
            text: Faults as ``pyaclnn.mock.set_faults`` takes them.

        Raises:
            ValueError: The text is invalid; nothing is changed.
        """
        before = mock.injected()
        mock.set_faults(text)
        if self._replaced:  # not those of PYACLNN_MOCK_FAULTS
            self._idle += filter(_idle, before)
        self._replaced = True

    def end(self) -> None:
        """Restore the faults of PYACLNN_MOCK_FAULTS."""
        self.replace(os.environ.get("PYACLNN_MOCK_FAULTS", ""))

    def require_effects(self) -> None:
        """Fail the test if one of its faults never occurred."""
        if self._idle:
            lines = "\n".join(f"  {fault.text}: {_reason(fault)}" for fault in self._idle)
            pytest.fail(
                f"{len(self._idle)} of the test's faults never occurred:\n{lines}", pytrace=False
            )


def _idle(fault: Fault) -> bool:
    # A random fault may legitimately never occur.
    random = ":p" in fault.text and fault.calls > 0
    return fault.effects == 0 and not random


def _reason(fault: Fault) -> str:
    function = fault.text.partition("=")[0].partition(":")[0]
    if fault.calls:
        return (
            f"{function} was called {fault.calls} times, but the selected call was not among them, "
            "or it queued no work that could fail later"
        )
    return f"{function} was never called"
