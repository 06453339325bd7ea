# SPDX-License-Identifier: Apache-2.0
"""A plan: phase 1 of an operator once, phase 2 as often as wanted."""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any, Protocol

from pyaclnn._binding import lib
from pyaclnn.calling.arguments import describe, value_of
from pyaclnn.calling.launch import UNTIDY, failure, launcher, make_way, report_untidy
from pyaclnn.cann import raw
from pyaclnn.cann.gate import silence
from pyaclnn.errors import ContextError, InvalidArgumentError
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.handle import count_live
from pyaclnn.runtime.shapes import overlap
from pyaclnn.runtime.stream import Stream, require_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from typing_extensions import Self

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.runtime.layout import Layout

# Looked up once, not at every run.
_run: Any = lib.binding_plan_run
_bind: Any = lib.binding_plan_bind

__all__ = ["Plan", "Planned", "plan"]


class Planned(Protocol):
    """A call that was checked and has all its arrays, but was not made."""

    operator: str
    stream: Stream
    arguments: Sequence[Argument]
    names: Sequence[str]
    result_names: Sequence[str]

    def result(self, arguments: Sequence[Argument]) -> Any:
        """Return the named results among the arguments."""


class Plan:
    """An operator with its arguments, ready to be run again and again.

    Phase 1 has been run; ``run`` is phase 2 alone. Where CANN refuses to keep the executor, because
    it answered phase 1 from its cache or because of what the operator does inside, each run does
    both phases and gives the same results: see ``repeatable``. A plan keeps the memory it uses.
    """

    def __init__(self, planned: Planned) -> None:
        """Run phase 1; called by :func:`plan`."""
        self._planned = planned
        self._stream = planned.stream
        self._context = self._stream.device.context
        self._arguments = list(planned.arguments)
        self._launcher = launcher(planned.operator)
        # Name -> where the array stands among those that are given, and among all; its layout.
        self._slots: dict[str, tuple[int, int, Layout]] = {}
        for place, argument in enumerate(self._arguments):
            if isinstance(argument, DeviceArray):
                slot = (len(self._slots), place, argument.layout)
                self._slots[planned.names[place]] = slot
        self._first_result = min(planned.names.index(name) for name in planned.result_names)
        self._struct: Any = raw.ffi.new("struct binding_plan *")
        values = [value_of(argument) for argument in self._arguments]
        count = self._launcher.tensor_count(self._arguments)
        status = self._launcher.function(self._stream.timeline.struct, self._struct, count, *values)
        if status:
            self._launcher.settle(status, self._stream, self._arguments, self._struct)
        self._repeatable = bool(self._struct.repeatable)
        if self._repeatable:
            count_live("plan", +1)
        device = self._stream.device.resource
        device.pin()
        self._finalizer = weakref.finalize(
            self, _release, self._struct, self._repeatable, device.unpin
        )
        self._note_results()

    @property
    def workspace_size(self) -> int:
        """Bytes of workspace that a run needs, as phase 1 said."""
        return int(self._struct.workspace_size)

    @property
    def repeatable(self) -> bool:
        """Whether a run is phase 2 alone; if not, it is both phases."""
        return self._repeatable

    @property
    def results(self) -> Any:
        """The arrays that a run writes, by name."""
        return self._results

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return not self._finalizer.alive

    def run(self, *, stream: Stream | None = None, **arrays: DeviceArray) -> Any:
        """Queue the operator, without waiting for it.

        Args:
            stream: Where; the stream of the plan if None.
            **arrays: Other arrays for arguments and results, by their names in the operator's
                signature and result, of equal layout. They stay until others are given.

        Returns:
            The results, as the operator itself returns them.

        Raises:
            InvalidArgumentError: A name is unknown, a layout differs, or arrays overlap; the arrays
                are those of before.
            AclError: CANN refused the call.
        """
        queue = self._stream if stream is None else stream
        timeline = queue.current if queue.__class__ is Stream else None
        if timeline is None or timeline.context != self._context:
            queue = require_stream("Plan.run", queue, self._stream.device)
            timeline = queue.timeline
        if timeline.crowded:
            queue.catch_up()
        if arrays:
            self._bind(arrays)
        if self._repeatable:
            status = _run(self._struct, timeline.struct)
            if status:
                self._settle(status, queue)
        else:
            self._run_afresh(queue)
        return self._results

    def _run_afresh(self, queue: Stream) -> None:
        if self.closed:
            self._refuse_closed()
        values = [value_of(argument) for argument in self._arguments]
        count = self._launcher.tensor_count(self._arguments)
        status = self._launcher.function(queue.timeline.struct, raw.NULL, count, *values)
        if status:
            self._launcher.settle(status, queue, self._arguments)

    def _settle(self, status: int, queue: Stream) -> None:
        if self.closed:
            self._refuse_closed()
        while status and make_way(status, queue, self._arguments):
            status = lib.binding_plan_run(self._struct, queue.timeline.struct)
        if status == UNTIDY:
            report_untidy()
        elif status:
            raise failure(status, describe(self._launcher.names, self._arguments))

    def _refuse_closed(self) -> NoReturn:
        message = "this plan is closed.\nHint: make another one, or close it later."
        raise ContextError(message, routine="Plan.run")

    def _bind(self, arrays: dict[str, DeviceArray]) -> None:
        """Bind other arrays; all but inputs in memory of their own are looked at closely."""
        slots, written = self._slots, self._written
        index = place = 0
        for name, array in arrays.items():
            slot = slots.get(name)
            if slot is None or array.__class__ is not DeviceArray:
                return self._bind_closely(arrays)
            index, place, layout = slot
            memory = array.memory
            if array.layout is not layout or place >= self._first_result:
                return self._bind_closely(arrays)
            if memory in written or memory.borrowed or not self._repeatable:
                return self._bind_closely(arrays)
        if len(arrays) > 1:
            return self._set_addresses(arrays)
        # The usual case, in as few steps as can be.
        status = _bind(self._struct, index, array.tensor)
        if status:
            self._take_back(name, arrays, status)
        self._arguments[place] = array
        return None

    def _bind_closely(self, arrays: dict[str, DeviceArray]) -> None:
        if self.closed:
            self._refuse_closed()
        wanted = list(self._arguments)
        given: dict[str, Any] = dict(arrays)
        for name, array in given.items():
            if name not in self._slots:
                expected = f"one of {', '.join(self._slots)}"
                raise InvalidArgumentError.of("Plan.run", name, "no array of this plan", expected)
            _, place, layout = self._slots[name]
            if not isinstance(array, DeviceArray) or array.layout is not layout or array.closed:
                self._refuse(name, array)
            wanted[place] = array
        self._check_overlap(wanted)
        if self._repeatable:
            self._set_addresses(arrays)
        else:
            self._arguments = wanted
        self._note_results()

    def _set_addresses(self, arrays: dict[str, DeviceArray]) -> None:
        """Give the executor all of the arrays, or none."""
        slots = self._slots
        for name, array in arrays.items():
            status = _bind(self._struct, slots[name][0], array.tensor)
            if status:
                self._take_back(name, arrays, status)
        for name, array in arrays.items():
            self._arguments[slots[name][1]] = array

    def _take_back(self, refused: str, arrays: dict[str, DeviceArray], status: int) -> NoReturn:
        if self.closed:
            self._refuse_closed()
        error = None
        if status > 0:
            wanted = list(self._arguments)
            for name, array in arrays.items():
                wanted[self._slots[name][1]] = array
            error = failure(status, describe(self._launcher.names, wanted))
        for name in itertools.takewhile(lambda name: name != refused, arrays):
            index, place, _ = self._slots[name]
            before: Any = self._arguments[place]
            if _bind(self._struct, index, before.tensor):
                # What the executor would use is not known, and nobody keeps it alive.
                self.close()
        if error is not None:
            raise error
        self._refuse(refused, arrays[refused])

    def _check_overlap(self, arguments: list[Argument]) -> None:
        arrays = [
            (name, array)
            for name, (_, place, _) in self._slots.items()
            if isinstance(array := arguments[place], DeviceArray)
        ]
        for name, result in arrays:
            if self._slots[name][1] < self._first_result:
                continue
            for other_name, other in arrays:
                if name != other_name and _may_touch(result, other):
                    given = f"an array that shares memory with '{other_name}'"
                    expected = "an array apart from all others"
                    raise InvalidArgumentError.of("Plan.run", name, given, expected)

    def _note_results(self) -> None:
        results = self._arguments[self._first_result :]
        self._written = {a.memory for a in results if isinstance(a, DeviceArray)}
        self._results = self._planned.result(self._arguments)

    def _refuse(self, name: str, array: object) -> NoReturn:
        bound = self._arguments[self._slots[name][1]]
        expected = f"an open array of layout and offset of the one in place: {bound!r}"
        raise InvalidArgumentError.of("Plan.run", name, repr(array), expected)

    def close(self) -> None:
        """Give the executor and its descriptors back. Closing twice is harmless."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        kind = (
            "closed" if self.closed else "repeatable" if self._repeatable else "both phases a run"
        )
        return f"<Plan of {self._launcher.operator}, {kind}>"


def _may_touch(result: DeviceArray, other: DeviceArray) -> bool:
    """Tell whether two arrays have a byte in common."""
    mine, theirs = result.memory, other.memory
    if mine is not theirs and not (mine.borrowed or theirs.borrowed):
        return False
    return overlap(result.phantom(), other.phantom())


def _release(struct: Any, repeatable: bool, unpin_device: Callable[[], None]) -> None:
    if repeatable:
        count_live("plan", -1)
        if not silence.finalised and lib.binding_plan_close(struct):
            report_untidy()
    unpin_device()


def plan(operator: Callable[..., Any], *arguments: Any, **options: Any) -> Plan:
    """Prepare an operator to be run again and again.

    Args:
        operator: A public operator, e.g. ``rms_norm_grad``.
        *arguments: Its arguments; arrays must be device arrays.
        **options: Its options, among them ``stream`` and ``out``.

    Returns:
        The plan, whose results are allocated unless given as ``out``.

    Raises:
        InvalidArgumentError: The operator would refuse the arguments, or they lie on the host.
        AclError: CANN refused phase 1.
    """
    prepare = getattr(operator, "prepare", None)
    if prepare is None:
        expected = "an operator of pyaclnn.ops"
        raise InvalidArgumentError.of("plan", "operator", repr(operator), expected)
    return Plan(prepare(*arguments, **options).planned())
