# SPDX-License-Identifier: Apache-2.0
"""Replay of a trace on this machine's backend.

The calls are made again in the order in which they ended, by one thread. Addresses and handles are
replaced by those of this run. Before an operator, the contents of its inputs are compared with
the recorded ones and corrected, so that one difference is reported once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.errors import MissingSymbolError
from pyaclnn.cann import raw
from pyaclnn.cann.library import backend, function
from pyaclnn.capture.contents import AFTER, BEFORE, OF_HOST, ContentsOf, Places
from pyaclnn.capture.functions import recorded
from pyaclnn.capture.session import content_hash
from pyaclnn.capture.tensors import Descriptors, made_up
from pyaclnn.capture.trace import Call, read_trace
from pyaclnn.capture.verdict import (
    Outcome,
    compare_arrays,
    compare_status,
    function_missing,
    hash_differs,
    workspace_differs,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pyaclnn.capture.tensors import Operand, Tensor
    from pyaclnn.capture.trace import Contents
    from pyaclnn.capture.verdict import Divergence

__all__ = ["replay"]

_TO_DEVICE, _TO_HOST = 1, 2
_CONTEXT: Final = ("aclrtSetDevice", "aclrtSetCurrentContext")
_MANY: Final = 1 << 31
_TIMED_OUT: Final = 507046
"""The status of a wait with a limit, which depends on the machine's speed."""


def replay(path: Path, *, exact: bool = False, fail_early: bool = False) -> Outcome:
    """Run the calls of a trace again, and compare the answers.

    Args:
        path: The trace of one process.
        exact: Whether results must have the same bits; else CANN's accuracy standard decides.
        fail_early: Whether the first divergence ends the replay.

    Raises:
        TraceError: The file is no trace.
        BackendNotFoundError: There is no backend.
    """
    with ContentsOf(path) as contents:
        outcome = Outcome(path.name, backend().name)
        run = _Replay(outcome, contents, exact=exact)
        for record in read_trace(path):
            if isinstance(record, Call):
                run.make(record)
                if fail_early and outcome.divergences:
                    break
        run.finish()
    return outcome


class _UnknownError(Exception):
    """A call cannot be made: an argument of it was not made in this run."""


class _Replay:
    def __init__(self, outcome: Outcome, contents: ContentsOf, *, exact: bool) -> None:
        self._outcome = outcome
        self._contents = contents
        self._exact = exact
        self._handles: dict[int, Any] = {}
        self._places = Places()
        self._descriptors = Descriptors()
        self._needed: dict[int, int] = {}
        self._comparable = True
        self._contexts: dict[int, Call] = {}
        self._thread = 0
        self._graphs = 0
        self._kept: list[Any] = []
        self._begun = False
        self._missing: set[str] = set()

    def make(self, call: Call) -> None:
        """Make a call again."""
        if not self._begun:
            self._begin(call)
        known = recorded(call.name)
        if known is None or not known.role & {"run", "peer"}:
            self._outcome.skipped[call.name] += 1
            return
        if call.thread != self._thread:
            self._switch(call.thread)
        if "peer" in known.role:
            self._put_received(call)
            return
        try:
            self._run(call, known.role)
        except _UnknownError:
            self._outcome.skipped[call.name] += 1
            return
        except MissingSymbolError:
            self._outcome.skipped[call.name] += 1
            if call.name not in self._missing:  # once, not at each of its calls
                self._missing.add(call.name)
                self._note(function_missing(call.number, call.name, str(call.result)))
            return
        self._outcome.calls += 1

    def finish(self) -> None:
        """Wait for what is still running."""
        self._kept.clear()

    def _begin(self, call: Call) -> None:
        """Begin as the program has: a part of a trace may not."""
        self._begun = True
        if call.number:
            function("aclInit")(raw.NULL)
            function("aclrtSetDevice")(0)

    def _switch(self, thread: int) -> None:
        self._thread = thread
        if thread in self._contexts:
            chosen = self._contexts[thread]
            function(chosen.name)(*self._arguments(chosen, function(chosen.name), {}))

    def _run(self, call: Call, role: frozenset[str]) -> None:
        answers: dict[str, Any] = {}
        target = function(call.name)
        arguments = self._arguments(call, target, answers)
        if call.name in _CONTEXT:
            self._contexts[call.thread] = call
        if "phase-2" in role:
            self._before(call, arguments)
        result = target(*arguments)
        if isinstance(call.result, int) and not isinstance(result, int) and result is not None:
            result = raw.address_of(result) if raw.is_pointer(result) else int(result)
        failed = call.failed or ("p" not in role and bool(result))
        loose = "loose" in role or _TIMED_OUT in {call.result, result}
        if "p" not in role and not loose and isinstance(call.result, int):
            self._note(compare_status(call.number, call.name, call.result, int(result or 0)))
        if not failed:
            self._learn(call, role, result, answers)
        if "phase-2" in role and not failed:
            self._after(call)
        if "graph-begin" in role or "graph-end" in role:
            self._graphs = max(0, self._graphs + (1 if "graph-begin" in role else -1))
        if role & {"synchronize", "drain", "reset"}:
            self._kept.clear()

    def _note(self, divergence: Divergence | None) -> None:
        if divergence is not None:
            self._outcome.divergences.append(divergence)

    # Arguments.

    def _arguments(self, call: Call, target: Any, answers: dict[str, Any]) -> list[Any]:
        kind = raw.ffi.typeof(target)
        types = (kind.item if kind.kind == "pointer" else kind).args
        made = []
        for (name, value), c_type in zip(call.arguments.items(), types, strict=True):
            letter = call.letters[name]
            converted = self._argument(call, name, letter, value, answers)
            plain = letter[0] in "dfb"
            made.append(converted if plain else raw.ffi.cast(c_type, converted))
        return made

    def _argument(
        self, call: Call, name: str, letter: str, value: Any, answers: dict[str, Any]
    ) -> Any:
        if letter[0] in "dfb":
            return bool(value) if letter[0] == "b" else value
        if letter[0] in "vnolsS":
            return self._pointed(name, letter, value, answers)
        if letter[0] in "htTaAIFB":
            role = recorded(call.name)
            if role is not None and "copy" in role.role and name in {"dst", "src"}:
                return self._end_of_copy(call, name, value)
            return self._address(value, required=letter[0] != "h" or name in {"executor", "tensor"})
        return value

    def _pointed(self, name: str, letter: str, value: Any, answers: dict[str, Any]) -> Any:
        """Return memory of the host with the argument, or for the answer."""
        if value is None or letter[0] == "S":
            return raw.NULL
        if letter[0] == "s":
            memory = raw.ffi.new("char[]", value.encode())
        elif letter[0] == "o":
            memory = answers[name] = raw.ffi.new("char[]", max(int(letter[1:].lstrip(">")), 16))
        elif isinstance(value, tuple):
            if letter.startswith("l="):
                value = tuple(self._address(handle, required=True) for handle in value)
                memory = raw.ffi.new("uint64_t[]", value)
            else:
                memory = raw.ffi.new("int64_t[]", value)
        else:
            memory = raw.ffi.new("char[]", bytes(value) or b"\0")
        self._kept.append(memory)
        return memory

    def _address(self, value: int, *, required: bool = False) -> int:
        if value == 0:
            return 0
        found = self._handles.get(value)
        if found is None:
            found = self._places.find(value)
        if found is None and required:
            raise _UnknownError
        return 0 if found is None else int(found)

    def _end_of_copy(self, call: Call, name: str, value: int) -> int:
        """Return an address for a copy; of the host, with the recorded contents."""
        kind = call.handle("kind")
        of_host = kind in {0, _TO_DEVICE if name == "src" else _TO_HOST}
        here = self._places.find(value)
        size = max(call.handle("count"), call.handle("destMax") if name == "dst" else 0)
        if not of_host or size >= _MANY:
            return self._address(value, required=True)
        if here is None:
            memory = raw.ffi.new("char[]", max(size, 1))
            self._kept.append(memory)
            here = raw.address_of(memory)
        if name == "src":
            for contents in self._contents.take(call.number, OF_HOST):
                data = contents.data
                if data is None:
                    small = np.random.default_rng(contents.hash).integers(0, 2, contents.size)
                    data = small.astype(np.uint8).tobytes()
                raw.ffi.memmove(raw.pointer_to(here), data, len(data))
        return here

    # State.

    def _learn(
        self, call: Call, role: frozenset[str], result: Any, answers: dict[str, Any]
    ) -> None:
        """Note the handles, addresses and descriptors that a call has made."""
        for name, memory in answers.items():
            old, new = call.handle(name), int.from_bytes(raw.ffi.buffer(memory)[:8], "little")
            if not call.letters[name].startswith("o>") or old == 0:
                continue
            block = next((word.partition("=")[2] for word in role if word.startswith("block=")), "")
            if block:
                self._places.add(old, call.handle(block), new)
            self._handles[old] = new
        if "p" in role and isinstance(call.result, int) and call.result:
            self._handles[call.result] = int(result)
        self._descriptors.learn(call)
        if "phase-1" in role:
            self._compare_workspace(call, answers)
        elif "destroys" in role:
            self._forget(call)

    def _forget(self, call: Call) -> None:
        handle = next(iter(call.arguments.values()), 0)
        if isinstance(handle, int):
            self._handles.pop(handle, None)
            self._places.remove(handle)

    def _compare_workspace(self, call: Call, answers: dict[str, Any]) -> None:
        needed = int.from_bytes(raw.ffi.buffer(answers["workspaceSize"])[:8], "little")
        had = call.handle("workspaceSize")
        self._needed[call.handle("executor")] = needed
        if needed != had:
            self._note(workspace_differs(call.number, call.name, had, needed))

    # Contents.

    def _before(self, call: Call, arguments: list[Any]) -> None:
        """Give an operator the recorded inputs, and the workspace that it needs here."""
        needed = self._needed.get(call.handle("executor"))
        if needed is None:
            raise _UnknownError
        if needed > call.handle("workspaceSize"):
            memory = raw.ffi.new("void **")
            function("aclrtMalloc")(memory, needed, 0)
            arguments[0], arguments[1] = memory[0], needed
        self._comparable = True
        for operand, contents in self._of(call, BEFORE):
            memory = self._read(operand.tensor, call)
            if memory is None:
                self._comparable = False
                continue
            view = operand.tensor.view(memory)
            if content_hash(np.ascontiguousarray(view).tobytes()) == contents.hash:
                continue
            if contents.data is None:
                self._comparable = False
                view[...] = made_up(operand.tensor, contents.hash)
            else:
                view[...] = np.frombuffer(contents.data, view.dtype).reshape(view.shape)
            self._write(operand.tensor, memory)

    def _after(self, call: Call) -> None:
        for operand, contents in self._of(call, AFTER):
            name = call.name
            if not self._comparable:
                self._outcome.unjudged[name] += 1
                continue
            memory = self._read(operand.tensor, call)
            if memory is None:
                self._outcome.unjudged[name] += 1
                continue
            self._outcome.judged[name] += 1
            here = np.ascontiguousarray(operand.tensor.view(memory))
            if content_hash(here.tobytes()) == contents.hash:
                continue
            argument = operand.name + (f"[{operand.element}]" if operand.element else "")
            if contents.data is None:
                answer = content_hash(here.tobytes())
                self._note(hash_differs(call.number, name, argument, contents.hash, answer))
            else:
                before = np.frombuffer(contents.data, here.dtype).reshape(here.shape)
                self._note(compare_arrays(call.number, name, argument, before, here,
                                          exact=self._exact))  # fmt: skip

    def _of(self, call: Call, phase: int) -> list[tuple[Operand, Contents]]:
        if self._graphs:
            return []
        launch = self._descriptors.launch(call.handle("executor"))
        places = {(o.parameter, o.element): o for o in launch.operands} if launch else {}
        found = self._contents.take(call.number, phase)
        pairs = ((places.get((c.parameter, c.element)), c) for c in found)
        return [(operand, c) for operand, c in pairs if operand is not None]

    def _read(self, tensor: Tensor, call: Call) -> NDArray[np.uint8] | None:
        """Return the bytes from the first to the last element, when the stream has passed."""
        here, size = self._places.find(tensor.begin), tensor.span
        if here is None or size == 0:
            return None
        stream = self._address(call.handle("stream"))
        waited = function("aclrtSynchronizeStream")(raw.pointer_to(stream))
        memory = np.empty(size, np.uint8)
        target = raw.ffi.cast("void *", raw.ffi.from_buffer(memory))
        status = function("aclrtMemcpy")(target, size, raw.pointer_to(here), size, _TO_HOST)
        return None if waited or status else memory

    def _write(self, tensor: Tensor, memory: NDArray[np.uint8]) -> None:
        here = self._places.find(tensor.begin)
        source = raw.ffi.cast("void *", raw.ffi.from_buffer(memory))
        if here is not None:
            target = raw.pointer_to(here)
            function("aclrtMemcpy")(target, memory.size, source, memory.size, _TO_DEVICE)

    def _put_received(self, call: Call) -> None:
        """Write what the peers have sent: their calls are no part of this trace."""
        names = list(call.arguments)
        for contents in self._contents.take(call.number, AFTER):
            here = self._places.find(call.handle(names[contents.parameter]))
            if here is None or contents.data is None:
                self._outcome.unjudged[call.name] += 1
                continue
            stream = self._address(call.handle("stream"))
            function("aclrtSynchronizeStream")(raw.pointer_to(stream))
            source = raw.ffi.from_buffer(contents.data)
            size = contents.size
            function("aclrtMemcpy")(raw.pointer_to(here), size, source, size, _TO_DEVICE)
