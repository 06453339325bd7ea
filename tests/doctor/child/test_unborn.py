# SPDX-License-Identifier: Apache-2.0
"""A child that ended before it could try anything is explained by what it wrote."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.context import CheckContext, Options
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.child.failures import cut_short
from pyaclnn.health.child.isolation import ChildOutcome

if TYPE_CHECKING:
    from pathlib import Path

UNBORN = ChildOutcome(
    ended="unborn",
    returncode=1,
    error="Traceback (most recent call last):\nModuleNotFoundError: No module named 'numpy'\n",
)
FAILS_AT_FIRST = """
import pathlib, os
failed = pathlib.Path({path!r})
times = len(failed.read_text()) if failed.exists() else 0
if times < {times}:
    failed.write_text("x" * (times + 1))
    os._exit(3)
"""


def variables(tmp_path: Path, times: int) -> dict[str, str]:
    """Variables with which Python fails to start so many times, by a module that one brings in."""
    text = FAILS_AT_FIRST.format(path=str(tmp_path / "failed"), times=times)
    (tmp_path / "sitecustomize.py").write_text(text, encoding="utf-8")
    paths = [str(tmp_path), *sys.path]
    return {"PYTHONPATH": ":".join(paths), "PYTHONUNBUFFERED": "1", "PATH": "/usr/bin:/bin"}


def test_a_package_that_the_child_lacks_is_the_cause() -> None:
    finding = cut_short(find("DEV-101"), UNBORN, CheckContext(Machine(environment={}), Options()))
    assert finding.causes[0].startswith("numpy ")
    assert "pip install" in str(finding.next_step)
    assert "pyaclnn" not in str(finding.next_step)


@pytest.mark.parametrize(("times", "blamed"), [(1_000, True), (1, False)])
def test_a_variable_is_blamed_only_if_the_program_fails_with_it_again(
    tmp_path: Path, times: int, blamed: bool
) -> None:
    machine = Machine(environment=variables(tmp_path, times))
    finding = cut_short(find("DEV-101"), UNBORN, CheckContext(machine, Options()))
    assert ("PYTHONPATH" in finding.summary) == blamed
