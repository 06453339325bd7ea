# SPDX-License-Identifier: Apache-2.0
"""Options of a run of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.health.report.baseline import Baseline

__all__ = ["Extent", "Level", "Options"]


class Level(IntEnum):
    """Depth of a run; each level includes the ones before it."""

    QUICK = 0
    MEDIUM = 1
    LONG = 2


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Duration and extent of the steps on a device.

    Attributes:
        soak: Seconds for which the operators are repeated at the end; 0 for none.
        soak_threads: Number of threads in each process that repeat them.
        soak_faults: Faults to inject meanwhile, in `pyaclnn.mock.GRAMMAR`; on the simulated NPU
            only.
        figure_bytes: Bytes of a copy where copying is measured.
        figure_seconds: Seconds of the measurement of each figure.
        memory_share: Share of the free memory that is tested with patterns; None for most of it,
            and for little of a simulated one.
        memory_seconds: Seconds after which no further pattern is begun.
    """

    soak: float = 0.0
    soak_threads: int = 4
    soak_faults: str = ""
    figure_bytes: int = 64 << 20
    figure_seconds: float = 0.5
    memory_share: float | None = None
    memory_seconds: float = 300.0


@dataclass(frozen=True)
class Options(Extent):
    """Options of a run, besides those of `Extent`.

    Attributes:
        level: The highest level of checks.
        backend: ``cann``, ``mock`` or a folder; None for PYACLNN_BACKEND, then ``cann``.
        devices: The devices to examine, as the process numbers them; None for every visible one.
        only: Ids or families to run, with the checks that they need; empty for all of the level.
        skip: Ids or families to exclude.
        fail_on_warn: Whether a warning makes the run fail.
        fail_early: Whether nothing more is begun once something is broken.
        expected_devices: Expected number of devices; None for the number of nodes.
        soak_processes: Number of processes that repeat the operators.
        expected: The expected figures, if any.
        deadline: Longest duration of a step in a child but the soak, in seconds; None for each
            step's own.
        grace: Seconds that a child may take to end after each signal.
    """

    level: Level = Level.MEDIUM
    backend: str | None = None
    devices: tuple[int, ...] | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    fail_on_warn: bool = False
    fail_early: bool = False
    expected_devices: int | None = None
    soak_processes: int = 1
    expected: Baseline | None = None
    deadline: float | None = None
    grace: float = 3.0
