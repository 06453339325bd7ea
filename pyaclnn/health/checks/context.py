# SPDX-License-Identifier: Apache-2.0
"""Context of the checks of one run: the machine, the options, and facts that are read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pyaclnn.base.elf import ElfError
from pyaclnn.base.locks import cached_property
from pyaclnn.health.checks.dependencies import Closure, close_over, program_of
from pyaclnn.health.checks.finding import at_path, value
from pyaclnn.health.checks.installation import Installation, Trace, find_installations, find_traces

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.machine import Machine
    from pyaclnn.health.report.figures import Baseline
    from pyaclnn.health.report.record import Evidence

__all__ = ["CheckContext", "Extent", "Level", "Options"]


class Level(IntEnum):
    """Depth of a run; each level includes the ones before it."""

    QUICK = 0
    MEDIUM = 1
    LONG = 2


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Duration and extent of the steps on a device.

    Attributes:
        iterations: Number of runs of each case of an operator.
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

    iterations: int = 1
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
        fail_on_warn: True if a warning makes the run fail.
        fail_early: True if nothing more is begun once something is broken.
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


MARKER: Final = "pyaclnn_mock_marker"
"""The symbol that only the simulated NPU exports."""


@dataclass
class Facts:
    """Facts that the children read from CANN itself.

    Attributes:
        soc_name: The chip.
        devices: Number of devices that the process may use.
    """

    soc_name: str | None = None
    devices: int | None = None


@dataclass
class CheckContext:
    """One run on one machine.

    Attributes:
        machine: The machine.
        options: The options of the run.
        facts: The facts known from CANN so far.
    """

    machine: Machine
    options: Options
    facts: Facts = field(default_factory=Facts)

    @property
    def choice(self) -> str:
        """The requested backend: ``cann``, ``mock`` or a folder."""
        return self.options.backend or self.machine.environment.get("PYACLNN_BACKEND") or "cann"

    @cached_property
    def installations(self) -> list[Installation]:
        """Every installation that was found, the one in use first."""
        return find_installations(self.machine, self.choice)

    @cached_property
    def traces(self) -> list[Trace]:
        """Remains of CANN, if no installation can be used."""
        return [] if self.installations or self.choice != "cann" else find_traces(self.machine)

    @property
    def installation(self) -> Installation:
        """The installation in use; only for checks that need one."""
        return self.installations[0]

    @property
    def script(self) -> str:
        """The ``set_env.sh`` of the installation in use."""
        return self.machine.shown(self.installation.set_env)

    @cached_property
    def simulated(self) -> bool:
        """Return whether the libraries in use are those of the simulated NPU."""
        if not self.installations or self.installation.runtime is None:
            return self.choice == "mock"
        closure = self.closure(self.installation.runtime)
        return isinstance(closure, Closure) and MARKER in closure.exports

    def setting(self, path: Path, key: str) -> str | None:
        """Return a value of a file of ``key=value`` lines; None if it has none."""
        return (self.machine.settings(path) or {}).get(key)

    def seen(self, path: Path, text: str) -> Evidence:
        """Build evidence of something seen at a path, as a user of the machine writes it."""
        return at_path(self.machine.shown(path), text)

    def user(self) -> tuple[Evidence, Evidence]:
        """Build evidence of the user and his groups."""
        groups = sorted(self.machine.group(gid) for gid in self.machine.gids)
        return value("uid", self.machine.uid), value("groups", ", ".join(groups))

    def closure(self, path: Path) -> Closure | str:
        """Return a library with its dependencies, or the reason why the library is unusable."""
        if path not in self._closures:
            try:
                self._closures[path] = close_over(self.machine, path, self._program)
            except ElfError as error:
                self._closures[path] = str(error)
            except OSError as error:
                self._closures[path] = error.strerror or str(error)
        return self._closures[path]

    @cached_property
    def _program(self) -> Closure | None:
        return program_of(self.machine)

    @cached_property
    def _closures(self) -> dict[Path, Closure | str]:
        return {}
