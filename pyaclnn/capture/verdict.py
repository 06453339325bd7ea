# SPDX-License-Identifier: Apache-2.0
"""Verdict of a replay or a comparison: where two runs part, and how often they agree."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
from msgspec.structs import replace

from pyaclnn.base.printable import harmless
from pyaclnn.cann.status import meaning
from pyaclnn.capture.descriptors import arguments_of
from pyaclnn.facts.accuracy import TOLERANCES, judge

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from typing_extensions import Self

    from pyaclnn.capture.trace import Call, Contents

__all__ = ["TIMED_OUT", "Answer", "CallId", "Divergence", "Outcome", "difference"]

TIMED_OUT: Final = 507046
"""The status of a wait with a limit, which depends on the machine's speed."""
_UNMADE: Final = "skipped whose handles no replayed call has made"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class CallId(NamedTuple):
    """The number and the function of a call."""

    number: int
    name: str


class Answer(NamedTuple):
    """Answer to a call.

    Attributes:
        status: The status; 0 if the function returns none.
        workspace: The size of the workspace, of a first phase that succeeded.
        message: CANN's message of a failure.
    """

    status: int = 0
    workspace: int | None = None
    message: str | None = None

    @classmethod
    def of(cls, call: Call) -> Self:
        """Return the recorded answer to a call."""
        asked = not call.failed and call.letters.get("workspaceSize", "").startswith("o")
        size = call.handle("workspaceSize") if asked else None
        return cls(call.status, size, call.message)


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
        arguments: The arguments of the call; of a second phase those of the first.
        message: CANN's message of the failure.
    """

    call: int
    function: str
    kind: str
    argument: str
    element: tuple[int, ...] | None
    recorded: str
    here: str
    text: str
    arguments: str = ""
    message: str = ""

    def __str__(self) -> str:
        """Return it as a line of a report, and lines for the arguments and the message."""
        place = f" {self.argument}" if self.argument else ""
        index = f"{list(self.element)}" if self.element is not None else ""
        head = (f"call {self.call} {self.function}{place}{index}: {self.kind}: recorded "
                f"{self.recorded}, here {self.here}{self.text and f'; {self.text}'}")  # fmt: skip
        rest = [*([f"with {self.arguments}"] if self.arguments else []), *self.message.splitlines()]
        return "\n".join([head, *(f"        {line}" for line in rest)])


class Outcome(msgspec.Struct):
    """Result of a replay or a comparison.

    Attributes:
        trace: The file's name.
        backend: The backend of this machine, or the other trace.
        done: Description of what was done with the calls.
        chips: The chip of the trace, and of this machine or the other trace; empty if unknown.
        calls: Calls that were run again.
        judged: Results that were compared, by operator.
        unjudged: Results that could not be compared, by operator: they were not recorded, or the
            inputs were not and are made up.
        by_status: Calls of operators and graphs of which no result was compared, by function.
        skipped: Calls of functions that a replay does not run, by function.
        unmade: Calls that were not run because no call of the trace has made what they use, by
            function.
        received: Calls that were not run, but whose recorded results were taken, by function: their
            peers are in other traces.
        moved: Devices of the trace that are not here -> those that took their calls.
        incomplete: For a trace that lacks calls, its name and the reason.
        divergences: Where the answers part.
    """

    trace: str
    backend: str
    done: str
    chips: tuple[str, str] = ("", "")
    calls: int = 0
    judged: Counter[str] = msgspec.field(default_factory=Counter)
    unjudged: Counter[str] = msgspec.field(default_factory=Counter)
    by_status: Counter[str] = msgspec.field(default_factory=Counter)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    unmade: Counter[str] = msgspec.field(default_factory=Counter)
    received: Counter[str] = msgspec.field(default_factory=Counter)
    moved: dict[int, int] = msgspec.field(default_factory=dict)
    incomplete: list[str] = msgspec.field(default_factory=list)
    divergences: list[Divergence] = msgspec.field(default_factory=list)

    def note_end(self, trace: str, reason: str) -> None:
        """Note why a trace lacks calls, unless the reason is empty."""
        if reason:
            self.incomplete.append(f"{trace} is incomplete: {reason}")

    def note(
        self, call: Call | CallId, kind: str, recorded: str, here: str, argument: str = "",
        text: str = "", element: tuple[int, ...] | None = None, message: str = "",
    ) -> None:  # fmt: skip
        """Note that the answers to a call differ."""
        self.divergences.append(
            Divergence(call.number, call.name, kind, argument, element, recorded, here, text,
                       message=harmless(message))
        )  # fmt: skip

    def compare_answers(self, call: Call | CallId, recorded: Answer, here: Answer) -> None:
        """Compare the status of a call and the size of its workspace."""
        if recorded.status != here.status:
            one, other = (
                f"{n} {meaning(n).name}" if n else "0" for n in (recorded.status, here.status)
            )
            message = here.message or recorded.message or ""
            self.note(call, "status", one, other, message=message.strip())
        elif recorded.workspace != here.workspace:
            one, other = (f"{answer.workspace} bytes" for answer in (recorded, here))
            self.note(call, "workspace", one, other, "workspaceSize")

    def describe(self, path: Path) -> None:
        """Add the arguments of the calls at which the answers part, as the trace has them."""
        wanted = {each.call for each in self.divergences if each.kind != "calls"}
        arguments = arguments_of(path, wanted)
        self.divergences = [
            replace(each, arguments=arguments.get(each.call, "") if each.kind != "calls" else "")
            for each in self.divergences
        ]

    def compare_contents(
        self, call: Call | CallId, recorded: Contents, answer: int, data: bytes | None, *,
        exact: bool,
    ) -> None:  # fmt: skip
        """Compare a result.

        Args:
            call: The call that wrote it.
            recorded: The recorded contents.
            answer: The hash of those of this machine.
            data: Those, or None if they are not known.
            exact: True if they must have the same bits.
        """
        self.judged[call.name] += 1
        dtype = recorded.tensor.dtype
        if recorded.hash == answer:
            return
        if recorded.data is None or data is None or dtype is None:
            words = (f"hash {recorded.hash:016x}", f"hash {answer:016x}")
            text = "the contents were not recorded; capture with --contents full to judge them"
            self.note(call, "result", *words, recorded.argument, text)
            return
        arrays = [np.frombuffer(each, dtype).reshape(recorded.shape)
                  for each in (recorded.data, data)]  # fmt: skip
        found = difference(*arrays, exact=exact)
        if found is not None:
            one, other = (repr(array[found[0]].item()) for array in arrays)
            self.note(call, "result", one, other, recorded.argument, found[1], found[0])

    def text(self) -> str:
        """Return it in words, a line for each divergence."""
        lines = [*map(str, self.divergences), *self.incomplete]
        results = _count(self.judged.total(), "result")
        counts = f"{_count(self.calls, 'call')} {self.done}, {results} compared"
        if self.unjudged:
            why = "contents were not recorded, or results not written here"
            counts += f", {self.unjudged.total()} not comparable ({why})"
        if self.by_status.total():
            operators = _count(self.by_status.total(), "operator")
            counts += f", {operators} judged by the status only"
        for kind, skipped in (("skipped", self.skipped), (_UNMADE, self.unmade)):
            if skipped:
                number = _count(skipped.total(), "call")
                counts += f", {number} {kind} ({', '.join(sorted(skipped))})"
        if self.received:
            names = ", ".join(sorted(self.received))
            counts += f", {_count(self.received.total(), 'result')} of peers taken ({names})"
        for device, here in self.moved.items():
            counts += f", device {device} replayed on device {here}"
        if all(self.chips) and len({*self.chips}) > 1:
            counts += f", recorded on {self.chips[0]}, here {self.chips[1]}"
        found = len(self.divergences)
        lines.append(f"{counts}: {_count(found, 'divergence') if found else 'no divergence'}.")
        return "\n".join(lines)

    def json(self) -> str:
        """Return it as JSON."""
        return msgspec.json.format(msgspec.json.encode(self)).decode()

    def _operators(self) -> dict[str, list[str]]:
        """Return the divergences of each operator, in words."""
        counted = (self.judged, self.unjudged, self.by_status)
        names = sorted({*itertools.chain(*counted), *(d.function for d in self.divergences)})
        return {n: [str(d) for d in self.divergences if d.function == n] for n in names}

    def table(self) -> str:
        """Return a table in Markdown: of each operator, how many results agree."""
        head = ["operator", "compared", "differ", "not comparable", "only the status"]
        rows = [head, ["---"] * len(head)]
        for name, found in self._operators().items():
            counts = [self.judged[name], len(found), self.unjudged[name], self.by_status[name]]
            rows.append([name, *map(str, counts)])
        lines = [f"| {' | '.join(row)} |" for row in rows]
        skipped = sorted({*self.skipped, *self.unmade, *self.received})
        if skipped:
            lines += ["", f"Not replayed: {', '.join(skipped)}."]
        lines += [line for reason in self.incomplete for line in ("", f"{reason}.")]
        sides = zip((self.trace, self.backend), self.chips, strict=True)
        names = [f"{name} ({chip})" if chip else name for name, chip in sides]
        word = " on " if self.done.startswith("replayed") else " and "
        return "\n".join([word.join(names), "", *lines])

    def junit(self) -> str:
        """Return JUnit XML: a case for each operator."""
        found = self._operators()
        skipped = {n for n in found if self.unjudged[n] and not self.judged[n] and not found[n]}
        counts = {"tests": len(found), "failures": sum(map(bool, found.values())),
                  "errors": 0, "skipped": len(skipped)}  # fmt: skip
        attributes = {"name": f"{self.trace} {self.done}", **{n: str(c) for n, c in counts.items()}}
        suites = ET.Element("testsuites", attributes)
        suite = ET.SubElement(suites, "testsuite", attributes)
        if self.incomplete:
            properties = ET.SubElement(suite, "properties")
            for reason in self.incomplete:
                ET.SubElement(properties, "property", name="incomplete", value=reason)
        for name, texts in found.items():
            case = ET.SubElement(suite, "testcase", name=name, classname="pyaclnn.capture")
            if texts:
                first = texts[0].partition("\n")[0]
                ET.SubElement(case, "failure", message=first).text = "\n".join(texts)
            elif name in skipped:
                ET.SubElement(case, "skipped", message="contents were not recorded")
        text: bytes = ET.tostring(suites, "utf-8", xml_declaration=True)
        return text.decode()


def difference(
    recorded: NDArray[Any], here: NDArray[Any], *, exact: bool = False
) -> tuple[tuple[int, ...], str] | None:
    """Return where two results differ most, and how; by CANN's accuracy standard unless exact."""
    dtype = recorded.dtype
    if recorded.tobytes() == here.tobytes():
        return None
    if not exact and (dtype.kind in "biu" or dtype in TOLERANCES):
        verdict = judge(here, recorded)
        return None if verdict.passed else (verdict.worst or (), str(verdict))
    item = np.dtype((np.void, dtype.itemsize))
    differ = recorded.view(item) != here.view(item)
    place = tuple(int(i) for i in np.argwhere(differ.reshape(recorded.shape))[0])
    return place, f"{int(differ.sum())} of {recorded.size} elements have other bits"
