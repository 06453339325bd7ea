# SPDX-License-Identifier: Apache-2.0
"""Records of a child about its steps, besides their findings."""

from __future__ import annotations

import re

import pytest

from pyaclnn.cann.status import code_named, explanation, names
from pyaclnn.health.checks.finding import Finding, ok, skip
from pyaclnn.health.child.failures import advice_for, explained
from pyaclnn.health.child.journal import ChildTask
from pyaclnn.health.child.probe import remark, run_step
from pyaclnn.health.child.session import Session
from pyaclnn.health.report.record import Status


def test_what_passed_after_twenty_seconds_is_remarked() -> None:
    found = remark(ok("all is well"), "DEV-106", 20.0, simulated=False)
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
    assert remark(finding, check, seconds, simulated=False) == finding


def test_a_simulated_npu_on_a_slow_machine_is_no_finding() -> None:
    finding = ok("all is well")
    assert remark(finding, "DEV-106", 60.0, simulated=True) == finding


@pytest.mark.parametrize("name", ["AICORE_EXCEPTION", "VECTOR_CORE_TIMEOUT", "AICORE_TIMEOUT"])
def test_a_kernel_that_fails_in_the_doctor_is_not_the_user_s_shapes(name: str) -> None:
    causes, step = advice_for(code_named(f"ACL_ERROR_RT_{name}")) or ((), "")
    assert causes
    assert "shape" not in " ".join([*causes, step])


OF_PROGRAMMERS = re.compile(r"(?i)executor|device arrays|\bclose\b|\bcall acl")


def test_no_advice_to_whoever_runs_the_machine_is_one_to_programmers() -> None:
    codes = [code for code in names() if code]
    advice = {code: " ".join([*advice_for(code)[0], advice_for(code)[1]]) for code in codes}
    assert not {code: text for code, text in advice.items() if OF_PROGRAMMERS.search(text)}
    own = {code: explanation(code).next_step for code in codes}
    assert sum(bool(OF_PROGRAMMERS.search(text)) for text in own.values()) > 10
    assert "ASCEND_RT_VISIBLE_DEVICES" in advice[code_named("ACL_ERROR_RT_INVALID_DEVICEID")]


@pytest.mark.parametrize("check", ["FIG-106", "HW-005", "HW-007", "EXT-004"])
def test_a_simulated_npu_has_no_sensors_tools_or_drivers(check: str) -> None:
    session = Session(ChildTask(backend="mock", device=0, simulated=True))
    finding = run_step(check, session, {})
    assert finding == skip("the simulated NPU has no need of it")


@pytest.mark.parametrize("check", ["NUM-101", "NUM-201", "NUM-202", "NUM-301"])
def test_one_of_several_simulated_devices_computes_in_full_for_all(check: str) -> None:
    session = Session(ChildTask(backend="mock", device=1, simulated=True, peers=(0, 1)))
    finding = run_step(check, session, {})
    assert finding == skip("simulated device 0 does it, with the same kernels")


WORDS = [
    # words of the system; a pattern of the first cause, and of the next step
    ("/lib/libc.so.6: version `GLIBC_2.99' not found (required by /x/libascend_hal.so)",
     "GLIBC_2.99", "system library"),
    ("/usr/lib/libgomp.so.1: cannot allocate memory in static TLS block",
     "libgomp.so.1.*thread-local", "LD_PRELOAD"),
    ("libascendcl.so: failed to map segment from shared object", "may not be run", "noexec"),
    ("libascend_hal.so: wrong ELF class: ELFCLASS32", "another processor", "for this processor"),
    ("[ERROR] DRV: open /dev/davinci_manager: Operation not permitted",
     "davinci_manager", "--device"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "cause", "step"), WORDS)
def test_the_system_s_own_words_come_first(words: str, cause: str, step: str) -> None:
    plain = Finding(Status.FAIL, "failed", (), ("something general",), "a general step")
    finding = explained(plain, words)
    assert re.search(cause, finding.causes[0]), finding.causes
    assert finding.causes[-1] == "something general"
    assert finding.next_step is not None
    assert re.search(step, finding.next_step), finding.next_step


NO_CAUSE = [
    "",
    "nothing known here",
    "[INFO] starting",
    "aclrtSetDevice: device 2 does not exist: 2 are visible",
    "failed to start",
]


@pytest.mark.parametrize("words", NO_CAUSE)
def test_words_without_a_known_cause_change_nothing(words: str) -> None:
    plain = Finding(Status.FAIL, "failed", (), ("something general",), "a general step")
    assert explained(plain, words) == plain
