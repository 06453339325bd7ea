# SPDX-License-Identifier: Apache-2.0
"""Records of a child about its steps, besides their findings."""

from __future__ import annotations

import pytest

from pyaclnn.cann.status import code_named
from pyaclnn.health.checks.finding import Finding, ok
from pyaclnn.health.child.failures import advice_for
from pyaclnn.health.child.probe import remark
from pyaclnn.health.report.record import Status


def test_what_passed_after_twenty_seconds_is_remarked() -> None:
    found = remark(ok("all is well"), "DEV-106", 20.0)
    assert found.status is Status.WARN
    assert "all is well; but that took 20 s" in found.summary
    assert found.causes
    assert found.next_step


@pytest.mark.parametrize(
    ("finding", "check", "seconds"),
    [
        (ok("all is well"), "DEV-106", 2.0),
        (ok("kernels were compiled"), "NUM-101", 60.0),
        (Finding(Status.FAIL, "broken"), "DEV-106", 60.0),
    ],
)
def test_everything_else_stays_as_it_was(finding: Finding, check: str, seconds: float) -> None:
    assert remark(finding, check, seconds) == finding


@pytest.mark.parametrize("name", ["AICORE_EXCEPTION", "VECTOR_CORE_TIMEOUT", "AICORE_TIMEOUT"])
def test_a_kernel_that_fails_in_the_doctor_is_not_the_user_s_shapes(name: str) -> None:
    causes, step = advice_for(code_named(f"ACL_ERROR_RT_{name}")) or ((), "")
    assert causes
    assert "shape" not in " ".join([*causes, step])
