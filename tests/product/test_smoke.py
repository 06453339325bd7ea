# SPDX-License-Identifier: Apache-2.0
"""The smoke test's engine: it must notice wrong numbers, untouched outputs and failing calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import ops, smoke

if TYPE_CHECKING:
    from collections.abc import Iterator

CASE = smoke.Case("rms_norm", (4, 64), np.dtype(np.float32))


@pytest.fixture(scope="module")
def device() -> Iterator[pyaclnn.Device]:
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0) as opened:
        yield opened


def replace_call(monkeypatch: pytest.MonkeyPatch, call: Any) -> None:
    checks: dict[str, Any] = {**smoke._CHECKS}
    checks["rms_norm"] = smoke._Check(call, checks["rms_norm"].golden)
    monkeypatch.setattr(smoke, "_CHECKS", checks)


def test_right_numbers_pass(device: pyaclnn.Device) -> None:
    outcomes = list(smoke.run(CASE, device))
    assert [outcome.output for outcome in outcomes] == ["y", "rstd"]
    assert all(outcome.passed for outcome in outcomes)


def test_wrong_numbers_fail(device: pyaclnn.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: Any, gamma: Any, **how: Any) -> None:
        ops.rms_norm(x, gamma, 0.5, **how)

    replace_call(monkeypatch, wrong)
    assert not any(outcome.passed for outcome in smoke.run(CASE, device))


def test_an_output_that_nobody_wrote_fails(
    device: pyaclnn.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def writes_only_y(x: Any, gamma: Any, *, out: Any, stream: Any) -> None:
        ops.rms_norm(x, gamma, out=(out[0], None), stream=stream)

    replace_call(monkeypatch, writes_only_y)
    assert [outcome.passed for outcome in smoke.run(CASE, device)] == [True, False]


def test_a_call_that_fails_is_one_failed_outcome_with_the_error(
    device: pyaclnn.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(x: Any, gamma: Any, **how: Any) -> None:
        ops.rms_norm(x, gamma, -1.0, **how)

    replace_call(monkeypatch, refused)
    (outcome,) = smoke.run(CASE, device)
    assert not outcome.passed
    assert "'epsilon' is -1.0" in outcome.verdict


def test_every_operator_dtype_and_shape_is_covered(device: pyaclnn.Device) -> None:
    cases = smoke.cases(device)
    assert len(cases) == len(set(cases)) == 4 * 3 * 3
