# SPDX-License-Identifier: Apache-2.0
"""Operators of a release and what computes each: ``pyaclnn mock kernels``."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.facts.releases import simulated

if TYPE_CHECKING:
    import argparse

__all__ = ["SOURCES", "Computed", "kernels", "run"]

SOURCES: Final = ("yours", "numpy", "none")
"""The source of an operator's results: a kernel of the user or of NumPy, or none."""
_GROUP: Final = "it exchanges data between devices"
_OWN: Final = "PYACLNN_MOCK_OPERATORS names files of your own"


class Computed(NamedTuple):
    """An operator.

    Attributes:
        operator: Its C name.
        kernel: One of `SOURCES`.
        why: With ``none``, why.
    """

    operator: str
    kernel: str
    why: str = ""


def kernels(release: str) -> list[Computed]:
    """Return what computes each operator of a release.

    Args:
        release: The release, such as ``9.1``.
    """
    # Slow to load: no other command needs them.
    from pyaclnn.facts.operators.catalogue import catalogue  # noqa: PLC0415
    from pyaclnn.mock.operators.finding import computes  # noqa: PLC0415
    from pyaclnn.reference import implementation  # noqa: PLC0415
    from pyaclnn.reference.kernels.rows import missing  # noqa: PLC0415

    made = []
    for name, entry in catalogue().items():
        if not entry.is_in(release):
            continue
        if implementation(name) is not None:
            source = "numpy"
        else:
            source = "yours" if computes(name, release) else "none"
        groups = any(p.kind == "s" and p.name.startswith("group") for p in entry.parameters)
        reason = _GROUP if groups else missing().get(name, "no kernel is written")
        why = f"{reason}; {_OWN}" if source == "none" else ""
        made.append(Computed(name, source, why))
    return made


def run(options: argparse.Namespace) -> int:
    """Print the operators, or those with one kind of kernel; the exit status."""
    every = kernels(simulated().name)
    counts = dict.fromkeys(SOURCES, 0) | Counter(each.kernel for each in every)
    found = [each for each in every if options.kernel in {None, each.kernel}]
    if options.json:
        rows = [each._asdict() for each in found]
        print(json.dumps({"counts": counts, "operators": rows}, indent=1))  # noqa: T201
        return 0
    width = max((len(each.operator) for each in found), default=0)
    for each in found:
        line = f"{each.operator:{width}}  {each.kernel:5}  {each.why}"
        print(line.rstrip())  # noqa: T201
    print("; ".join(f"{count} {source}" for source, count in counts.items()))  # noqa: T201
    return 0
