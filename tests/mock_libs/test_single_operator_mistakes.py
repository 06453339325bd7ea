# SPDX-License-Identifier: Apache-2.0
"""Single operators whose outputs, attributes or formats contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyaclnn.mock

from . import npu
from .single_operator_cases import MISTAKES, X, zeros
from .test_single_operator import execute

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize(("name", "inputs", "attributes", "outputs", "told"), MISTAKES)
def test_a_call_that_contradicts_itself_is_refused(
    name: str,
    inputs: list[Any],
    attributes: dict[str, Any],
    outputs: list[Any],
    told: str,
) -> None:
    status, _ = execute(name, inputs, outputs, **attributes)
    text = npu.message()
    assert (status, "no kernel" in text) == (500002, False), text
    assert f"the single operator {name} is called wrongly: " in text
    assert told in text


def test_a_format_of_the_tensors_stands_for_a_missing_attribute() -> None:
    one = np.ones((1, 1, 1, 1), np.float32)
    sizes: Any = {"strides": (1, 1, 1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1, 1, 1)}
    for form, wanted in ((0, 0), (1, 999001)):
        status, _ = execute("Conv2D", [one, one], [one], _format=form, **sizes)
        assert status == wanted
    assert "attribute data_format is NHWC" in npu.message()


def test_an_output_may_be_a_view_of_its_storage() -> None:
    before = pyaclnn.mock.violations()
    status, (found,) = execute("AddV2", [X[0], X[0]], [X], _view=(3,))
    assert status == 0, npu.message()
    assert np.array_equal(found, np.stack([X[0] * 2, X[1]]))
    assert pyaclnn.mock.violations() == before


def test_outputs_that_overlap_are_on_record() -> None:
    before = len(pyaclnn.mock.violations())
    execute("Unpack", [X], [zeros(3), zeros(3)], _together=True)
    assert [each.rule for each in pyaclnn.mock.violations()[before:]] == ["tensors-overlap"]
