# SPDX-License-Identifier: Apache-2.0
"""Reports for programs: JSON with its schema, JUnit XML."""

from __future__ import annotations

import copy
import dataclasses
import re
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from msgspec.structs import fields

from pyaclnn.health.report.codec import SCHEMA
from pyaclnn.health.report.fleet import Fleet, merge, schema
from pyaclnn.health.report.pages import as_junit
from pyaclnn.health.report.record import (
    CheckResult,
    Evidence,
    Figure,
    Number,
    Report,
    Severity,
    Status,
)
from tests.doctor import report_samples as samples

VALIDATOR = jsonschema.Draft202012Validator(schema())
PLAIN = {name: given for name, given in samples.ALL.items() if name != "nasty"}


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("given", samples.ALL.values(), ids=samples.ALL)
def test_every_report_fits_the_schema_and_comes_back_unchanged(given: Report) -> None:
    VALIDATOR.validate(given.to_json())
    assert Report.from_text(given.to_text()).to_text() == given.to_text()


def test_a_fleet_fits_the_schema() -> None:
    VALIDATOR.validate(merge(samples.ALL.values()).to_json())


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Report, "Report"),
        (CheckResult, "CheckResult"),
        (Evidence, "Evidence"),
        (Number, "Number"),
        (Figure, "Figure"),
    ],
)
def test_the_schema_names_exactly_the_fields_of_the_record(kind: Any, name: str) -> None:
    known = schema()["$defs"]
    described = known[name]
    assert described["additionalProperties"] is False
    assert set(described["properties"]) == set(kind.__struct_fields__)
    assert set(described["required"]) == {field.name for field in fields(kind) if field.required}


def test_the_schema_names_exactly_the_fields_of_a_fleet() -> None:
    described = schema()["$defs"]["FleetFile"]["properties"]
    assert set(described) == set(merge([samples.BROKEN]).to_json())
    group = schema()["$defs"]["GroupEntry"]["properties"]
    assert set(group) == set(merge([samples.BROKEN]).to_json()["groups"][0])
    assert {field.name for field in dataclasses.fields(Fleet)} < set(described)


def test_the_schema_knows_every_status_and_severity() -> None:
    assert schema()["$defs"]["Status"]["enum"] == sorted(status.value for status in Status)
    assert schema()["$defs"]["Severity"]["enum"] == sorted(one.value for one in Severity)


BREAKAGES = [
    (("schema",), SCHEMA + 1),
    (("results", 2, "severity"), "ISOLATE"),
    (("schema",), 1),
    (("simulated",), "no"),
    (("backend",), "cuda"),
    (("results", 0, "status"), "FINE"),
    (("results", 0, "id"), "no id"),
    (("results", 0, "seconds"), -1),
    (("results", 0, "surplus"), 1),
    (("surplus",), 1),
    (("exit_status",), 77),
]


@pytest.mark.parametrize(("path", "value"), BREAKAGES)
def test_the_schema_refuses_what_is_no_report(path: tuple[Any, ...], value: object) -> None:
    data = copy.deepcopy(samples.BROKEN.to_json())
    place: Any = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not VALIDATOR.is_valid(data)


def test_a_figure_that_does_not_exist_is_null_and_real_ones_are_numbers() -> None:
    data = samples.WRONG_NUMBERS.to_json()
    numbers = data["results"][1]["numbers"]
    assert [number["max_abs_error"] for number in numbers[-2:]] == [0.9, None]
    assert numbers[-2]["error_histogram"][-1][0] is None
    assert isinstance(numbers[0]["error_histogram"][0][0], float)


# ---- JUnit --------------------------------------------------------------------------------------


def suites(*reports: Report) -> ET.Element:
    return ET.fromstring(as_junit(reports))  # noqa: S314  # our own text


KINDS = {
    Status.PASS: "system-out",
    Status.WARN: "system-out",
    Status.FAIL: "failure",
    Status.TIMEOUT: "failure",
    Status.CRASH: "failure",
    Status.ERROR: "error",
    Status.SKIP: "skipped",
    Status.NOT_RUN: "skipped",
}


@pytest.mark.parametrize("status", Status)
def test_each_status_becomes_what_ci_servers_understand(status: Status) -> None:
    root = suites(samples.report(samples.result("A-001", status)))
    case = root.find("testsuite/testcase")
    assert case is not None
    assert [child.tag for child in case] == [KINDS[status]]
    assert (case.get("name"), case.get("classname")) == (
        "A-001 What A-001 is about",
        "pyaclnn.health.doctor.a",
    )


def test_the_suite_counts_its_cases() -> None:
    root = suites(samples.BROKEN, samples.UNCLEAR)
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == [
        "6", "1", "1", "2",
    ]  # fmt: skip
    assert [suite.get("tests") for suite in root] == ["5", "1"]


def test_a_failure_tells_code_evidence_causes_and_the_next_step() -> None:
    failure = suites(samples.BROKEN).find(".//failure")
    assert failure is not None
    assert failure.get("type") == "FAIL"
    for words in (
        "code: 507033 ACL_ERROR_RT_DEV_SETUP_ERROR",
        "log aclGetRecentErrMsg: EE9999: device retain failed",
        "likely cause 2: another container holds the device",
        "next: npu-smi info -t board -i 0",
    ):
        assert words in (failure.text or "")


def test_a_case_tells_its_severity_and_what_was_measured() -> None:
    told = "\n".join(suites(samples.MEASURED).itertext())
    assert "figure temperature 41 °C" in told
    assert "severity: MONITOR" in told


def test_the_simulated_npu_is_named_in_the_suite() -> None:
    suite = suites(samples.SIMULATED)[0]
    assert suite.get("name") == "pyaclnn doctor (SIMULATED NPU)"


def test_texts_that_xml_cannot_hold_are_made_harmless() -> None:
    root = suites(samples.NASTY_REPORT)
    text = "".join(root.itertext())
    assert "<script>alert('x')</script>" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("given", samples.ALL.values(), ids=samples.ALL)
def test_what_was_written_is_read_in_every_value_and_type(given: Report) -> None:
    assert repr(Report.from_json(given.to_json())) == repr(given)


REFUSED = [
    (("seconds",), -1.5, "seconds: Expected `float` >= 0"),
    (("exit_status",), True, "exit_status: Expected `int`, got `bool`"),
    (("host", "a"), None, "host[...]: Expected `bool | int | str`, got `null`"),
    (("started",), "2026-05-21", "started is no moment like 2026-05-21T08:30:00+00:00"),
    (("results", 1, "status"), "GOOD", "results[1].status: Invalid enum value 'GOOD'"),
    (("results", 0), [], "results[0]: Expected `object`, got `array`"),
    (("results", 1, "more"), 1, "results[1]: Object contains unknown field `more`"),
    (("results", 1, "numbers", 3, "limit"), "1",
     "results[1].numbers[3].limit: Expected `float | null`, got `str`"),
    (("results", 1, "numbers", 2, "error_histogram", 0), [0.5],
     "results[1].numbers[2].error_histogram[0]: Expected `array` of length 2, got 1"),
    (("results", 1, "numbers", 2, "error_histogram", 0, 1), -1,
     "results[1].numbers[2].error_histogram[0][1]: Expected `int` >= 0"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "words"), REFUSED)
def test_what_is_refused_is_named_with_its_place(
    path: tuple[Any, ...], value: object, words: str
) -> None:
    data = samples.WRONG_NUMBERS.to_json()
    place: Any = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=re.escape(words)):
        Report.from_json(data)
