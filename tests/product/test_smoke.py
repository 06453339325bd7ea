# SPDX-License-Identifier: Apache-2.0
"""The smoke test's engine: it must notice wrong numbers, untouched outputs and failing calls."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import pyaclnn
from pyaclnn import ops
from pyaclnn.facts.chips import DEFAULT_SOC_NAME, find_chip
from pyaclnn.facts.operators import Operator, all_operators
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.releases import simulated
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.health.smoke.launching import Case, launch

from .commands import run as run_command, silent_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.health.report.record import Number

FAMILY = find_chip(DEFAULT_SOC_NAME).family


def is_there(operator: Operator) -> bool:
    """Return whether the default chip has an operator in the simulated release."""
    release = catalogue()[operator.c_name].is_in(simulated().name)
    return release and FAMILY in operator.types.families


CASE = Case("rms_norm", (4, 64), np.dtype(np.float32))


@pytest.fixture(scope="module")
def device() -> Iterator[pyaclnn.Device]:
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0) as opened:
        yield opened


def replace_call(monkeypatch: pytest.MonkeyPatch, call: Any) -> None:
    monkeypatch.setattr(ops, "rms_norm", call)


def test_right_numbers_pass(device: pyaclnn.Device) -> None:
    outcomes = list(smoke.run(CASE, device))
    assert [outcome.output for outcome in outcomes] == ["y", "rstd"]
    assert all(outcome.passed for outcome in outcomes)


def test_wrong_numbers_fail(device: pyaclnn.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    right = ops.rms_norm

    def wrong(x: Any, gamma: Any, epsilon: float, **how: Any) -> None:
        right(x, gamma, epsilon + 0.5, **how)

    replace_call(monkeypatch, wrong)
    assert not any(outcome.passed for outcome in smoke.run(CASE, device))


def test_an_output_that_nobody_wrote_fails(
    device: pyaclnn.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = ops.rms_norm

    def writes_only_y(x: Any, gamma: Any, epsilon: float, *, out: Any, stream: Any) -> None:
        right(x, gamma, epsilon, out=(out[0], None), stream=stream)

    replace_call(monkeypatch, writes_only_y)
    assert [outcome.passed for outcome in smoke.run(CASE, device)] == [True, False]


def test_a_call_that_fails_is_one_failed_outcome_with_the_error(
    device: pyaclnn.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = ops.rms_norm

    def refused(x: Any, gamma: Any, epsilon: float, **how: Any) -> None:
        right(x, gamma, -1.0 - epsilon, **how)

    replace_call(monkeypatch, refused)
    (outcome,) = smoke.run(CASE, device)
    assert not outcome.passed
    assert "'epsilon' is -1.0" in outcome.verdict


def test_every_operator_dtype_and_shape_is_covered(device: pyaclnn.Device) -> None:
    cases = smoke.cases(device)
    there = [o for o in all_operators().values() if is_there(o)]
    assert {case.operator for case in cases} == {operator.name for operator in there}
    leading = [o.types.allowed(o.primary.type, {}, o.types.families[FAMILY]) for o in there]
    assert len(cases) == len(set(cases)) == sum(map(len, leading)) * len(smoke.SHAPES)


# ---- float32 that is only as exact as float16 ---------------------------------------------------

WIDTHS = (7, 129)
MORE_WIDTHS = (1, 2, 16, 63, 2048)


def judged(case: Case, device: pyaclnn.Device, change: Any) -> list[Number]:
    """The outcomes of a case whose outputs are changed before they are judged."""
    with pyaclnn.Stream(device) as stream:
        launched = launch(case, stream)
        stream.synchronize()
        outputs = {name: change(value) for name, value in launched.read().items()}
    return list(smoke.evaluate_outputs(launched, outputs))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "width",
    [*WIDTHS, *(pytest.param(width, marks=pytest.mark.exhaustive) for width in MORE_WIDTHS)],
)
def test_healthy_numbers_pass_at_every_width(device: pyaclnn.Device, width: int) -> None:
    outcomes = [
        outcome
        for case in smoke.cases(device, ((3, width), (64, width)))
        for outcome in smoke.run(case, device, patience=0)
    ]
    assert [outcome.verdict for outcome in outcomes if not outcome.passed] == []


@pytest.mark.sampled(20)
@pytest.mark.parametrize("operator", all_operators())
@pytest.mark.parametrize("shape", [(64, 16), (128, 1024), (3, 5, 192)])
def test_float32_that_went_through_float16_fails(
    device: pyaclnn.Device, operator: str, shape: tuple[int, ...]
) -> None:
    case = Case(operator, shape, np.dtype(np.float32))
    if case not in smoke.cases(device, (shape,)):
        assert "quant" in operator or not is_there(all_operators()[operator])
        return
    sizes = []

    def through_float16(value: Any) -> Any:
        sizes.append(value.size)
        return value.astype(np.float16).astype(np.float32)

    outcomes = judged(case, device, through_float16)
    rounded = [outcome for outcome in outcomes if smoke.IMPRECISE in outcome.verdict]
    assert not any(outcome.passed for outcome in rounded)
    if all_operators()[operator].essential:
        assert outcomes[0] in rounded
    elif max(sizes) >= 64:  # fewer numbers are too few to tell
        assert not all(outcome.passed for outcome in outcomes)


def test_a_few_coarse_numbers_among_exact_ones_are_no_lower_precision(
    device: pyaclnn.Device,
) -> None:
    def first_row_rounded(value: Any) -> Any:
        value[0] = value[0].astype(np.float16)
        return value

    assert all(outcome.passed for outcome in judged(CASE, device, first_row_rounded))


# ---- single wrong elements ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize(("tolerances", "passes"), [(2, True), (31, False)])
def test_one_element_that_rounding_cannot_explain_fails(
    device: pyaclnn.Device, dtype: Any, tolerances: int, passes: bool
) -> None:
    standard = pyaclnn.accuracy.TOLERANCES[np.dtype(dtype)]

    def one_wrong(value: Any) -> Any:
        flat = value.reshape(-1)
        place = int(np.argmin(np.abs(flat.astype(np.float64))))  # where the standard allows most
        error = tolerances * (standard.atol + standard.rtol * abs(float(flat[place])))
        flat[place] = float(flat[place]) + error
        return value

    case = Case("rms_norm", (64, 129), np.dtype(dtype))
    y = judged(case, device, one_wrong)[0]
    assert y.matched_ratio is not None
    assert y.matched_ratio > 0.999  # the standard alone would pass it
    assert y.passed is passes
    assert passes or y.verdict.startswith(smoke.OUTLYING)


def test_error_and_limit_are_those_of_one_element(device: pyaclnn.Device) -> None:
    def wrong_twice(value: Any) -> Any:
        value.reshape(-1)[:2] = [1e4, 0.0]
        return value

    outcomes = judged(CASE, device, wrong_twice)
    assert all((o.error_ratio <= 1) is o.passed for o in outcomes)
    healthy = list(smoke.run(CASE, device, patience=0))
    assert all(o.error_ratio <= 1 and o.passed for o in healthy)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", ["--table", "--json"])
def test_smoke_that_ran_nothing_has_passed_nothing(form: str) -> None:
    done = run_command(
        *(sys.executable, "-m", "pyaclnn", "smoke", "--backend", "mock", form),
        *("--operator", "rms_norm_quant"),
        environment=silent_environment(PYACLNN_MOCK_CANN="8.1"),
    )
    assert done.returncode == 2
    if form == "--json":
        assert json.loads(done.stdout)["passed"] is False
    else:
        assert "Nothing ran on the simulated NPU" in done.stdout
