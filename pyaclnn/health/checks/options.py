# SPDX-License-Identifier: Apache-2.0
"""What a run of the doctor is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.health.report.baseline import Baseline

__all__ = ["Extent", "Level", "Options"]


class Level(IntEnum):
    """How far a run goes; each level includes the ones before it."""

    QUICK = 0
    MEDIUM = 1
    LONG = 2


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How long and how much the steps on a device are.

    Attributes:
        soak: For how many seconds the operators are repeated at the end; 0 for not at all.
        soak_threads: How many threads of each process do that.
        soak_faults: What goes wrong meanwhile, as `pyaclnn.mock.GRAMMAR` says; on the simulated NPU
            only.
        figure_bytes: How many bytes are copied at a time where copying is measured.
        figure_seconds: For how long each figure is measured.
        memory_share: How much of the free memory is tested with patterns; None for most of it, and
            for little of a simulated one.
        memory_seconds: After how long no further pattern is begun.
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
    """What to do, besides what `Extent` has.

    Attributes:
        level: How far to go.
        backend: ``cann``, ``mock`` or a folder; None for PYACLNN_BACKEND, then ``cann``.
        devices: The devices to examine, as the process numbers them; None for every visible one.
        only: Ids or families to run, with what they build on; empty for all of the level.
        skip: Ids or families to leave out.
        fail_on_warn: Whether a warning makes the run fail.
        fail_early: Whether nothing more is begun once something is broken.
        expected_devices: How many devices there should be; None for as many as there are nodes.
        soak_processes: How many processes.
        expected: What the figures should be, if that is known.
        deadline: No step in a child but the soak may take longer; None for each step's own.
        grace: How long a child may take to end after each signal.
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
