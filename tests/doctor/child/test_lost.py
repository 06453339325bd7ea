# SPDX-License-Identifier: Apache-2.0
"""A device that is lost in a call that itself succeeds."""

from __future__ import annotations

import pytest

from pyaclnn.health.checks.context import Options
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import Status


@pytest.mark.exhaustive
@pytest.mark.parametrize("function", ["aclrtDestroyStream", "aclrtFree"])
def test_the_call_before_the_failure_is_named(
    monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_FAULTS", f"{function}=lost")
    results = run(Options(backend="mock", devices=(0,), only=("DEV-106", "DEV-107"))).results
    first = next(one for one in results if one.status is Status.FAIL)
    assert "507010" in first.summary
    assert function in first.causes[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize("function", ["aclCreateTensor", "aclDestroyTensor"])
def test_a_call_within_a_launch_is_named(monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_FAULTS", f"{function}=lost")
    results = run(Options(backend="mock", devices=(0,), only=("NUM-rms_norm",))).results
    first = next(one for one in results if one.status is Status.FAIL)
    assert first.code == 507010
    assert f"the one before it, {function}" in first.causes[0]
