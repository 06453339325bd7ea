# SPDX-License-Identifier: Apache-2.0
"""The page: whole in itself, well-formed, harmless, and what it shows."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.charts import errors_chart, histogram_charts, timings_chart
from pyaclnn.health.report.fleet import merge
from pyaclnn.health.report.pages import as_html, as_junit
from pyaclnn.health.report.record import Evidence, Status
from pyaclnn.health.report.sections import unusual
from tests.doctor import report_samples as samples

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.report.record import Report

FLEET = [
    replace(samples.BROKEN, host={"name": "node-3"}),
    replace(samples.BROKEN, host={"name": "node-5"}),
    samples.SIMULATED,
]
GIVEN = {name: [given] for name, given in samples.ALL.items()} | {"fleet": FLEET}


@functools.cache
def page_of(name: str) -> str:
    """Return the page of reports."""
    return as_html(GIVEN[name])


def test_figures_are_a_table_with_a_column_for_each_device() -> None:
    for named in ("device 0", "device 1", "host_to_device_pinned", "GB/s", "24.1"):
        assert named in page_of("measured")
    assert "severity MONITOR" in page_of("measured")
    assert "Figures of the simulation" not in page_of("measured")
    simulated = replace(samples.MEASURED, backend="mock", simulated=True)
    assert "Figures of the simulation" in as_html([simulated])


VOID = {"meta", "link", "br", "hr", "img", "input"}
FETCHING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "xlink:href"}


class Page(HTMLParser):
    """Parser of a page: tags, texts, and anything that a browser would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.fetched: list[str] = []
        self.scripts = 0
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.scripts += tag == "script"
        for name, value in attrs:
            if name in FETCHING or (name == "href" and value != "data:,"):
                self.fetched.append(f"{tag} {name}={value}")
            if name.startswith("on"):
                self.faults.append(f"inline handler {name}")
            if name == "style" and "url" in (value or ""):
                self.fetched.append(f"{tag} style={value}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            self.words.append(data)


@pytest.mark.parametrize("name", GIVEN)
def test_the_page_is_well_formed_and_refers_to_nothing_outside(name: str) -> None:
    page = Page(page_of(name))
    assert page.faults == []
    assert page.open == []
    assert page.fetched == []
    assert page.scripts == 1
    assert not re.search(r"https?:|//\w+\.|@import|url\(", page_of(name))


@pytest.mark.parametrize(
    "addition",
    [
        '<img src="x.png">',
        '<link rel="stylesheet" href="x.css">',
        '<p onclick="x()"></p>',
        "<div></p>",
        '<p style="background: url(x)"></p>',
    ],
)
def test_the_page_check_sees_what_it_looks_for(addition: str) -> None:
    page = Page(addition)
    assert page.faults or page.fetched


@pytest.mark.parametrize("name", GIVEN)
def test_the_page_forbids_browsers_to_fetch_anything(name: str) -> None:
    assert "Content-Security-Policy\" content=\"default-src 'none';" in page_of(name)


def test_foreign_texts_are_shown_and_not_obeyed() -> None:
    text = page_of("nasty")
    assert "<script>alert" not in text
    assert "\x00" not in text
    words = "".join(Page(text).words)
    assert words.count("<script>alert('x')</script> & \"quotes\"") > 5
    assert "$body {brace}" in words


SHOWN = {
    "healthy": ["works (3 passed, 1 skipped)", "90 of 90 outputs meet", "Every check", "node-17"],
    "broken": [
        "Device 0 can be opened",
        "507033 ACL_ERROR_RT_DEV_SETUP_ERROR",
        "retCode=0x7020011",
        "another container holds the device",
        "npu-smi info -t board -i 0",
        "NOT RUN",
    ],
    "wrong_numbers": ["97.00 % within tolerance, 99 % required", "rms_norm_grad"],
    "simulated": ["SIMULATED NPU — not a chip", "of the simulation, not of a chip"],
    "no_cann": ["There is no CANN on this machine.", "pyaclnn doctor --backend mock"],
    "fleet": ["3 machines: 2 broken, 1 simulated only.", "2 of 3 machines:", "node-3, node-5"],
}


@pytest.mark.parametrize(("name", "words"), [(n, w) for n, ws in SHOWN.items() for w in ws])
def test_the_page_shows(name: str, words: str) -> None:
    text = re.sub(r"\s+", " ", "".join(Page(page_of(name)).words))
    assert words.lower() in text.lower()


def test_only_a_simulated_report_says_that_it_is() -> None:
    assert "SIMULATED" not in page_of("healthy")


# ---- pictures -----------------------------------------------------------------------------------


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314  # our own text


def kinds(svg: str, kind: str) -> list[ET.Element]:
    return [e for e in drawn(svg).iter() if kind in (e.get("class") or "").split()]


def position(mark: ET.Element) -> float:
    return float(mark.get("cx") or mark.get("x") or 0)


def test_every_output_has_its_mark_and_what_failed_is_a_cross() -> None:
    numbers = samples.WRONG_NUMBERS.results[1].numbers
    svg = errors_chart(numbers)
    assert len(kinds(svg, "mark")) == 90
    assert len(kinds(svg, "cross")) == 2


def test_errors_lie_left_of_the_limit_if_they_are_allowed_and_right_of_it_if_not() -> None:
    allowed = [10.0**k for k in (-8, -3, -1)]
    numbers = [
        samples.number("rms_norm", "y", "float32", (4, 64), max_abs_error=r * 1e-2)
        for r in (0.0, *allowed, 5.0, 100.0)
    ]
    svg = errors_chart(numbers)
    limit = float(kinds(svg, "limit")[0].get("x1") or 0)
    places = [position(mark) for mark in kinds(svg, "mark")]
    assert places == sorted(places)
    assert [place < limit for place in places] == [True] * 4 + [False] * 2


@pytest.mark.parametrize("error", [0.0, 1e-300, 1e300, None, float("inf")])
def test_extreme_errors_stay_in_the_picture(error: float | None) -> None:
    svg = errors_chart(
        [samples.number("rms_norm", "y", "float32", (), max_abs_error=error, limit=1e-2)]
    )
    (mark,) = kinds(svg, "mark")
    assert 0 <= position(mark) <= float(drawn(svg).get("viewBox", "").split()[2])


def test_a_distribution_counts_every_element_once() -> None:
    (svg,) = histogram_charts([samples.number("rms_norm", "y", "float16", (3, 5, 257))])
    counts = [int((title.text or "").split()[0]) for title in drawn(svg).iter("title")]
    expected = [
        n for _, n in samples.number("rms_norm", "y", "float16", (3, 5, 257)).error_histogram
    ]
    assert counts == [count for count in expected if count]


def test_elements_beyond_the_tolerance_are_marked() -> None:
    bad = samples.WRONG_NUMBERS.results[1].numbers[-2]
    (svg,) = histogram_charts([bad])
    limit = float(kinds(svg, "limit")[0].get("x1") or 0)
    assert kinds(svg, "bad")
    assert all(position(bar) >= limit for bar in kinds(svg, "bad"))
    assert all(position(bar) < limit for bar in kinds(svg, "dt-b") if bar.tag == "rect")


def test_timings_have_a_mark_for_each_call() -> None:
    assert len(kinds(timings_chart(samples.numbers()), "mark")) == 36
    assert timings_chart([]) == ""


def test_of_what_several_devices_computed_the_worst_is_shown() -> None:
    good = samples.number("rms_norm", "y", "float32", (4, 64), seconds=0.1, max_abs_error=1e-5)
    bad = replace(good, passed=False, seconds=0.2, max_abs_error=1.0)
    slow = replace(good, seconds=0.9)
    (shown,) = Aggregate([good, bad, slow]).numbers()
    assert (shown.passed, shown.max_abs_error, shown.seconds) == (False, 1.0, 0.9)
    assert dict(shown.error_histogram) == {e: 3 * n for e, n in good.error_histogram}


def test_a_fleet_does_not_repeat_the_pictures_of_machines_whose_numbers_are_right() -> None:
    def machines(count: int) -> list[Report]:
        names = [f"node-{n}" for n in range(count)]
        return [replace(samples.HEALTHY, host={"name": name}) for name in names]

    assert as_html(machines(2)).count("<svg") == as_html(machines(9)).count("<svg") > 0
    one = as_html(machines(2)).count("aria-label")
    assert as_html([*machines(2), samples.WRONG_NUMBERS]).count("aria-label") == 2 * one


def fleet_of(count: int, *broken: int, words: str = "no answer") -> list[Report]:
    """Machines that are alike but for the broken ones, which have much evidence each."""

    def machine(n: int) -> Report:
        given = replace(samples.HEALTHY, host={"name": f"node-{n}"})
        if n not in broken:
            return given
        first, *rest = given.results
        log = Evidence("log", "plog", f"evidence of node-{n} " * 500)
        wrong = replace(first, status=Status.FAIL, summary=words, evidence=(log,))
        return replace(given, results=(wrong, *rest), exit_status=1)

    return [machine(n) for n in range(count)]


def test_a_machine_has_a_place_of_its_own_only_where_it_differs_from_most() -> None:
    page = as_html(fleet_of(5, 3))
    own = re.findall('class="machine"><summary>(.*?)</summary>', page)
    assert own == ["What most machines have in common", "node-3"]
    of_it = page.rpartition('class="machine"')[2]
    assert "evidence of node-3" in of_it
    assert samples.HEALTHY.results[0].title in of_it
    assert samples.HEALTHY.results[1].summary not in of_it
    assert samples.HEALTHY.results[1].summary in page


def sections(page: str) -> dict[str, list[str]]:
    """Return the machines in a page's table by the heading that they are under."""
    bodies = page.partition('id="machines"')[2].partition("</table>")[0].split("<tbody")[1:]
    return {
        " ".join("".join(Page(f"<b{body.partition('</th>')[0]}").words).split()): re.findall(
            r'<tr[^>]*data-g="\w+"><td>(.*?)</td>', body
        )
        for body in bodies
    }


def test_machines_with_the_same_fault_are_together_and_the_worst_come_first() -> None:
    other = [replace(m, host={"name": "x"}) for m in fleet_of(1, 0, words="another fault")]
    found = sections(as_html([*fleet_of(6, 1, 4), *other, samples.NO_CANN]))
    title = f"{samples.HEALTHY.results[0].id} {samples.HEALTHY.results[0].title}"
    assert list(found.items())[:2] == [
        (f"FAIL {title}: no answer (2)", ["node-1", "node-4"]),
        (f"FAIL {title}: another fault (1)", ["x"]),
    ]
    assert list(found)[-1] == "working (4)"
    assert found["working (4)"] == ["node-0", "node-2", "node-3", "node-5"]


def test_a_row_repeats_the_reason_only_where_it_differs() -> None:
    given = [*fleet_of(2, 0, 1, words="95 degrees")]
    hot = replace(given[1].results[0], summary="99 degrees")
    given[1] = replace(given[1], results=(hot, *given[1].results[1:]))
    table = as_html(given).partition('id="machines"')[2].partition("</table>")[0]
    assert (table.count("95 degrees"), table.count("99 degrees")) == (1, 1)


def test_results_that_machines_share_are_kept_once_under_their_own_names() -> None:
    given = fleet_of(3)
    for place, machine in enumerate(given):
        named = replace(machine.results[0], summary=f"node-{place} has 8 devices")
        given[place] = replace(machine, results=(named, *machine.results[1:]))
    reports = merge(given).reports
    assert reports[0].results[1] is reports[2].results[1]
    assert unusual(reports) == {}
    assert as_junit(given).count("node-2 has 8 devices") == 1


def test_a_different_finding_is_shown_even_where_nothing_is_wrong() -> None:
    machines = fleet_of(3)
    first, *rest = machines[1].results
    other = replace(first, summary="another driver")
    machines[1] = replace(machines[1], results=(other, *rest))
    assert "another driver" in as_html(machines).rpartition("<summary>node-1</summary>")[2]


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_broken_machines_take_little_each_so_that_a_thousand_fit_5_mb(count: int) -> None:
    page = as_html(fleet_of(count, *range(count)))
    full = as_html(fleet_of(20, *range(20)))
    assert len(page.encode()) - len(full.encode()) < 400 * (count - 20)
    assert len(full.encode()) < 1_000_000
    assert f"{count} of {count} machines:" in page
    assert "evidence of node-19 " in page
    assert "evidence of node-20 " not in page
    assert f"<td>node-{count - 1}</td>" in page


def test_no_numbers_no_pictures() -> None:
    assert "<svg" not in page_of("no_cann")


# ---- in a browser -------------------------------------------------------------------------------

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--enable-logging=stderr", "--log-level=0", "--dump-dom",
)  # fmt: skip


def browsers() -> list[str]:
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return [path for path in found if path][:1]


def console_of(browser: str, page: Path, profile: Path) -> list[str]:
    """Return a page's console output in a browser, and whether it rendered."""
    done = subprocess.run(
        [browser, *FLAGS, f"--user-data-dir={profile}", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
    )
    assert "</html>" in done.stdout
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.exhaustive
def test_a_browser_opens_the_page_without_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for browser in browsers():
        page.write_text(page_of("wrong_numbers"), encoding="utf-8")
        assert console_of(browser, page, tmp_path / "profile") == []
        # The same look at a page that is wrong: a script that fails, a picture from outside.
        wrong = page_of("wrong_numbers").replace('"use strict";', "missing();")
        page.write_text(wrong.replace("<main>", '<main><img src="x.png">'), encoding="utf-8")
        assert len(console_of(browser, page, tmp_path / "profile")) == 2


def test_the_template_engine_is_loaded_only_for_a_page() -> None:
    program = "import sys, pyaclnn.health.command.output; sys.exit('jinja2' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_pages_are_deterministic() -> None:
    again = {name: as_html(given) for name, given in GIVEN.items()}
    assert again == {name: page_of(name) for name in GIVEN}


def test_one_report_is_a_machine_and_several_are_a_fleet() -> None:
    def headings(*given: Report) -> list[str]:
        return re.findall("<h2>(.*?)</h2>", as_html(given))

    assert "Machines" not in headings(samples.HEALTHY)
    assert headings(*FLEET)[:2] == ["What is wrong, and where", "Machines"]
