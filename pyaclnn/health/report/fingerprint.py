# SPDX-License-Identifier: Apache-2.0
"""Fingerprint of a result: equal for the same finding on different machines."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from pyaclnn.health.report.record import check_of, host_name
from pyaclnn.health.report.verdict import CALM, gravity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyaclnn.health.report.record import CheckResult, Report

__all__ = ["fingerprint", "unusual", "usual"]

_VARYING: Final = re.compile(r"0x[0-9a-fA-F]+|\d+")


def fingerprint(result: CheckResult, host: str) -> tuple[object, ...]:
    """Return the fingerprint of a result.

    It consists of the check, the status and the code of CANN; without a code, the summary without
    numbers and the machine's name.

    Args:
        result: The finding of a check.
        host: The name of the machine.
    """
    check = check_of(result)
    if result.code is not None:
        return check, result.status, result.code
    summary = result.summary
    if host in summary:
        summary = summary.replace(host, "HOST")
    return check, result.status, _form(summary)


@functools.lru_cache(1 << 14)
def _form(summary: str) -> str:
    return _VARYING.sub("#", summary)


def usual(reports: Iterable[Report]) -> dict[tuple[bool, str], tuple[object, CheckResult]]:
    """Return the commonest finding of each check, apart for real and simulated machines.

    Args:
        reports: The machines' reports.

    Returns:
        By whether it was simulated and the check's name without a device, the commonest
        fingerprint, and the first such result.
    """
    found: dict[tuple[bool, str], dict[object, list[CheckResult]]] = {}
    for report in reports:
        name = host_name(report)
        for result in report.results:
            alike = found.setdefault((report.simulated, check_of(result)), {})
            alike.setdefault(fingerprint(result, name), []).append(result)
    commonest = {key: max(alike, key=lambda one: len(alike[one])) for key, alike in found.items()}
    return {key: (one, found[key][one][0]) for key, one in commonest.items()}


def unusual(
    report: Report, common: Mapping[tuple[bool, str], tuple[object, CheckResult]]
) -> list[CheckResult]:
    """Return the results of a machine that are wrong, or not as on most machines.

    Args:
        report: The machine's report.
        common: The result of `usual`.
    """
    name = host_name(report)
    return [
        result
        for result in report.results
        if gravity(result.status) < CALM
        or fingerprint(result, name) != common[report.simulated, check_of(result)][0]
    ]
