# SPDX-License-Identifier: Apache-2.0
"""Reports that somebody made to do harm: refused in a line, or shown and never obeyed."""

from __future__ import annotations

import copy
import io
import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from rich.console import Console

from pyaclnn.health.report.bundle import as_bundle
from pyaclnn.health.report.fleet import merge, schema
from pyaclnn.health.report.pages import as_html, as_junit
from pyaclnn.health.report.record import Evidence, Report, Status
from pyaclnn.health.report.text import as_text, show
from tests.doctor import report_samples as samples
from tests.doctor.report_samples import report, result

SCRIPT = "<script>alert(1)</script>"
VALIDATOR = jsonschema.Draft202012Validator(schema())
NUMBERS = ("results", 1, "numbers")
NUMBER = (*NUMBERS, 0)
WRONG: list[tuple[tuple[Any, ...], object]] = [
    *[((*place, *field), SCRIPT)
      for place, field in (
          ((), ("exit_status",)),
          ((), ("seconds",)),
          ((), ("simulated",)),
          ((), ("started",)),
          (("results", 1), ("code",)),
          (("results", 1), ("id",)),
          (("results", 1), ("seconds",)),
          (NUMBER, ("shape",)),
          (NUMBER, ("shape", 0)),
          (NUMBER, ("passed",)),
          (NUMBER, ("limit",)),
          (NUMBER, ("error_histogram", 0, 0)),
          (NUMBER, ("error_histogram", 0, 1)),
          (NUMBER, (SCRIPT,)),
          (NUMBERS, ()),
      )],
    (("exit_status",), 256),
    (("exit_status",), -1),
    (("exit_status",), True),
    (("exit_status",), 0.0),
    (("seconds",), 10**400),
    (("seconds",), float("nan")),
    (("seconds",), -1),
    (("started",), "2026-99-99T00:00:00+00:00"),
    (("started",), "2026-01-01"),
    (("host",), []),
    (("host", "name"), None),
    (("host", "name"), {"a": 1}),
    (("environment", "A"), 1),
    (("results",), {}),
    (("results", 0), None),
    (("results", 0, "id"), "A-1\n"),
    (("results", 0, "evidence"), [{}]),
    (("results", 0, "evidence"), "text"),
    (("results", 0, "causes"), "text"),
    (("results", 0, "code"), 2**40),
    ((*NUMBER, "error_histogram", 0), [1.0]),
    ((*NUMBER, "error_histogram", 0, 1), -1),
    ((*NUMBER, "limit"), float("inf")),
    ((*NUMBER, "shape"), [-1]),
    (NUMBER, {}),
    (("\x1b[2J",), 1),
]  # fmt: skip


def changed(path: tuple[Any, ...], value: object) -> dict[str, Any]:
    data = copy.deepcopy(samples.WRONG_NUMBERS.to_json())
    place: Any = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return data


def refusal(path: Path, text: str) -> str:
    path.write_text(text)
    reason = samples.reason_of(path)
    assert path.name in reason
    return reason


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("place", "value"), WRONG)
@pytest.mark.parametrize("fleet", [False, True])
def test_what_the_schema_forbids_is_refused_in_a_line(
    place: tuple[Any, ...], value: object, fleet: bool, tmp_path: Path
) -> None:
    data = changed(place, value)
    if fleet:
        data = {**merge([samples.BROKEN]).to_json(), "reports": [data]}
    said = refusal(tmp_path / "report.json", json.dumps(data))
    assert said.isprintable()
    assert len(said) < 400


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, '{"kind": "fleet", "reports": [], "x": 1}'],
)
def test_what_is_no_document_is_refused_in_a_line(text: str, tmp_path: Path) -> None:
    assert refusal(tmp_path / "report.json", text).isprintable()


def test_a_file_without_end_is_refused() -> None:
    assert "larger than" in samples.reason_of(Path("/dev/zero"))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    for key, item in inner if isinstance(value, (dict, list)) else ():
        found += places(item, (*path, key)) if isinstance(item, (dict, list)) else [(*path, key)]
    return found


PLACES = places(samples.BROKEN.to_json())


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(5))
@settings(max_examples=30, deadline=None)
@given(st.sampled_from(PLACES), ANYTHING)
def test_any_document_is_refused_or_told_in_every_format(
    part: int,  # noqa: ARG001  # a fifth of the examples are tried every time
    place: tuple[Any, ...],
    value: object,
) -> None:
    data = copy.deepcopy(samples.BROKEN.to_json())
    inner: Any = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    try:
        report = Report.from_json(json.loads(json.dumps(data)))
    except ValueError as error:
        said = str(error)
    else:
        said = ""
    assert said.isprintable()
    if said:
        return
    assert VALIDATOR.is_valid(data)
    for reports in ([report], [report, samples.HEALTHY]):
        assert merge(reports).exit_status in {0, 1, 3, 4, 130}
        as_text(reports)
        as_junit(reports)
        as_bundle(reports)
        assert as_html(reports).count("<script") == 1
    assert Report.from_text(report.to_text()) == report


# ---- the page -----------------------------------------------------------------------------------


def test_the_page_allows_its_own_script_and_no_other() -> None:
    page = as_html([samples.HEALTHY])
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (policy,) = re.findall(r"script-src ([^;\"]*)", page)
    assert policy == f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


# ---- the terminal -------------------------------------------------------------------------------

NAMES = [
    ("node\n✓ PASS everything is fine", "node ✓ PASS everything is fine"),
    ("a\x1b]0;owned\x07b", "]0;owned"),
    ("a\u202eb", "a\ufffdb"),
    ("[bold red]x[/] [link=file:///x]y[/link]", "[bold red]x[/] [link=file:///x]y[/link]"),
]


@pytest.mark.parametrize(("name", "shown"), NAMES)
@pytest.mark.parametrize("several", [False, True])
def test_a_name_writes_no_line_and_no_colour_of_its_own(
    name: str, shown: str, several: bool
) -> None:
    hostile = replace(samples.BROKEN, host={"name": name})
    paper = io.StringIO()
    console = Console(file=paper, width=200, force_terminal=True, color_system="standard")
    show([hostile, samples.HEALTHY] if several else [hostile], console)
    text = re.sub("\x1b\\[[0-9;]*m", "", paper.getvalue())
    assert shown in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\n✓ PASS everything" not in text


def test_an_operator_s_name_is_no_markup() -> None:
    number = replace(samples.numbers()[0], operator="[red]x[/]", dtype="[bold]y")
    report = samples.report(samples.result("A-001", numbers=(number,)))
    assert "[red]x[/]  [bold]y" in as_text([report])


@pytest.mark.parametrize(
    "text", ["a\tb\tc", "~/x", "=====", "[bold]x[/]", "x\n~y\n=z", "[/]", "\\[x"]
)
def test_what_has_a_meaning_in_the_template_has_none_in_a_text(text: str) -> None:
    given = report(
        result("A-001", Status.FAIL, summary=text, evidence=(Evidence("log", "plog", text),)),
        exit_status=1,
    )
    shown = re.sub(r"\s+", " ", as_text([given]))
    for line in text.splitlines():
        assert shown.count(re.sub(r"\s+", " ", line)) >= 3  # verdict, problem, evidence
