# SPDX-License-Identifier: Apache-2.0
"""Every way in which a machine can be broken is recognised: the check, the cause, the status."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from pyaclnn.facts.operators import all_operators
from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import Status
from pyaclnn.health.report.text import Detail, show
from pyaclnn.health.report.verdict import verdict
from tests.doctor import breakages as b, machine_breakages as m
from tests.doctor.case import OF_THE_TESTS, Case
from tests.doctor.cases import CASES
from tests.doctor.installations import LAYOUTS, Fabricated, healthy
from tests.doctor.machine_cases import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.health.report.record import CheckResult, Report
    from tests.doctor.parts import Parts

PROBLEMS = {Status.WARN, Status.FAIL, Status.CRASH, Status.TIMEOUT, Status.ERROR}
AT_ONCE = 4
BRIEF = Options(
    grace=1.0,
    skip=(
        *OF_THE_TESTS,
        *("NUM-101", "NUM-201", "NUM-202"),
        *(f"NUM-{name}" for name in all_operators() if not all_operators()[name].essential),
    ),
)
"""Everything but what grows with the number of operators."""
BRIEF_AND_FULL = pytest.mark.parametrize(
    "options",
    [
        pytest.param(BRIEF, id="brief"),
        pytest.param(Options(skip=OF_THE_TESTS), id="full", marks=pytest.mark.exhaustive),
    ],
)
LONGEST = 300.0
"""Seconds for a case in which something hangs until the deadline, on a busy machine."""


class Kit:
    """Every case that is asked for, a few at a time, while the tests wait for each in turn."""

    def __init__(self, folder: Path, parts: Parts, pool: ThreadPoolExecutor) -> None:
        self.folder = folder
        self.parts = parts
        self.pool = pool
        self.futures: dict[str, Future[tuple[Fabricated, Report]]] = {}

    def submit(self, case: Case, layout: str) -> Future[tuple[Fabricated, Report]]:
        key = f"{case.name} {layout} {case.check}"
        if key not in self.futures:
            folder = self.folder / f"machine-{len(self.futures)}"
            self.futures[key] = self.pool.submit(self._examine, case, layout, folder)
        return self.futures[key]

    def report(self, case: Case, layout: str = "8.1") -> Report:
        return self.submit(case, layout).result()[1]

    def _examine(self, case: Case, layout: str, folder: Path) -> tuple[Fabricated, Report]:
        made = healthy(folder, layout, self.parts, devices=case.devices)
        case.broken(made)
        start = time.monotonic()
        report = run(case.options, machine=made.machine())
        elapsed = time.monotonic() - start
        assert elapsed < LONGEST, f"{elapsed:.0f} s"
        # The simulated device ends by itself when it notices that its host has.
        patience = time.monotonic() + 300
        while processes_of(made.root) and time.monotonic() < patience:
            time.sleep(0.05)
        assert processes_of(made.root) == [], "a process was left behind"
        return made, report


def processes_of(root: Path) -> list[str]:
    """Processes that were started for the machine in ``root``, by their command lines."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            environment = (process / "environ").read_bytes()
        except OSError:  # it has ended, or is another user's
            continue
        if bytes(root) + b"/" in command + environment:
            found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found


@pytest.fixture(scope="module")
def kit(
    parts: Parts, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Kit]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = Kit(tmp_path_factory.mktemp("machines"), parts, pool)
        for item in request.session.items:
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            if isinstance(parameters.get("case"), Case):
                running.submit(parameters["case"], parameters["layout"])
        yield running
        pool.shutdown(cancel_futures=True)


def vendor_case(fault: str, check: str) -> Case:
    name = f"vendor's fault {fault}"
    return next(case for case in CASES if (case.name, case.check) == (name, check))


def problems(report: Report) -> list[CheckResult]:
    return [result for result in report.results if result.status in PROBLEMS]


def told(result: CheckResult) -> str:
    return " | ".join([result.summary, *result.causes, result.next_step or ""])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("case", "layout"),
    [
        pytest.param(case, layout, id=f"{case.name}-{layout}-{case.check}")
        for case in CASES
        for layout in case.layouts
    ],
)
def test_what_is_broken_is_named(kit: Kit, case: Case, layout: str) -> None:
    made, report = kit.submit(case, layout).result()
    found = problems(report)
    assert found, "nothing was noticed"
    first = found[0]
    assert (first.id, first.status) == (case.check, case.status), told(first)
    assert re.search(case.words, told(first), re.DOTALL), told(first)
    assert first.causes
    assert first.next_step
    assert report.exit_status == case.code
    assert report.from_text(report.to_text()) == report
    assert not list(made.root.glob("pyaclnn-doctor-*")), "a scratch folder was left behind"


def test_a_process_that_is_left_behind_would_be_seen(tmp_path: Path) -> None:
    environment = {"LD_LIBRARY_PATH": str(tmp_path / "lib")}
    sleeping = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
    with subprocess.Popen(sleeping, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert len(processes_of(tmp_path)) == 1
        process.kill()
    assert processes_of(tmp_path) == []


@pytest.mark.long
@pytest.mark.sampled(1)
@BRIEF_AND_FULL
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_healthy_machine_passes_without_a_warning(
    parts: Parts, tmp_path: Path, layout: str, options: Options
) -> None:
    made = healthy(tmp_path / "machine", layout, parts, devices=2 if layout == "9.1" else 1)
    report = run(options, machine=made.machine())
    assert [told(result) for result in problems(report)] == []
    assert not [r for r in report.results if r.status is Status.NOT_RUN]
    assert (report.exit_status, report.backend, report.simulated) == (0, "cann", False)
    assert report.soc_name == "Ascend910B3"
    assert report.cann_version == {"8.1": "8.1.RC1", "8.5": "8.5.0", "9.1": "9.1.0"}[layout]
    devices = {result.id for result in report.results if result.id.startswith("NUM-layer_norm@")}
    assert devices == (
        {"NUM-layer_norm@0", "NUM-layer_norm@1"} if layout == "9.1" else {"NUM-layer_norm@0"}
    )


UNFIT = [
    (m.roots_own, "usermod"),
    (b.operators_gone, "set_env.sh"),
    (b.missing_operator, "or newer"),
    (m.garbled_driver_version, "-v "),
    (b.dangling_root, "no NPU software|not installed or not visible"),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("broken", "words"), UNFIT)
def test_advice_that_would_not_help_is_not_given(
    parts: Parts, tmp_path: Path, broken: b.Break, words: str
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    broken(made)
    report = run(Options(level=Level.QUICK), machine=made.machine())
    first = problems(report)[0]
    assert not re.search(words, f"{first.summary} {first.next_step}")


def test_nobody_warns_about_a_python_that_has_nothing_to_do_with_cann(
    parts: Parts, tmp_path: Path
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    m.plain_python(made)
    report = run(Options(level=Level.QUICK), machine=made.machine())
    assert problems(report) == []


def test_a_folder_of_links_is_one_installation(parts: Parts, tmp_path: Path) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    m.real_folder_of_links(made)
    report = run(Options(level=Level.QUICK), machine=made.machine())
    assert [told(result) for result in problems(report)] == []


@pytest.mark.exhaustive
def test_a_device_that_hangs_is_not_touched_again(kit: Kit) -> None:
    report = kit.report(vendor_case("op-hang", "NUM-rms_norm@0"))
    (after,) = (result for result in report.results if result.id == "NUM-rms_norm_grad@0")
    assert after.status is Status.NOT_RUN
    assert "not touched again" in after.summary


@pytest.mark.exhaustive
def test_one_bad_device_does_not_keep_the_other_from_being_examined(kit: Kit) -> None:
    report = kit.report(vendor_case("open-507033-of-1", "DEV-104@1"))
    states = {result.id: result.status for result in report.results}
    assert states["DEV-107@0"] is Status.PASS
    assert states["DEV-107@1"] is Status.NOT_RUN


@pytest.mark.exhaustive
@BRIEF_AND_FULL
def test_a_wrong_operator_is_told_in_few_words(
    parts: Parts, tmp_path: Path, options: Options
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts, devices=2)
    b.fault("op-zeros")(made)
    report = run(options, machine=made.machine())
    screen, pipe = io.StringIO(), io.StringIO()
    terminal = Console(file=screen, width=110, force_terminal=True, color_system=None)
    show([report], terminal, Detail.BRIEF)
    show([report], Console(file=pipe, width=110), Detail.BRIEF)
    assert screen.getvalue().startswith("rms_norm: ")
    assert len(screen.getvalue().splitlines()) <= 25
    assert "…" in screen.getvalue()
    assert "…" not in pipe.getvalue()  # what is read later is not cut
    assert len(report.to_text()) < 300_000  # a record each for some 900 outputs


@pytest.mark.exhaustive
def test_a_hang_says_where(kit: Kit) -> None:
    report = kit.report(vendor_case("open-hang", "DEV-104@0"))
    (hung,) = problems(report)
    (trace,) = (evidence.text for evidence in hung.evidence if evidence.kind == "traceback")
    assert "device.py" in trace
    said = re.search(r"in aclrtSetDevice of libascendcl\.so, at (\S+\+0x[0-9a-f]+);", hung.summary)
    (place,) = (evidence.text for evidence in hung.evidence if evidence.label == "it was at")
    assert said is not None, hung.summary
    assert said[1] == Path(place).name
    path, _, offset = place.rpartition("+")
    assert 0 < int(offset, 16) < Path(path).stat().st_size


@pytest.mark.exhaustive
def test_a_headline_says_only_once_what_a_check_is_about(kit: Kit) -> None:
    for fault, check in (("open-507033", "DEV-104@0"), ("init-segv", "DEV-102")):
        report = kit.report(vendor_case(fault, check))
        said = verdict(report)
        assert said.result is not None
        assert said.headline.count(said.result.title) == 1, said.headline


@pytest.mark.exhaustive
def test_the_log_of_cann_is_quoted(kit: Kit) -> None:
    report = kit.report(vendor_case("init-500000", "DEV-102"))
    texts = [evidence.text for evidence in problems(report)[0].evidence]
    assert "[ERROR] DRV: drvMngGetChipName failed, 7" in texts


def test_kernels_of_a_listed_package_may_lie_elsewhere_than_cann_8_has_them(kit: Kit) -> None:
    report = kit.report(Case("no kernels in 9.1", m.no_kernels, "", "", options=PACKAGES), "9.1")
    results = {result.id: (result.status, result.summary) for result in report.results}
    assert results["PKG-001"][0] is Status.PASS
    assert results["PKG-003"] == (Status.SKIP, "the kernels are not where CANN 8 has them")


def test_there_are_forty_cases_and_more() -> None:
    assert len(CASES) >= 40
