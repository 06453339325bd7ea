# SPDX-License-Identifier: Apache-2.0
"""Comparison of a device's figures with those of other devices and with expected ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyaclnn.facts.chips import all_chips
from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.report.figures import (
    Baseline,
    Expectation,
    Outlier,
    graded,
    outliers as find_outliers,
    shortfall,
)
from pyaclnn.health.report.record import Figure, Severity, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Measured"]


@dataclass(frozen=True)
class Measured:
    """Measurements of a run.

    Attributes:
        of: The figures of each device, by name.
        expected: The expected figures, if any.
        soc_name: The chip.
        cann_version: The version of CANN.
        simulated: True if the chip is simulated.
        whole: True if the devices are whole chips, not virtual parts of them.
    """

    of: Mapping[int, Mapping[str, Figure]]
    expected: Baseline | None
    soc_name: str | None
    cann_version: str | None
    simulated: bool
    whole: bool = True


def _of_chip(measured: Measured) -> Baseline | None:
    """Return what is expected of every chip of this name; None of one that is not known."""
    chip = next((chip for chip in all_chips() if chip.soc_name == measured.soc_name), None)
    if chip is None or measured.simulated or not measured.whole:
        return None
    memory = Expectation(Figure("device_memory", float(chip.memory_bytes), "bytes"))
    version = measured.cann_version
    return Baseline(chip.soc_name, version, simulated=False, version="", expectations=(memory,))


def _judged(
    outcome: str,
    outliers: Sequence[Outlier],
    compared: int,
    reference: str,
    describe: Callable[[Outlier], str] = str,
) -> Finding:
    """Return a finding about the figures that are worse, as severe as the worst of them."""
    if not outliers:
        return ok(f"{compared} figures are as {reference}")
    worst = max(outliers, key=lambda outlier: outlier.worse)
    drained = any(outlier.severity is Severity.DRAIN for outlier in outliers)
    finding = found(
        outcome,
        *(value(outlier.figure.name, describe(outlier)) for outlier in outliers),
        status=Status.FAIL if drained else Status.WARN,
        count=len(outliers),
        compared=compared,
        outlier=describe(worst),
    )
    return replace(finding, severity=Severity.DRAIN if drained else Severity.MONITOR)


def _beside_others(device: int, measured: Measured) -> Finding:
    own = measured.of.get(device, {})
    if len(measured.of) < 2:  # noqa: PLR2004  # with itself
        return skip("there is no other device to compare it with")
    worse, compared = [], 0
    for name in own:
        same = {d: figures[name] for d, figures in measured.of.items() if name in figures}
        compared += len(same) > 1 and own[name].better != "neither"
        outlier = find_outliers(same).get(device)
        worse += [outlier] if outlier else []
    if not compared:
        return skip("nothing was measured that another device has as well")
    return _judged("FIG-201.worse", worse, compared, "those of the other devices")


def _beside_expected(device: int, measured: Measured) -> Finding:
    baseline, own = measured.expected or _of_chip(measured), measured.of.get(device, {})
    given = measured.expected is not None
    if baseline is None or not (given or any(e.figure.name in own for e in baseline.expectations)):
        return skip("nothing is expected: --expect FILE names what --save-baseline wrote")
    other = baseline.is_of_another_kind(measured.soc_name, simulated=measured.simulated)
    if other:
        return found("FIG-202.other_kind", difference=other)
    outliers, missing = [], []
    for expectation in baseline.expectations:
        wanted = expectation.figure
        there = own.get(wanted.name)
        if there is None or there.unit != wanted.unit:
            missing.append(wanted.name)
            continue
        _, worse = shortfall(there.value, wanted.value, wanted.better)
        if worse > expectation.tolerance:
            outliers.append(Outlier(there, wanted.value, worse, graded(worse)))
    tolerances = {e.figure.name: e.tolerance for e in baseline.expectations}

    def describe(outlier: Outlier) -> str:
        allowed = f"{tolerances[outlier.figure.name]:.0%}".replace("%", " %")
        return f"{outlier}, of which {allowed} would be tolerated"

    compared = len(tolerances) - len(missing)
    finding = _judged("FIG-202.worse", outliers, compared, "expected", describe)
    unknown = [n for n, f in own.items() if n not in tolerances and f.better != "neither"]
    notes = (
        ("expected and not measured", missing),
        ("measured and not expected", unknown if given else []),
    )
    evidence = [*finding.evidence, *(value(t, ", ".join(names)) for t, names in notes if names)]
    if baseline.cann_version != measured.cann_version:
        versions = f"{measured.cann_version} here, {baseline.cann_version} in the file"
        evidence.append(value("CANN", versions))
    if missing and finding.status is Status.PASS:
        return found(
            "FIG-202.not_measured",
            *evidence,
            summary=finding.summary,
            count=len(missing),
            names=", ".join(missing),
        )
    return replace(finding, evidence=tuple(evidence))
