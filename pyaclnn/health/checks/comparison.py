# SPDX-License-Identifier: Apache-2.0
"""What the figures of a device say beside those of others, and beside what is expected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.figures import BESIDE_OTHERS, EXPECTED
from pyaclnn.health.checks.finding import Finding, ok, skip, value
from pyaclnn.health.report.figure import Figure, Severity
from pyaclnn.health.report.outliers import Outlier, graded, outliers, shortfall
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.health.report.baseline import Baseline

__all__ = ["COMPARISONS", "Measured"]

_CAUSES: Final = (
    "the device runs at a reduced frequency, because of heat or a limit of power",
    "its link to the host has fewer lanes or a lower speed than it should",
    "another process uses the device, or keeps the processors of this machine busy",
)
_AGAIN: Final = (
    "run it again when nothing else uses the machine; if that is how it is there, give the figure "
    'a larger "tolerance" in the file of --expect'
)
_NEXT: Final = "npu-smi info -t health -i 0; npu-smi info -t usages -i 0"


@dataclass(frozen=True)
class Measured:
    """All that was measured in a run.

    Attributes:
        of: The figures of each device, by name.
        expected: What they should be, if that is known.
        soc_name: The chip.
        cann_version: The version of CANN.
        simulated: Whether the chip is simulated.
    """

    of: Mapping[int, Mapping[str, Figure]]
    expected: Baseline | None
    soc_name: str | None
    cann_version: str | None
    simulated: bool


def _judged(
    found: Sequence[Outlier],
    compared: int,
    beside: str,
    step: str = _NEXT,
    tell: Callable[[Outlier], str] = str,
) -> Finding:
    """A finding of how many figures are worse, as grave as the worst of them."""
    if not found:
        return ok(f"{compared} figures are as {beside}")
    worst = max(found, key=lambda outlier: outlier.worse)
    drained = any(outlier.severity is Severity.DRAIN for outlier in found)
    return Finding(
        Status.FAIL if drained else Status.WARN,
        f"{len(found)} of {compared} figures are worse than {beside}: {tell(worst)}",
        tuple(value(outlier.figure.name, tell(outlier)) for outlier in found),
        _CAUSES,
        step,
        severity=Severity.DRAIN if drained else Severity.MONITOR,
    )


def _beside_others(device: int, measured: Measured) -> Finding:
    own = measured.of.get(device, {})
    if len(measured.of) < 2:  # noqa: PLR2004  # with itself
        return skip("there is no other device to compare it with")
    found, compared = [], 0
    for name in own:
        alike = {d: figures[name] for d, figures in measured.of.items() if name in figures}
        compared += len(alike) > 1 and own[name].better != "neither"
        outlier = outliers(alike).get(device)
        found += [outlier] if outlier else []
    if not compared:
        return skip("nothing was measured that another device has as well")
    return _judged(found, compared, "those of the other devices")


def _beside_expected(device: int, measured: Measured) -> Finding:
    baseline, own = measured.expected, measured.of.get(device, {})
    if baseline is None:
        return skip("nothing is expected: --expect FILE names what --save-baseline wrote")
    other = baseline.is_of_another_kind(measured.soc_name, simulated=measured.simulated)
    if other:
        return Finding(
            Status.ERROR,
            f"the file of expectations is no measure here: {other}",
            causes=("it was written on a machine of another kind",),
            next_step="write one here: pyaclnn doctor --level long --save-baseline FILE",
        )
    found, missing = [], []
    for expectation in baseline.expectations:
        wanted = expectation.figure
        there = own.get(wanted.name)
        if there is None or there.unit != wanted.unit:
            missing.append(wanted.name)
            continue
        _, worse = shortfall(there.value, wanted.value, wanted.better)
        if worse > expectation.tolerance:
            found.append(Outlier(there, wanted.value, worse, graded(worse)))
    tolerances = {e.figure.name: e.tolerance for e in baseline.expectations}
    unknown = [
        name
        for name, figure in own.items()
        if name not in tolerances and figure.better != "neither"
    ]

    def tell(outlier: Outlier) -> str:
        allowed = f"{tolerances[outlier.figure.name]:.0%}".replace("%", " %")
        return f"{outlier}, of which {allowed} would be tolerated"

    told = _judged(found, len(tolerances) - len(missing), "expected", _AGAIN, tell)
    notes = [
        value(label, ", ".join(names))
        for label, names in (
            ("expected and not measured", missing),
            ("measured and not expected", unknown),
        )
        if names
    ]
    if baseline.cann_version != measured.cann_version:
        notes.append(
            value("CANN", f"{measured.cann_version} here, {baseline.cann_version} in the file")
        )
    if missing and told.status is Status.PASS:
        told = replace(
            told,
            status=Status.WARN,
            summary=f"{told.summary}, but {len(missing)} were not measured: {', '.join(missing)}",
            causes=("the checks that measure them were left out, or did not pass",),
            next_step="pyaclnn doctor --level long --expect FILE",
        )
    return replace(told, evidence=(*told.evidence, *notes))


COMPARISONS: Final[dict[str, Callable[[int, Measured], Finding]]] = {
    BESIDE_OTHERS: _beside_others,
    EXPECTED: _beside_expected,
}
"""The function of each check of the group ``compared``."""
