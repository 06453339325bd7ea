# SPDX-License-Identifier: Apache-2.0
"""A file of expectations: written of a report, edited by hand, read again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.report.figures import Baseline, read_baseline
from pyaclnn.health.report.record import Figure
from tests.doctor import report_samples as samples

if TYPE_CHECKING:
    from pathlib import Path


def measured(*launches: float, **but: object) -> Baseline:
    results = [
        samples.result(
            f"FIG-105@{device}",
            figures=(
                Figure("launches", value, "1/s"),
                Figure("memory_tested", 7.0, "bytes", "neither"),
            ),
        )
        for device, value in enumerate(launches)
    ]
    return Baseline.of(samples.report(*results, **but))


def test_it_has_the_median_of_what_can_be_better_or_worse() -> None:
    assert [e.figure for e in measured(10.0, 30.0, 11.0).expectations] == [
        Figure("launches", 11.0, "1/s")
    ]


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "expected.json"
    file.write_text(measured(10.0).to_text(), encoding="utf-8")
    assert read_baseline(str(file)) == measured(10.0)


def test_of_nothing_there_is_none() -> None:
    with pytest.raises(ValueError, match="nothing was measured: figures are of the level long"):
        Baseline.of(samples.HEALTHY)


@pytest.mark.parametrize(
    ("soc_name", "simulated", "words"),
    [
        ("Ascend910B3", False, None),
        ("Ascend910B1", False, "it is of Ascend910B3, and this is Ascend910B1"),
        ("Ascend910B3", True, "it is of a chip, and this is the simulated NPU"),
    ],
)
def test_it_is_no_measure_for_another_chip(
    soc_name: str, simulated: bool, words: str | None
) -> None:
    assert measured(1.0).is_of_another_kind(soc_name, simulated=simulated) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no file of --save-baseline: Input data was truncated"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "missing required field `soc_name`"),
        (samples.HEALTHY.to_text(), "unknown field `schema`"),
        (json.dumps({"kind": "fleet"}), "kind: Invalid enum value 'fleet'"),
        (" " * (1 << 20) + "{}", "it is too large"),
        ("[" * 100_000, "is no file of --save-baseline"),
    ],
)
def test_what_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "expected.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        read_baseline(str(file))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_baseline(str(tmp_path / "none.json"))
