# SPDX-License-Identifier: Apache-2.0
"""Verdict of a replay or a comparison: where two runs part, and how often they agree."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import msgspec
import numpy as np

from pyaclnn.cann.status import meaning
from pyaclnn.facts.accuracy import TOLERANCES, judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Divergence",
    "Outcome",
    "compare_arrays",
    "compare_status",
    "function_missing",
    "hash_differs",
    "workspace_differs",
]


class Divergence(msgspec.Struct, frozen=True):
    """A difference between the recorded answer and this machine's.

    Attributes:
        call: The number of the call.
        function: Its C name.
        kind: ``status``, ``workspace``, ``result``, ``function`` or ``calls``.
        argument: The C name of the parameter, or empty.
        element: The index of the element that differs most, if it is known.
        recorded: The recorded answer.
        here: That of this machine.
        text: The difference in words.
    """

    call: int
    function: str
    kind: str
    argument: str
    element: tuple[int, ...] | None
    recorded: str
    here: str
    text: str

    def __str__(self) -> str:
        """Return it as a line of a report."""
        place = f" {self.argument}" if self.argument else ""
        index = f"{list(self.element)}" if self.element is not None else ""
        return (f"call {self.call} {self.function}{place}{index}: {self.kind}: recorded "
                f"{self.recorded}, here {self.here}{self.text and f'; {self.text}'}")  # fmt: skip


class Outcome(msgspec.Struct):
    """Result of a replay.

    Attributes:
        trace: The file's name.
        backend: The backend of this machine.
        calls: Calls that were run again.
        judged: Results that were compared, by operator.
        unjudged: Results that could not be compared, by operator: inputs were made up.
        skipped: Calls that were not run, by function.
        divergences: Where the answers part.
    """

    trace: str
    backend: str
    calls: int = 0
    judged: Counter[str] = msgspec.field(default_factory=Counter)
    unjudged: Counter[str] = msgspec.field(default_factory=Counter)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    divergences: list[Divergence] = msgspec.field(default_factory=list)

    def text(self, counted: str) -> str:
        """Return it in words, a line for each divergence.

        Args:
            counted: The number of calls, in words.
        """
        lines = [str(divergence) for divergence in self.divergences]
        counts = f"{counted}, {self.judged.total()} results compared"
        if self.unjudged:
            made_up = "contents of inputs were not recorded and made up"
            counts += f", {self.unjudged.total()} not comparable ({made_up})"
        if self.skipped:
            counts += f", {self.skipped.total()} calls skipped ({', '.join(sorted(self.skipped))})"
        found = len(self.divergences)
        lines.append(f"{counts}: {'no divergence' if not found else f'{found} divergences'}.")
        return "\n".join(lines)

    def table(self) -> str:
        """Return a table in Markdown: of each operator, how many results agree."""
        differ = Counter(d.function for d in self.divergences)
        names = sorted({*self.judged, *self.unjudged, *differ})
        rows = [f"| {name} | {self.judged[name]} | {differ[name]} | {self.unjudged[name]} |"
                for name in names]  # fmt: skip
        head = ["| operator | compared | differ | not comparable |", "| --- | --- | --- | --- |"]
        return "\n".join([f"{self.trace} on {self.backend}", "", *head, *rows])

    def junit(self) -> str:
        """Return JUnit XML: a case for each operator."""
        names = sorted({*self.judged, *self.unjudged, *(d.function for d in self.divergences)})
        suite = ET.Element("testsuite", name=f"replay of {self.trace}", tests=str(len(names)))
        for name in names:
            case = ET.SubElement(suite, "testcase", name=name, classname="replay")
            own = [str(d) for d in self.divergences if d.function == name]
            if own:
                ET.SubElement(case, "failure", message=own[0]).text = "\n".join(own)
            elif not self.judged[name]:
                ET.SubElement(case, "skipped", message="contents of inputs were not recorded")
        suite.set("failures", str(len({d.function for d in self.divergences})))
        return ET.tostring(suite, encoding="unicode")


def workspace_differs(call: int, function: str, recorded: int, here: int) -> Divergence:
    """Return the divergence of two sizes of a workspace."""
    sizes = (f"{recorded} bytes", f"{here} bytes")
    return Divergence(call, function, "workspace", "workspaceSize", None, sizes[0], sizes[1], "")


def function_missing(call: int, function: str, recorded: str) -> Divergence:
    """Return the divergence of a function that this backend does not have."""
    words = (recorded, "not in the libraries")
    return Divergence(call, function, "function", "", None, *words, "")


def hash_differs(call: int, function: str, argument: str, recorded: int, here: int) -> Divergence:
    """Return the divergence of two results of which one is a hash."""
    words = (f"hash {recorded:016x}", f"hash {here:016x}")
    text = "the contents were not recorded; capture with --contents full to judge them"
    return Divergence(call, function, "result", argument, None, words[0], words[1], text)


def compare_status(call: int, function: str, recorded: int, here: int) -> Divergence | None:
    """Compare two statuses."""
    if recorded == here:
        return None
    words = [f"{code} {meaning(code).name}" if code else "0" for code in (recorded, here)]
    return Divergence(call, function, "status", "", None, words[0], words[1], "")


def compare_arrays(
    call: int,
    function: str,
    argument: str,
    recorded: NDArray[Any],
    here: NDArray[Any],
    *,
    exact: bool = False,
) -> Divergence | None:
    """Compare two results, by CANN's accuracy standard unless they have to be the same bits."""
    if recorded.tobytes() == here.tobytes():
        return None
    dtype = recorded.dtype
    if not exact and (dtype.kind in "biu" or dtype in TOLERANCES):
        verdict = judge(here, recorded)
        if verdict.passed:
            return None
        place, text = verdict.worst or (), str(verdict)
    else:
        item = np.dtype((np.void, dtype.itemsize))
        differ = np.ascontiguousarray(recorded).view(item) != np.ascontiguousarray(here).view(item)
        place = tuple(int(i) for i in np.argwhere(differ.reshape(recorded.shape))[0])
        text = f"{int(differ.sum())} of {recorded.size} elements have other bits"
    before, after = (repr(array[place].item()) for array in (recorded, here))
    return Divergence(call, function, "result", argument, place, before, after, text)
