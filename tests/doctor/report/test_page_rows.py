# SPDX-License-Identifier: Apache-2.0
"""Rows of machines in the page of a fleet."""

from __future__ import annotations

from msgspec.structs import replace

from pyaclnn.health.report.pages import as_html
from pyaclnn.health.report.record import Status
from tests.doctor import report_samples as samples


def test_a_row_names_a_few_checks_and_counts_the_rest() -> None:
    names = [f"DEV-{number}" for number in range(101, 111)]
    broken = samples.report(*(samples.result(name, Status.FAIL) for name in names))
    working = [samples.report(*map(samples.result, names)) for _ in range(3)]
    machines = [
        replace(one, host={"name": f"node-{n}"}) for n, one in enumerate([broken, *working])
    ]
    table = as_html(machines).partition('id="machines"')[2].partition("</table>")[0]
    [row] = [row for row in table.split("<tr") if "node-0" in row]
    assert row.count("DEV-") == 3  # and the first of all in the heading of its section
    assert "and 6 more" in row
