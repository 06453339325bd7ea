# SPDX-License-Identifier: Apache-2.0
"""What the checks of one run share: the machine, the choice, and what is found only once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pyaclnn.base.elf import ElfError
from pyaclnn.health.checks.dependencies import Closure, close_over
from pyaclnn.health.checks.installation import Installation, find_installations
from pyaclnn.health.checks.traces import Trace, find_traces

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.checks.machine import Machine
    from pyaclnn.health.checks.options import Options

__all__ = ["MARKER", "Facts", "Site"]

MARKER: Final = "pyaclnn_mock_marker"
"""The symbol by which the simulated NPU is known."""


@dataclass
class Facts:
    """What the children learned from CANN itself.

    Attributes:
        soc_name: The chip.
        devices: How many devices the process may use.
    """

    soc_name: str | None = None
    devices: int | None = None


@dataclass
class Site:
    """One run on one machine.

    Attributes:
        machine: The machine.
        options: What is asked for.
        facts: What is known from CANN so far.
    """

    machine: Machine
    options: Options
    facts: Facts = field(default_factory=Facts)

    @property
    def choice(self) -> str:
        """The backend that is asked for: ``cann``, ``mock`` or a folder."""
        return self.options.backend or self.machine.environment.get("PYACLNN_BACKEND") or "cann"

    @cached_property
    def installations(self) -> list[Installation]:
        """Every installation that was found, the one in use first."""
        return find_installations(self.machine, self.choice)

    @cached_property
    def traces(self) -> list[Trace]:
        """What is there of CANN although no installation can be used."""
        return [] if self.installations or self.choice != "cann" else find_traces(self.machine)

    @property
    def installation(self) -> Installation:
        """The one in use; only for checks that build on there being one."""
        return self.installations[0]

    @cached_property
    def simulated(self) -> bool:
        """Whether the libraries in use are those of the simulated NPU."""
        if not self.installations or self.installation.runtime is None:
            return self.choice == "mock"
        closure = self.closure(self.installation.runtime)
        return isinstance(closure, Closure) and MARKER in closure.exports

    @property
    def examines_hardware(self) -> bool:
        """Whether a machine with an NPU is under examination."""
        return not self.simulated or self.choice == "cann"

    def closure(self, path: Path) -> Closure | str:
        """Return a library with all that it needs, or why the library itself is unusable."""
        if path not in self._closures:
            try:
                self._closures[path] = close_over(self.machine, path)
            except ElfError as error:
                self._closures[path] = str(error)
            except OSError as error:
                self._closures[path] = error.strerror or str(error)
        return self._closures[path]

    @cached_property
    def _closures(self) -> dict[Path, Closure | str]:
        return {}
