# SPDX-License-Identifier: Apache-2.0
"""Exported functions of the simulated libraries and their state: ``pyaclnn mock functions``."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.cann.simulator import libdir
from pyaclnn.facts.interface import functions as interface_functions
from pyaclnn.facts.releases import has, simulated

if TYPE_CHECKING:
    import argparse

__all__ = ["ABSENT", "IMPLEMENTED", "REFUSES", "Exported", "functions", "run"]

IMPLEMENTED: Final = "implemented"
"""The state of what does what CANN does."""
REFUSES: Final = "refuses"
"""The state of what is there to be linked: it answers 999001 and says so, an operator without a
kernel after its arguments are checked."""
ABSENT: Final = "absent"
"""The state of what a header of the release declares and no library has."""

_PHASE_1: Final = "GetWorkspaceSize"
_TOOLS: Final = "pyaclnn_"


class Exported(NamedTuple):
    """A function of the simulated libraries."""

    name: str
    """Its name."""
    library: str
    """The library that has it, e.g. ``libascendcl.so``; of one that is absent, its header."""
    state: str
    """`IMPLEMENTED`, `REFUSES` or `ABSENT`."""


def functions() -> list[Exported]:
    """List every function that the libraries of the simulated release export, or should export.

    The libraries are loaded, and the list is read from their tables.
    """
    # Slow to load: no other command needs them.
    import ctypes  # noqa: PLC0415

    from pyaclnn.base.elf import read_library  # noqa: PLC0415
    from pyaclnn.mock.control.tools import lines_of  # noqa: PLC0415
    from pyaclnn.mock.operators.finding import computes  # noqa: PLC0415

    libraries = sorted(path for path in libdir().iterdir() if path.suffix == ".so")
    kept = [ctypes.CDLL(str(path)) for path in libraries]
    states = dict(line.split() for line in lines_of("pyaclnn_mock_functions"))
    release = simulated().name
    del kept  # the process has them all the same

    def state(name: str) -> str:
        kind = states.get(name)
        without_kernel = kind == "operator" and not computes(name.removesuffix(_PHASE_1), release)
        return REFUSES if kind == "refuses" or without_kernel else IMPLEMENTED

    found = [
        Exported(name, path.name, state(name))
        for path in libraries
        for name in sorted(read_library(path).exports)
        if not name.startswith(_TOOLS)
    ]
    there = {exported.name for exported in found}
    # Functions of headers written by hand are exported by construction, and so are operators.
    missing = (
        Exported(name, row.header, ABSENT)
        for name, row in sorted(interface_functions().items())
        if name not in there and has(release, row.since, row.until)
    )
    return [*found, *missing]


def run(options: argparse.Namespace) -> int:
    """Print the functions, or those of one state; the exit status."""
    found = [f for f in functions() if options.state in {None, f.state}]
    if options.json:
        counts = dict.fromkeys((IMPLEMENTED, REFUSES, ABSENT), 0)
        counts |= Counter(function.state for function in found)
        rows = [function._asdict() for function in found]
        print(json.dumps({"counts": counts, "functions": rows}, indent=1))  # noqa: T201
        return 0
    width = max((len(function.name) for function in found), default=0)
    for function in found:
        print(f"{function.name:{width}}  {function.library:18}  {function.state}")  # noqa: T201
    return 0
