# SPDX-License-Identifier: Apache-2.0
"""A plan: phase 1 of an operator once, phase 2 as often as wanted."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Protocol

from pyaclnn import raw
from pyaclnn._binding import lib
from pyaclnn.arguments import describe, value_of
from pyaclnn.array import DeviceArray
from pyaclnn.call import silence
from pyaclnn.errors import ContextError, InvalidArgumentError
from pyaclnn.handle import count_live
from pyaclnn.launch import failure, launcher, make_way
from pyaclnn.stream import Stream, require_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from typing_extensions import Self

    from pyaclnn.arguments import Argument
    from pyaclnn.layout import Layout

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
        status = self._launcher.function(self._stream.lane.struct, self._struct, count, *values)
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
        self._results = planned.result(self._arguments)

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
            InvalidArgumentError: A name is unknown, or a layout differs.
            AclError: CANN refused the call.
        """
        for name, array in arrays.items():
            known = self._slots.get(name)
            if known is None or getattr(array, "layout", None) is not known[2]:
                self._bind(name, array)
                continue
            index, place, _ = known
            if _bind(self._struct, index, array.tensor) or place >= self._first_result:
                self._bind(name, array)
            else:
                self._arguments[place] = array
        queue = self._stream if stream is None else stream
        lane = getattr(queue, "current", None)
        if lane is None or lane.context != self._context:
            queue = require_stream("Plan.run", stream, self._stream.device)
            lane = queue.lane
        if lane.crowded:
            queue.catch_up()
        if self._repeatable:
            status = _run(self._struct, lane.struct)
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
        status = self._launcher.function(queue.lane.struct, raw.NULL, count, *values)
        if status:
            self._launcher.settle(status, queue, self._arguments)

    def _settle(self, status: int, queue: Stream) -> None:
        if self.closed:
            self._refuse_closed()
        while status and make_way(status, queue, self._arguments):
            status = lib.binding_plan_run(self._struct, queue.lane.struct)
        if status:
            raise failure(status, describe(self._launcher.names, self._arguments))

    def _refuse_closed(self) -> NoReturn:
        message = "this plan is closed.\nHint: make another one, or close it later."
        raise ContextError(message, routine="Plan.run")

    def _bind(self, name: str, array: Any) -> None:
        """Bind an array with a close look at it."""
        known = self._slots.get(name)
        if known is None:
            expected = f"one of {', '.join(self._slots)}"
            raise InvalidArgumentError.of("Plan.run", name, "no array of this plan", expected)
        index, place, layout = known
        bound = self._arguments[place]
        if not isinstance(array, DeviceArray) or array.layout is not layout or array.closed:
            self._refuse(name, array, bound)
        if self._repeatable:
            status = _bind(self._struct, index, array.tensor)
            if status:
                self._settle_binding(status, name, array, bound)
        self._arguments[place] = array
        if place >= self._first_result:
            self._results = self._planned.result(self._arguments)

    def _settle_binding(self, status: int, name: str, array: DeviceArray, bound: object) -> None:
        if self.closed:
            self._refuse_closed()
        if status < 0:
            self._refuse(name, array, bound)
        raise failure(status, describe(self._launcher.names, self._arguments))

    def _refuse(self, name: str, array: object, bound: object) -> NoReturn:
        expected = f"an open array of layout, offset and buffer size of the one in place: {bound!r}"
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


def _release(struct: Any, repeatable: bool, unpin_device: Callable[[], None]) -> None:
    if repeatable:
        count_live("plan", -1)
        if not silence.finalised:
            lib.binding_plan_close(struct)
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
