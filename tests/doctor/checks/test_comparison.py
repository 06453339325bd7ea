# SPDX-License-Identifier: Apache-2.0
"""Comparison of a device's figures with other devices and with expectations."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.comparison import Measured
from pyaclnn.health.checks.driver import is_virtual
from pyaclnn.health.report.figures import Baseline, Expectation
from pyaclnn.health.report.record import Better, Figure, Severity, Status, Unit

if TYPE_CHECKING:
    from pyaclnn.health.checks.finding import Finding

BESIDE_OTHERS, EXPECTED = "FIG-201", "FIG-202"
WANTED = Baseline(
    "Ascend910B3", "8.1.RC1", simulated=False, version="0", expectations=(
        Expectation(Figure("launches", 100.0, "1/s")),
        Expectation(Figure("temperature", 40.0, "°C", "less"), tolerance=0.5),
    ),
)  # fmt: skip


def found(
    check: str, number: int, *rows: dict[str, float], expected: Baseline | None = WANTED
) -> Finding:
    better: dict[str, Better] = {"temperature": "less", "memory_tested": "neither"}
    units: dict[str, Unit] = {"temperature": "°C", "memory_tested": "bytes"}
    of = {
        number: {
            n: Figure(n, v, units.get(n, "1/s"), better.get(n, "more")) for n, v in row.items()
        }
        for number, row in enumerate(rows)
    }
    measured = Measured(of, expected, "Ascend910B3", "8.1.RC1", simulated=False)
    return find(check).function(number, measured)


def test_a_slow_device_is_found_and_the_others_are_not_blamed() -> None:
    rows = [{"launches": 100.0}, {"launches": 50.0}, {"launches": 99.0}, {"launches": 101.0}]
    told = [found(BESIDE_OTHERS, device, *rows) for device in range(4)]
    assert [one.status for one in told] == [Status.PASS, Status.FAIL, Status.PASS, Status.PASS]
    assert told[1].severity is Severity.DRAIN
    assert "1 of 1 figures are worse than those of the other devices: launches 50 1/s" in (
        told[1].summary
    )
    assert told[1].causes
    assert told[1].next_step


def test_a_device_that_is_somewhat_slow_is_to_be_watched() -> None:
    told = found(BESIDE_OTHERS, 2, *[{"launches": 100.0}] * 2, {"launches": 80.0})
    assert (told.status, told.severity) == (Status.WARN, Severity.MONITOR)


@pytest.mark.parametrize(
    "rows", [[{"launches": 1.0}], [{"launches": 1.0}, {}], [{"memory_tested": 1.0}] * 3]
)
def test_without_anything_to_compare_with_nothing_is_said(rows: list[dict[str, float]]) -> None:
    assert found(BESIDE_OTHERS, 0, *rows).status is Status.SKIP


GOOD = {"launches": 100.0, "temperature": 41.0}
EXPECTATIONS = [
    ("as expected", GOOD, Status.PASS, "2 figures are as expected"),
    ("better", {"launches": 300.0, "temperature": 20.0}, Status.PASS, "2 figures"),
    ("within its tolerance", {**GOOD, "temperature": 59.0}, Status.PASS, "2 figures"),
    ("worse by its tolerance", {**GOOD, "temperature": 60.0}, Status.PASS, "2 figures"),
    ("worse by the usual tolerance", {**GOOD, "launches": 85.0}, Status.PASS, "2 figures"),
    ("beyond it", {**GOOD, "temperature": 61.0}, Status.FAIL, "temperature 61 °C, 52 % worse"),
    ("a little slow", {**GOOD, "launches": 80.0}, Status.WARN, "launches 80 1/s, 20 % worse"),
    ("slow", {**GOOD, "launches": 50.0}, Status.FAIL, "1 of 2 figures are worse than expected"),
    ("missing", {"launches": 100.0}, Status.WARN, "1 were not measured: temperature"),
]


@pytest.mark.parametrize(
    ("row", "status", "words"), [e[1:] for e in EXPECTATIONS], ids=[e[0] for e in EXPECTATIONS]
)
def test_what_is_expected(row: dict[str, float], status: Status, words: str) -> None:
    told = found(EXPECTED, 0, row)
    assert told.status is status
    assert words in told.summary


def test_a_figure_in_another_unit_is_not_the_expected_one() -> None:
    inverse = {0: {"launches": Figure("launches", 100.0, "s", "less")}}
    wanted = replace(WANTED, expectations=WANTED.expectations[:1])
    measured = Measured(inverse, wanted, "Ascend910B3", "8.1.RC1", simulated=False)
    told = find(EXPECTED).function(0, measured)
    assert told.status is Status.WARN
    assert told.summary == "0 figures are as expected, but 1 were not measured: launches"


def test_two_devices_are_compared_and_the_figures_counted() -> None:
    rows = [{"launches": 100.0, "temperature": 40.0, "memory_tested": 1.0}] * 2
    told = found(BESIDE_OTHERS, 1, *rows)
    assert (told.status, told.summary) == (
        Status.PASS,
        "2 figures are as those of the other devices",
    )


def test_what_is_worse_says_what_was_tolerated_and_how_to_deal_with_a_busy_machine() -> None:
    told = found(EXPECTED, 0, {"launches": 80.0, "temperature": 61.0})
    assert [item.text for item in told.evidence] == [
        "launches 80 1/s, 20 % worse than 100, of which 15 % would be tolerated",
        "temperature 61 °C, 52 % worse than 40, of which 50 % would be tolerated",
    ]
    assert told.next_step is not None
    assert "run it again when nothing else uses the machine" in told.next_step
    assert 'a larger "tolerance" in the file of --expect' in told.next_step


def test_what_nobody_expects_is_named() -> None:
    told = found(EXPECTED, 0, {**GOOD, "launches_of_a_plan": 5.0})
    assert told.status is Status.PASS
    assert [(item.label, item.text) for item in told.evidence] == [
        ("measured and not expected", "launches_of_a_plan")
    ]


def test_another_cann_is_said_and_another_chip_refused() -> None:
    newer = replace(WANTED, cann_version="9.1.0")
    told = found(EXPECTED, 0, GOOD, expected=newer)
    assert told.status is Status.PASS
    assert ("CANN", "8.1.RC1 here, 9.1.0 in the file") in [(e.label, e.text) for e in told.evidence]
    other = found(EXPECTED, 0, GOOD, expected=replace(WANTED, soc_name="Ascend310P3"))
    assert other.status is Status.ERROR
    assert "it is of Ascend310P3, and this is Ascend910B3" in other.summary


def test_without_a_file_nothing_is_expected() -> None:
    assert found(EXPECTED, 0, GOOD, expected=None).status is Status.SKIP


GIB = float(1 << 30)


@pytest.mark.parametrize(
    ("memory", "changed", "status"),
    [
        (64.0, {}, Status.PASS),
        (60.9, {}, Status.PASS),  # as much as the driver leaves of 64
        (50.0, {}, Status.WARN),
        (32.0, {}, Status.FAIL),
        (32.0, {"soc_name": "Ascend910B4"}, Status.PASS),
        (32.0, {"soc_name": "Ascend999"}, Status.SKIP),
        (32.0, {"whole": False}, Status.SKIP),
        (1.0, {"simulated": True}, Status.SKIP),
    ],
)
def test_a_whole_chip_has_the_memory_of_its_kind(
    memory: float, changed: dict[str, Any], status: Status
) -> None:
    figures = {0: {"device_memory": Figure("device_memory", memory * GIB, "bytes")}}
    usual = Measured(figures, None, "Ascend910B3", "8.1.RC1", simulated=False)
    told = find(EXPECTED).function(0, dataclasses.replace(usual, **changed))
    assert told.status is status
    assert "expected" in told.summary


def test_a_file_of_expectations_replaces_those_of_the_chip() -> None:
    figures = {0: {"device_memory": Figure("device_memory", 32 * GIB, "bytes")}}
    own = Expectation(Figure("device_memory", 32 * GIB, "bytes"))
    wanted = replace(WANTED, expectations=(own,))
    measured = Measured(figures, wanted, "Ascend910B3", "8.1.RC1", simulated=False)
    assert find(EXPECTED).function(0, measured).status is Status.PASS


@pytest.mark.parametrize(
    ("name", "virtual"),
    [("davinci0", False), ("davinci15", False), ("vdavinci100", True), ("davinci100", True)],
)
def test_a_virtual_npu_is_known_by_its_node(name: str, virtual: bool) -> None:
    assert is_virtual(Path("/dev") / name) is virtual
