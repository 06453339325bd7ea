# SPDX-License-Identifier: Apache-2.0
"""Values that npu-smi reports are read; missing values are reported as not read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.health.child.probe import step_of
from pyaclnn.health.child.steps.sensors import SensorWatch, read_sensors
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyaclnn.health.checks.finding import Finding

CHIPS = """\
\tNPU ID                         Chip ID                        Chip Logic ID      Chip Name
\t2                              0                              0                  Ascend 910B3
\t2                              1                              -                  Mcu
\t5                              0                              1                  Ascend 910B3
"""
COMMON = """\
\tNPU ID                         : 5
\tAicore Freq(MHZ)               : 1800
\tAicore curFreq(MHZ)            : 1650
\tTemperature(C)                 : 47
\tNPU Real-time Power(W)         : 90.1
"""
ECC = """\
\tDDR Single Bit Error Count     : 1
\tHBM Single Bit Error Count     : 3
\tHBM Double Bit Error Count     : 0
\tHBM Single Bit Aggregate Total Err Cnt : 99
"""
READ = {
    "temperature": 47.0,
    "core_frequency": 1650.0,
    "ecc_single_bit_errors": 4.0,
    "ecc_double_bit_errors": 0.0,
}


def npu_smi(
    folder: Path, common: str = COMMON, ecc: str = ECC, chips: str = CHIPS
) -> dict[str, str]:
    """Put an npu-smi into a folder, which knows the second chip only; return the environment."""
    tool = folder / "npu-smi"
    pages = {"-m": chips, "-t common -i 5 -c 0": common, "-t ecc -i 5 -c 0": ecc}
    cases = "\n".join(f"'info {asked}') printf '%s' '{page}' ;;" for asked, page in pages.items())
    otherwise = "*) echo no such card >&2; exit 1 ;;"
    tool.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}\n{otherwise}\nesac\n', encoding="utf-8")
    tool.chmod(0o755)
    return {"PATH": str(folder)}


def test_what_it_tells_is_read(tmp_path: Path) -> None:
    reading = read_sensors(1, npu_smi(tmp_path))
    assert {figure.name: figure.value for figure in reading.figures} == READ
    assert reading.missing == ()


def test_a_device_goes_by_the_number_that_the_process_gives_it(tmp_path: Path) -> None:
    environment = {**npu_smi(tmp_path), "ASCEND_RT_VISIBLE_DEVICES": "1"}
    assert len(read_sensors(0, environment).figures) == 4
    [first, *_] = read_sensors(1, environment).missing
    assert first == "temperature: npu-smi info -m does not list device 1"


def test_without_the_tool_nothing_is_made_up(tmp_path: Path) -> None:
    reading = read_sensors(0, {"PATH": str(tmp_path)})
    assert reading.figures == ()
    assert reading.missing == tuple(f"{name}: npu-smi is not on PATH" for name in READ)


@pytest.mark.parametrize(
    ("but", "missing"),
    [
        ({"common": ""}, ["temperature: npu-smi info -t common does not report it",
                          "core_frequency: npu-smi info -t common does not report it"]),
        ({"common": COMMON.replace("47", "NA")},
         ["temperature: npu-smi info -t common does not report it"]),
        ({"chips": ""}, [f"{name}: npu-smi info -m lists no chip" for name in READ]),
        ({"chips": CHIPS.replace("5  ", "6  ")},
         [f"{name}: npu-smi ended with status 1: no such card" for name in READ]),
    ],
)  # fmt: skip
def test_what_it_does_not_tell_is_named(
    tmp_path: Path, but: dict[str, str], missing: list[str]
) -> None:
    reading = read_sensors(1, npu_smi(tmp_path, **but))
    assert list(reading.missing) == missing
    assert len(reading.figures) + len(missing) == len(READ)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (lambda tool: tool.write_text("#!/no/such\n"),
         "the interpreter or loader that {} asks for does not exist"),
        (lambda tool: tool.chmod(0o644), "{}: Permission denied"),
        (lambda tool: (tool.unlink(), tool.mkdir()), "{} is a folder"),
        (lambda tool: (tool.unlink(), tool.symlink_to("/gone")),
         "{} is a link to /gone, which does not exist"),
        (lambda tool: (tool.unlink(), tool.symlink_to(tool)),
         "{} is a link that leads to itself"),
    ],
)  # fmt: skip
def test_a_tool_that_cannot_run_is_said(
    tmp_path: Path, broken: Callable[[Path], object], reason: str
) -> None:
    environment = npu_smi(tmp_path) | {"PATH": f"/no/folder:{tmp_path}"}
    tool = tmp_path / "npu-smi"
    broken(tool)
    [first, *_] = read_sensors(1, environment).missing
    assert first == f"temperature: npu-smi cannot be run: {reason.format(tool)}"


def found(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], **but: Any) -> Finding:
    monkeypatch.setenv("PATH", environment["PATH"])
    monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)
    task = SimpleNamespace(**{"simulated": False, **but})
    finding = step_of("FIG-106")(SimpleNamespace(task=task, device_id=1))  # type: ignore[arg-type]  # all it needs
    assert finding is not None
    return finding


@pytest.mark.parametrize(
    ("but", "status", "words"),
    [
        ({"ecc": "HBM Single Bit Error Count : 0"}, Status.PASS, "temperature 47 °C"),
        ({}, Status.WARN, "4 errors, all corrected"),
        ({"ecc": "HBM Double Bit Error Count : 2"}, Status.FAIL, "2 errors that could not be"),
        ({"common": "NPU Temperature (C) : 99", "ecc": ""}, Status.WARN, "is hot: 99 °C"),
    ],
)  # fmt: skip
def test_errors_of_memory_and_heat_are_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, but: dict[str, str], status: Status, words: str
) -> None:
    finding = found(monkeypatch, npu_smi(tmp_path, **but))
    assert finding.status is status
    assert words in finding.summary


def test_not_read_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = found(monkeypatch, {"PATH": str(tmp_path)})
    assert (nothing.status, nothing.figures) == (Status.SKIP, ())
    assert nothing.summary == "not read: temperature: npu-smi is not on PATH"
    some = found(monkeypatch, npu_smi(tmp_path, ecc=""))
    assert [item.text.partition(":")[0] for item in some.evidence if item.label == "not read"] == [
        "ecc_single_bit_errors",
        "ecc_double_bit_errors",
    ]


def test_over_a_while_the_worst_counts_and_new_errors(tmp_path: Path) -> None:
    environment = npu_smi(tmp_path)
    watch = SensorWatch(1, environment, pause=0.0)
    for degrees, errors in ((50, 3), (61, 5), (40, 7)):
        common = COMMON.replace("47", str(degrees)).replace("1650", str(2000 - degrees))
        npu_smi(tmp_path, common, ECC.replace(": 3", f": {errors}"))
        watch.look()
    assert {figure.name: figure.value for figure in watch.figures("soak")} == {
        "soak_temperature": 61.0,
        "soak_core_frequency": 1939.0,
        "soak_ecc_single_bit_errors": 4.0,
        "soak_ecc_double_bit_errors": 0.0,
    }
