# SPDX-License-Identifier: Apache-2.0
"""Compact reports of a fleet: little memory, and nothing lost."""

from __future__ import annotations

import itertools
import json
import random
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.fleet import gather, merge
from pyaclnn.health.report.record import Number, Report
from pyaclnn.health.report.reports import Reports
from tests.doctor import report_samples as samples

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("layout", [None, 2])
@pytest.mark.parametrize("name", samples.ALL)
def test_a_report_that_is_read_is_kept_like_one_that_is_given(
    name: str, layout: int | None, tmp_path: Path
) -> None:
    (tmp_path / "one.json").write_text(json.dumps(samples.ALL[name].to_json(), indent=layout))
    given, found = Reports([samples.ALL[name]]), gather([str(tmp_path / "one.json")]).reports
    assert list(found) == list(given)
    assert found.whole(0) == given.whole(0) == samples.ALL[name]
    for simulated in (False, True):
        assert found.aggregate[simulated].numbers() == given.aggregate[simulated].numbers()
    assert "\n" not in next(found.texts())


def test_of_comparisons_those_that_failed_are_kept() -> None:
    kept = Reports([samples.WRONG_NUMBERS])[0].results[1].numbers
    whole = samples.WRONG_NUMBERS.results[1].numbers
    assert str(kept) == str(tuple(number for number in whole if not number.passed))
    assert len(kept) == 2


def test_what_all_machines_computed_is_counted_without_being_kept() -> None:
    worst = Reports([samples.WRONG_NUMBERS, samples.HEALTHY, samples.SIMULATED]).aggregate[False]
    both = (*samples.WRONG_NUMBERS.results[1].numbers, *samples.HEALTHY.results[3].numbers)
    assert (worst.passed, worst.total) == (sum(n.passed for n in both), len(both))
    assert str(worst.numbers()) == str(Aggregate(both).numbers())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kinds", [1, 80])
def test_machines_that_differ_are_counted_as_if_all_were_looked_at_together(kinds: int) -> None:
    chance = random.Random(kinds)
    rows = [
        [
            replace(
                number,
                passed=number.passed and machine != 50,
                limit=chance.choice([0.5, 0.5, 0.5, 0.0, None]) if machine > 90 else 0.5,
                max_abs_error=None if machine == 70 else chance.random(),
                seconds=chance.random(),
                error_histogram=((0.5, machine % kinds + 1), (None, 1)),
            )
            for number in samples.WRONG_NUMBERS.results[1].numbers * 2
        ]
        for machine in range(100)
    ]
    worst = Aggregate()
    for one in rows:
        worst.add(one)
    alike: dict[object, list[Number]] = {}
    for number in itertools.chain(*rows):
        about = number.operator, number.output, number.dtype, number.shape
        alike.setdefault(about, []).append(number)
    together = str([Aggregate(same).numbers()[0] for same in alike.values()])
    assert [str(worst.numbers()) for _ in "ab"] == [together] * 2  # nothing is counted again
    every = list(itertools.chain(*rows))
    assert (worst.passed, worst.total) == (sum(n.passed for n in every), len(every))


WRONG: list[tuple[str, Any]] = [
    ("shape", 4), ("shape", [4.0]), ("shape", [-1]), ("passed", 1), ("limit", "1"),
    ("limit", float("nan")), ("limit", float("-inf")), ("operator", None), ("verdict", 0),
    ("error_histogram", [[1.0]]), ("error_histogram", [[1.0, -1]]),
    ("error_histogram", [[None, 1.5]]), ("error_histogram", [{"a": 1}]), ("seconds", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_one_wrong_value_is_refused_with_its_place(name: str, value: Any) -> None:
    data = samples.WRONG_NUMBERS.to_json()
    data["results"][1]["numbers"][91][name] = value
    with pytest.raises(ValueError, match=rf"results\[1\]\.numbers\[91\]\.{name}"):
        Report.from_json(data)


def test_whole_numbers_where_others_stand_are_read_all_the_same(tmp_path: Path) -> None:
    data = samples.HEALTHY.to_json()
    data["results"][3]["numbers"][0]["matched_ratio"] = 1
    (tmp_path / "a.json").write_text(json.dumps(data))
    assert gather([str(tmp_path / "a.json")]).reports.whole(0) == samples.HEALTHY


@pytest.mark.parametrize("backwards", [False, True])
def test_a_fleet_that_was_formatted_by_others_is_read(tmp_path: Path, backwards: bool) -> None:
    told = list(merge([samples.BROKEN, samples.HEALTHY]).to_json().items())
    path = tmp_path / "fleet.json"
    path.write_text(json.dumps(dict(reversed(told) if backwards else told), indent=4))
    reports = gather([str(path)]).reports
    assert [reports.whole(place) for place in (0, 1)] == [samples.BROKEN, samples.HEALTHY]


def test_a_machine_more_takes_less_than_the_text_of_its_report() -> None:
    machines = [replace(samples.HEALTHY, host={"name": f"node-{n}"}) for n in range(20)]
    texts = [machine.to_text() for machine in machines]
    reports = Reports(machines[:1])
    tracemalloc.start()
    for text in texts[1:]:
        reports.add(Report.from_text(text))
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 0 < taken < sum(map(len, texts[1:]))


def test_a_file_that_changed_since_it_was_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(samples.HEALTHY.to_text())
    reports = gather([str(path)]).reports
    assert reports.whole(0) == samples.HEALTHY
    path.write_text(samples.BROKEN.to_text())
    with pytest.raises(ValueError, match=r"a\.json' has changed"):
        reports.whole(0)
