# SPDX-License-Identifier: Apache-2.0
"""Durations of operators: a call that waited once for something else is no slow operator."""

from __future__ import annotations

import pytest

from pyaclnn.health.checks.context import Options
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import Status


@pytest.mark.exhaustive
def test_an_operator_that_was_slow_once_is_not_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_DEVICES", "1")
    monkeypatch.setenv("PYACLNN_MOCK_FAULTS", "aclnnRmsNorm:5=slow:1500000")
    report = run(Options(backend="mock", only=("NUM-rms_norm",)))
    (result,) = (result for result in report.results if result.id == "NUM-rms_norm@0")
    assert result.status is Status.PASS, result.summary
    assert max(number.seconds or 0.0 for number in result.numbers) < 1
