# SPDX-License-Identifier: Apache-2.0
"""Machines that are unusual and healthy stay healthy, whatever the level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.checks.context import Options
from pyaclnn.health.command.run import run
from pyaclnn.health.report.verdict import problems
from tests.doctor.case import QUICK
from tests.doctor.installations import healthy
from tests.doctor.unusual import UNUSUAL, Unusual

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doctor.parts import Parts

STEPS = Options(only=("CANN", "HW", "DRV", "ENV", "LIB", "PKG", "SYS", "DEV", "NUM-rms_norm"))


@pytest.mark.parametrize(
    ("unusual", "options"),
    [
        *(pytest.param(each, QUICK, id=f"{each.name}-quick") for each in UNUSUAL),
        *(
            pytest.param(each, STEPS, id=f"{each.name}-devices", marks=pytest.mark.exhaustive)
            for each in UNUSUAL
            if each.runs
        ),
    ],
)
def test_an_unusual_machine_is_healthy(
    parts: Parts, tmp_path: Path, unusual: Unusual, options: Options
) -> None:
    made = healthy(tmp_path / "machine", unusual.layout, parts, devices=unusual.devices)
    unusual.made(made)
    report = run(options, machine=made.machine())
    assert [(result.id, result.summary) for result in problems(report.results)] == []
    assert (report.exit_status, report.backend) == (0, "cann")
    assert options is QUICK or report.soc_name == unusual.chip
