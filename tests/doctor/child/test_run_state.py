# SPDX-License-Identifier: Apache-2.0
"""Settled results decide which checks run."""

from __future__ import annotations

import pytest

from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.context import Options
from pyaclnn.health.child.run_state import Event, Finished, RunState
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import Status
from tests.doctor.report_samples import result


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("status", Status)
def test_once_something_is_broken_nothing_more_is_begun_if_asked(
    status: Status, early: bool
) -> None:
    events: list[Event] = []
    state = RunState(events.append, fail_early=early)
    state.add(result("NUM-rms_norm@0", status))
    check = find("NUM-layer_norm")
    stops = early and status.broken
    assert state.runnable([check], device=1) == ([] if stops else [check])
    _, *refused = [event.result for event in events if isinstance(event, Finished)]
    assert [(one.id, one.status) for one in refused] == (
        [("NUM-layer_norm@1", Status.NOT_RUN)] if stops else []
    )
    assert all("--fail-early" in one.summary for one in refused)


@pytest.mark.exhaustive
@pytest.mark.parametrize("early", [True, False])
def test_a_run_ends_with_the_group_of_what_is_broken(
    monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_FAULTS", "aclnnRmsNorm=wrong")
    only = ("NUM-rms_norm", "NUM-302")
    options = Options(backend="mock", devices=(0,), only=only, soak=0.5, fail_early=early)
    found = {one.id: one.status for one in run(options).results}
    assert found["NUM-rms_norm@0"] is Status.FAIL
    # Injected errors are not findings of the soak.
    assert found["NUM-302@0"] is (Status.NOT_RUN if early else Status.PASS)


@pytest.mark.exhaustive
def test_fewer_devices_than_are_expected_are_told() -> None:
    given = run(Options(backend="mock", only=("DEV-103",), expected_devices=99)).results
    (found,) = (one for one in given if one.id == "DEV-103")
    assert found.status is Status.FAIL
    assert "by --expect-devices, there should be 99" in found.summary
