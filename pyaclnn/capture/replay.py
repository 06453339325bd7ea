# SPDX-License-Identifier: Apache-2.0
"""Replay of a trace on this machine's backend.

The calls are made again one after the other, in the order in which they ended, each thread's by a
thread of its own. Addresses and handles are replaced by those of this run. Before an operator, the
contents of its inputs are compared with the recorded ones and corrected, so that one difference is
reported once.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.errors import MissingSymbolError
from pyaclnn.base.printable import harmless
from pyaclnn.cann import raw
from pyaclnn.cann.gate import text
from pyaclnn.cann.library import backend, function
from pyaclnn.capture.contents import AFTER, BEFORE, ContentsOf
from pyaclnn.capture.descriptors import Descriptors
from pyaclnn.capture.left import Left
from pyaclnn.capture.library import content_hash
from pyaclnn.capture.memory import Memory
from pyaclnn.capture.roles import role_of
from pyaclnn.capture.tensor import made_up
from pyaclnn.capture.trace import Call, Chip, bytes_of, read_trace
from pyaclnn.capture.translation import Translation, UnknownHandleError
from pyaclnn.capture.verdict import TIMED_OUT, Answer, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from pyaclnn.capture.roles import Role
    from pyaclnn.capture.tensor import Tensor
    from pyaclnn.capture.trace import Contents

__all__ = ["replay"]

_COMPUTES: Final = frozenset({"phase-2", "graph-run"})
_DEVICES: Final = frozenset({"deviceId", "peerDeviceId"})
_PATIENCE_MS: Final = 1000
"""For streams that another call may have to let go on."""


def replay(path: Path, *, exact: bool = False, fail_early: bool = False) -> Outcome:
    """Run the calls of a trace again, and compare the answers.

    Args:
        path: The trace of one process.
        exact: True if results must have the same bits; else CANN's accuracy standard decides.
        fail_early: True if the first divergence ends the replay.

    Raises:
        TraceError: The file is no trace.
        BackendNotFoundError: There is no backend.
    """
    until = bytes_of(path)
    with ContentsOf.of(path, until) as contents:
        outcome = Outcome(harmless(path.name), backend().name, f"replayed on {backend().name}")
        outcome.note_end(outcome.trace, contents.incomplete)
        run = _Replay(outcome, contents, exact=exact)
        for record in read_trace(path, until):
            if isinstance(record, Chip):
                outcome.chips = (record.name, outcome.chips[1])
            elif isinstance(record, Call):
                run.make(record)
                if run.has_no_device:
                    outcome.incomplete.append(
                        f"the replay ends at call {record.number}: without a device, all later "
                        "calls would differ"
                    )
                    break
                if fail_early and outcome.divergences:
                    break
        run.finish()
    outcome.describe(path)
    return outcome


class _Replay:
    def __init__(self, outcome: Outcome, contents: ContentsOf, *, exact: bool) -> None:
        self._outcome = outcome
        self._contents = contents
        self._exact = exact
        self._memory = Memory()
        self._descriptors = Descriptors()
        self._translation = Translation(self._memory, self._descriptors, contents)
        self._needed: dict[int, int] = {}
        self._comparable = True
        self._results: list[tuple[Contents, NDArray[np.uint8] | None]] = []
        """Those of the current call, and what is in their memory before it."""
        self._devices = 0
        self._placed: dict[int, int] = {}
        self._left = Left(self._in_thread)
        self._threads: dict[int, ThreadPoolExecutor] = {}
        self.has_no_device = False
        """True after a device or a context that could be chosen in the trace, and not here."""
        self._missing: set[str] = set()

    def make(self, call: Call) -> None:
        """Make a call again, in the thread for those of its thread."""
        if call.number and not self._threads:  # a part of a trace does not begin with it
            function("aclInit")(raw.NULL)
        if not self._threads:
            count = raw.ffi.new("uint32_t *")
            function("aclrtGetDeviceCount")(count)
            self._devices = int(count[0])
            self._outcome.chips = (self._outcome.chips[0], text("aclrtGetSocName") or "")
        role = role_of(call.name)
        call = self._moved(call)
        if "reset" in role and not call.failed:
            if call.arguments:
                device = call.handle(next(iter(call.arguments)))
                self._left.reset(device, force="forces" in role)
            else:
                self._left.end()
        self._in_thread(call.thread, self._make, call)

    def _moved(self, call: Call) -> Call:
        """Return a call on a device that this machine lacks as one on another."""
        moved = {}
        for name in call.arguments.keys() & _DEVICES:
            device, here = call.handle(name), self._devices
            if call.letters[name] in "iu" and 0 < here <= device:
                moved[name] = self._outcome.moved[device] = device % here
        return call._replace(arguments=call.arguments | moved) if moved else call

    def _in_thread(self, thread: int, work: Callable[..., None], *arguments: Any) -> None:
        if thread not in self._threads:
            self._threads[thread] = ThreadPoolExecutor(1)
        self._threads[thread].submit(work, *arguments).result()

    def _make(self, call: Call) -> None:
        role = role_of(call.name)
        if not role & {"run", "peer"}:
            self._outcome.skipped[call.name] += 1
            return
        if "places" in role and self._placed.get(call.thread) == call.number:
            return  # a part of a trace repeats what chose the place of its calls
        if "peer" in role:
            self._put_received(call)
            return
        try:
            self._run(call, role)
        except UnknownHandleError:
            self._outcome.unmade[call.name] += 1
            return
        except MissingSymbolError:
            self._outcome.skipped[call.name] += 1
            if call.name not in self._missing:  # once, not at each of its calls
                self._missing.add(call.name)
                self._outcome.note(call, "function", str(call.result), "not in the libraries")
            return
        self._outcome.calls += 1

    def finish(self) -> None:
        """End what a part of a trace has not ended, and the threads."""
        for stream, number in self._memory.captured.items():
            end, model = function("aclmdlRICaptureEnd"), raw.ffi.new("aclmdlRI *")
            self._in_thread(number, end, raw.pointer_to(stream), model)
            self._in_thread(number, function("aclmdlRIDestroy"), model[0])
        self._left.synchronize()
        self._memory.free()
        self._left.end()
        for thread in self._threads.values():
            thread.shutdown()

    def _run(self, call: Call, role: Role) -> None:
        answers: dict[str, Any] = {}
        target = function(call.name)
        arguments = self._translation.of(call, target, answers)
        if "phase-2" in role:
            self._give_workspace(call, arguments)
        if role & _COMPUTES:
            self._before(call)
        if "reset" in role:
            self._memory.free()
        result = target(*arguments)
        if isinstance(call.result, int) and not isinstance(result, int) and result is not None:
            result = raw.address_of(result) if raw.is_pointer(result) else int(result)
        failed = call.failed or ("p" not in role and bool(result))
        loose = "loose" in role or TIMED_OUT in {call.result, result}
        loose |= "finds" in role and bool(self._outcome.moved)  # that of the other device
        if "p" not in role and not loose and isinstance(call.result, int):
            here = self._answer(call, int(result or 0), answers)
            self._outcome.compare_answers(call, Answer.of(call), here)
            self.has_no_device |= "places" in role and call.result == 0 and here.status != 0
        if role & {"graph-begin", "graph-end"}:
            stream = self._translation.address(call.handle("stream"))
            self._memory.note_capture(role, call.result, stream, call.thread)
        if not failed:
            self._learn(call, role, result, answers)
            if role & _COMPUTES:
                self._after(call)
        if role & {"synchronize", "drain", "reset"}:
            self._translation.kept.clear()

    # State.

    def _learn(self, call: Call, role: Role, result: Any, answers: dict[str, Any]) -> None:
        """Note the handles, addresses and descriptors that a call has made."""
        for name, memory in answers.items():
            old, new = call.handle(name), int.from_bytes(raw.ffi.buffer(memory)[:8], "little")
            if not call.letters[name].startswith("o>") or old == 0:
                continue
            if role.word("block"):
                self._memory.add(old, call.handle(role.word("block")), new)
            self._translation.handles[old] = new
            self._left.add(call, role, new)
        if "p" in role and isinstance(call.result, int) and call.result:
            self._translation.handles[call.result] = int(result)
            self._left.add(call, role, int(result))
            if call.name.endswith("List"):
                for element in call.numbers("value"):  # ends with its list
                    self._left.remove(self._translation.handles.get(element, 0))
        self._descriptors.learn(call)
        if "places" in role:
            self._placed[call.thread] = call.number
        first = next(iter(call.arguments.values()), None)
        if "phase-1" not in role and isinstance(first, int):
            self._note_first(call, role, first)

    def _note_first(self, call: Call, role: Role, first: int) -> None:
        """Note what a call has done to its first argument."""
        if "maps" in role:
            here = self._translation.address(first)
            if "destroys" in role:
                self._left.remove(here, mapping=True)
            else:
                self._left.add(call, role, here)
        elif "destroys" in role:
            self._left.remove(self._translation.handles.pop(first, 0))
            self._memory.remove(first)
        elif role & {"places", "repeatable"}:
            self._left.add(call, role, self._translation.handles.get(first, first))

    def _answer(self, call: Call, status: int, answers: dict[str, Any]) -> Answer:
        """Return the answer to a call, in the thread that has made it."""
        if status:
            return Answer(status, None, text("aclGetRecentErrMsg"))
        needed = None
        if "workspaceSize" in answers:
            needed = int.from_bytes(raw.ffi.buffer(answers["workspaceSize"])[:8], "little")
            self._needed[call.handle("executor")] = needed
        return Answer(0, needed)

    # Contents.

    def _give_workspace(self, call: Call, arguments: list[Any]) -> None:
        """Give an operator the workspace that it needs here."""
        needed = self._needed.get(call.handle("executor"))
        if needed is None:
            raise UnknownHandleError
        if needed > call.handle("workspaceSize") or (needed and not arguments[0]):
            arguments[0] = raw.pointer_to(self._memory.allocate(needed))
            arguments[1] = needed
        self._left.launch(self._translation.address(call.handle("executor")))

    def _before(self, call: Call) -> None:
        """Give an operator or a graph the recorded inputs."""
        self._comparable = not self._contents.absent(call.number, BEFORE)
        inputs = self._contents.take(call.number, BEFORE)
        idle = False
        given = {contents.begin for contents in inputs}
        self._results = [
            (each, None if each.begin in given else self._read(each.tensor, call))
            for each in self._contents.take(call.number, AFTER)
        ]
        for contents in inputs:
            tensor = contents.tensor
            memory = self._read(tensor, call)
            if memory is None:
                self._comparable = False
                continue
            view = tensor.view(memory)
            if content_hash(np.ascontiguousarray(view).tobytes()) == contents.hash:
                continue
            if contents.data is None:
                plain = _plain(view, contents.hash)
                self._comparable &= plain is not None
                view[...] = made_up(tensor, contents.hash) if plain is None else plain
            else:
                view[...] = np.frombuffer(contents.data, view.dtype).reshape(view.shape)
            if not (idle or self._memory.captured):  # another stream may use this memory
                function("aclrtSynchronizeDeviceWithTimeout")(_PATIENCE_MS)
                idle = True
            self._memory.write(tensor.begin, memory)

    def _after(self, call: Call) -> None:
        judged = self._outcome.judged.total()
        if absent := len(self._contents.absent(call.number, AFTER)):
            self._outcome.unjudged[call.name] += absent
        for contents, before in self._results:
            memory = self._read(contents.tensor, call) if self._comparable else None
            if memory is not None:
                here = np.ascontiguousarray(contents.tensor.view(memory)).tobytes()
                answer = content_hash(here)
                # An operator leaves a result alone that its arguments turn off.
                if answer == contents.hash or before is None or (memory != before).any():
                    given = (call, contents, answer, here)
                    self._outcome.compare_contents(*given, exact=self._exact)
                    continue
            self._outcome.unjudged[call.name] += 1
        # Operators in a graph are judged when it runs.
        if judged == self._outcome.judged.total() and not self._memory.captured:
            self._outcome.by_status[call.name] += 1

    def _read(self, tensor: Tensor, call: Call) -> NDArray[np.uint8] | None:
        """Return the bytes from the first to the last element, when the stream has passed."""
        stream = call.handle("stream") if "stream" in call.arguments else 0
        return self._memory.read(tensor.begin, tensor.span, self._translation.address(stream))

    def _put_received(self, call: Call) -> None:
        """Write what the peers have sent: their calls are no part of this trace."""
        self._outcome.received[call.name] += 1
        for contents in self._contents.take(call.number, AFTER):
            stream = self._translation.address(call.handle("stream"))
            function("aclrtSynchronizeStream")(raw.pointer_to(stream))
            if contents.data is None or not self._memory.write(contents.begin, contents.data):
                self._outcome.unjudged[call.name] += 1


def _plain(like: NDArray[Any], wanted: int) -> NDArray[Any] | None:
    """Return zeros or ones, if the hash is theirs: so these need no recorded contents."""
    arrays = (np.full(like.shape, value, like.dtype) for value in (0, 1))
    return next((each for each in arrays if content_hash(each.tobytes()) == wanted), None)
