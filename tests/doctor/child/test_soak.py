# SPDX-License-Identifier: Apache-2.0
"""The soak: what it finds, what it counts, and that it piles nothing up itself."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

import pyaclnn
from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.child.group import combined
from pyaclnn.health.child.steps.soak import (
    Footprint,
    Soak,
    ended_by_signal,
    evaluate_soak,
    growth,
    leaking,
)
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import CheckResult, Figure, Report, Status
from pyaclnn.health.smoke.launching import Case
from pyaclnn.mock import Fault, faults, injected

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = [
    Case(name, (4, 64), np.dtype(np.float32)) for name in ("layer_norm", "rms_norm", "group_norm")
]


def held(launches: int, *, each: float, per_million: float, noise: int = 0) -> Footprint:
    """Footprint of a process that leaks bytes with each launch, and files with each million."""
    private = int(2e8 + each * launches) + noise
    return Footprint(launches, 3 * private, private, int(30 + per_million * launches / 1e6))


@pytest.fixture(scope="module")
def device() -> Iterator[pyaclnn.Device]:
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0) as opened:
        yield opened


def soaked(device: pyaclnn.Device, text: str = "") -> tuple[Soak, list[Fault]]:
    soak = Soak(device, CASES, 3)
    with faults(text):
        soak.run(0.0, least=60)
        return soak, injected()


@pytest.mark.parametrize("each", [0.0, 48.0, -3.0])
@pytest.mark.parametrize("per_million", [0.0, 5.0])
def test_growth_is_told_for_each_million_of_launches(each: float, per_million: float) -> None:
    samples = [held(n * 10_000, each=each, per_million=per_million) for n in range(200)]
    memory, files = growth(samples)
    assert memory == pytest.approx(each * 1e6, abs=1e3)
    assert files == pytest.approx(per_million, abs=0.2)


def test_without_launches_nothing_grows() -> None:
    assert growth([]) == growth([held(7, each=1, per_million=1)] * 3) == (0.0, 0.0)


LEAKS = [
    ("a steady process", {"each": 0.0, "per_million": 0.0}, None),
    ("memory", {"each": 100.0, "per_million": 0.0}, "memory grows by 95 MiB"),
    ("files", {"each": 0.0, "per_million": 40.0}, "40 more files are open"),
]


@pytest.mark.parametrize(
    ("given", "words"), [leak[1:] for leak in LEAKS], ids=[x[0] for x in LEAKS]
)
def test_what_piles_up_is_told(given: dict[str, float], words: str | None) -> None:
    samples = [held(n * 10_000, noise=(n % 3) << 20, **given) for n in range(100)]
    told = leaking(samples)
    assert told == words if words is None else words in str(told)


def test_a_cache_that_fills_at_the_beginning_is_no_leak() -> None:
    fills = [Footprint(n * 10_000, 0, 10**8 + min(n, 20) * 10**7, 9) for n in range(100)]
    assert leaking(fills) is None
    assert leaking([held(n * 10, each=1e4, per_million=0) for n in range(100)]) is None  # too few


def test_a_soak_counts_what_it_does(device: pyaclnn.Device) -> None:
    soak, fired = soaked(device)
    assert evaluate_soak(soak, fired).status is Status.PASS
    assert (soak.tally.wrong, soak.tally.errors) == (0, {})
    assert soak.launches >= 60
    # Each case sends at least x and a poisoned output, and reads this.
    assert soak.tally.moved > soak.launches * 3 * 4 * 64 * 4


def test_what_was_made_to_fail_fails_and_is_counted_exactly(device: pyaclnn.Device) -> None:
    soak, fired = soaked(
        device, "aclrtMemcpy*:*23=507899; aclrtCreateStream*:2=207008; aclnn*:*41=async:507015"
    )
    told = {int(f.text.rpartition("=")[2].removeprefix("async:")): f.effects for f in fired}
    assert soak.tally.errors == {code: count for code, count in told.items() if count}
    assert soak.tally.errors[507899] > 0
    assert evaluate_soak(soak, fired).status is Status.PASS


def test_a_wrong_result_is_found(device: pyaclnn.Device) -> None:
    soak, [fault] = soaked(device, "aclnnRmsNorm:*3=wrong")
    assert soak.tally.wrong == fault.effects > 0
    assert evaluate_soak(soak, [fault]).status is Status.PASS
    found = evaluate_soak(soak, [])
    assert found.status is Status.FAIL
    assert f"{soak.tally.wrong} of {soak.launches} launches gave wrong results" in found.summary


def test_a_failure_that_nobody_asked_for_is_found(device: pyaclnn.Device) -> None:
    soak, _ = soaked(device, "aclnnGroupNorm*:*5=async:507015")
    found = evaluate_soak(soak, [Fault("aclrtFree=507899", 0, 0)])
    assert (found.status, found.code) == (Status.FAIL, 507015)
    assert found.next_step


def test_a_soak_that_is_to_end_tells_what_it_did(device: pyaclnn.Device) -> None:
    soak = Soak(device, CASES, 2)

    def end() -> None:
        if soak.launches > 10:
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    with ended_by_signal(soak):
        soak.run(60.0, watch=end)
    assert signal.getsignal(signal.SIGTERM) == before
    assert soak.launches > 10
    assert soak.seconds < 60
    assert evaluate_soak(soak, []).status is Status.PASS


def soaking(parent: int) -> list[str]:
    """The children that soak by now: these take SIGTERM themselves."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            told = dict(
                line.split(":\t") for line in status.read_text().splitlines() if ":\t" in line
            )
            if told["PPid"] == str(parent) and int(told["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1:
                found.append(status.parent.name)
    return found


@pytest.mark.exhaustive
def test_a_doctor_that_is_ended_leaves_the_figures_of_its_soak(tmp_path: Path) -> None:
    command = "doctor --backend mock --device 0 --only NUM-302 --soak 1h --soak-processes 2 --json"
    path = tmp_path / "report.json"
    with subprocess.Popen(
        [sys.executable, "-m", "pyaclnn", *command.split(), str(path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as doctor:
        while len(soaking(doctor.pid)) < 2:
            assert doctor.poll() is None
            time.sleep(0.1)
        doctor.terminate()
        _, said = doctor.communicate(timeout=900)
    assert doctor.returncode == 143, said
    (found,) = (r for r in Report.from_text(path.read_text()).results if r.id == "NUM-302@0")
    assert " of 3600 s" in found.summary
    assert {"soak_launches", "soak_resident"} < {figure.name for figure in found.figures}


def test_children_are_told_as_one() -> None:
    def result(status: Status, launches: float, growing: float) -> CheckResult:
        figures = (
            Figure("soak_launches", launches, "count", "neither"),
            Figure("soak_private_growth", growing, "bytes/million", "neither"),
        )
        plain = CheckResult("NUM-302@0", "soak", "numbers", Status.PASS, launches, "so it went")
        return replace(plain, status=status, figures=figures)

    told = combined([result(Status.PASS, 3, 5.0), result(Status.FAIL, 4, 2.0)])
    assert (told.status, told.seconds) == (Status.FAIL, 4)
    assert [figure.value for figure in told.figures] == [7, 5.0]
    assert [item.label for item in told.evidence] == ["process 1: it says", "process 2: it says"]


@pytest.mark.exhaustive
def test_threads_and_processes_soak_with_faults_at_random() -> None:
    text = "aclrtMemcpy*:p0.01=507899; aclnn*:p0.01=async:507015; aclnn*:p0.01=wrong"
    options = Options(
        Level.LONG,
        backend="mock",
        devices=(0,),
        only=("NUM-302",),
        soak=3.0,
        soak_threads=4,
        soak_processes=2,
        soak_faults=text,
    )
    told: list[object] = []
    report = run(options, told.append)
    [result] = [result for result in report.results if result.id == "NUM-302@0"]
    assert result.status is Status.PASS, result
    labels = {item.label for item in result.evidence}
    assert {"process 1: errors", "process 2: errors"} <= labels
    figures = {figure.name: figure.value for figure in result.figures}
    assert figures["soak_launches"] > 0
    assert figures["soak_bytes_moved"] > 0
    assert {"soak_resident", "soak_private_growth", "soak_descriptor_growth"} < figures.keys()
    assert report.to_text() == type(report).from_text(report.to_text()).to_text()


@pytest.mark.exhaustive
def test_faults_that_are_none_are_refused() -> None:
    options = Options(
        Level.LONG, backend="mock", devices=(0,), only=("NUM-302",), soak=1.0, soak_faults="x"
    )
    [result] = [r for r in run(options).results if r.id == "NUM-302@0"]
    assert result.status is Status.ERROR
    assert "'x' is no fault" in result.summary
