# SPDX-License-Identifier: Apache-2.0
"""Outliers of a fleet: devices whose figures are worse than those of their chip."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.health.report.outliers import outliers
from pyaclnn.health.report.tables import figures_by_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.health.report.figure import Figure
    from pyaclnn.health.report.outliers import Outlier
    from pyaclnn.health.report.record import Report

__all__ = ["Outlying", "outlying"]


class Outlying(NamedTuple):
    """A device whose figure is worse than those of the others.

    Attributes:
        machine: The machine's name.
        device: The device there.
        simulated: Whether it is a simulated NPU; these are compared with each other only.
        outlier: The deviation and its severity.
    """

    machine: str
    device: str
    simulated: bool
    outlier: Outlier


def outlying(names: Sequence[str], reports: Sequence[Report]) -> list[Outlying]:
    """Find devices that are worse than the others of their chip in the whole fleet.

    Args:
        names: The machines.
        reports: The report of each.

    Returns:
        Those of hardware first, of these the worst first.
    """
    alike: dict[tuple[bool, str | None, str, str], dict[tuple[str, str], Figure]] = {}
    for machine, report in zip(names, reports, strict=True):
        for (name, unit), row in figures_by_device(report).items():
            group = alike.setdefault((report.simulated, report.soc_name, name, unit), {})
            group.update({(machine, device): figure for device, figure in row.items()})
    found = [
        Outlying(*place, kind[0], outlier)
        for kind, figures in alike.items()
        for place, outlier in outliers(figures).items()
    ]
    return sorted(found, key=lambda one: (one.simulated, -one.outlier.worse))
