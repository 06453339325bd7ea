# SPDX-License-Identifier: Apache-2.0
"""Plans: phase 1 of an operator once, phase 2 as often as wanted."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any, Generic

from pyaclnn._binding import lib
from pyaclnn.base.errors import ContextError, InvalidArgumentError, repr_of
from pyaclnn.base.locks import reentrant_lock
from pyaclnn.calling.arguments import frozen
from pyaclnn.calling.call import Call, Interface
from pyaclnn.calling.launch import (
    CLEANUP_FAILED,
    OVERLAP,
    TRIES,
    failure,
    make_way,
    release_plan,
    report_cleanup,
    settle,
)
from pyaclnn.calling.operator import NO_PLAN
from pyaclnn.calling.plan_slots import PlanSlots
from pyaclnn.cann import raw
from pyaclnn.cann.gate import silence
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.handle import Resource, finalizer_of
from pyaclnn.runtime.stream import Stream, catch_up, require_stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from typing_extensions import Never, ParamSpec, Self, TypeVar

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.operator import Operator
    from pyaclnn.runtime.foreign import StreamLike

    P = ParamSpec("P")
    R = TypeVar("R", default=Any)  # what the operator returns
else:
    from typing import TypeVar

    R = TypeVar("R")

# Looked up once, not at every run.
_run: Any = lib.binding_plan_run
_run_on: Any = lib.binding_plan_run_on
_run_with: Any = lib.binding_plan_run_with

__all__ = ["Plan", "plan", "plan_operator"]


class Plan(Generic[R]):
    """An operator with its arguments, ready to be run again and again.

    Phase 1 has been run; ``run`` is phase 2 alone. Where CANN refuses to keep the executor, because
    it answered phase 1 from its cache or because of what the operator does inside, each run does
    both phases and gives the same results: see ``repeatable``. A plan keeps the memory it uses.

    Threads may share a plan: they take turns, and a run uses the arrays it was given. Its results
    are overwritten by the next one all the same.

    Examples:
        >>> x, gamma = pyaclnn.ones((2, 4)), pyaclnn.ones(4)
        >>> with pyaclnn.plan(pyaclnn.rms_norm, x, gamma) as step:
        ...     y = step.run(x=pyaclnn.full((2, 4), -2)).y
        >>> x.device.synchronize()
        >>> y.numpy()[0].round(2).tolist()
        [-1.0, -1.0, -1.0, -1.0]
    """

    def __init__(self, call: Call) -> None:
        """Run phase 1 of a validated call; used by :func:`plan`."""
        if call.on_host or call.zeros is not None:
            given = "NumPy arrays" if call.on_host else "arguments for which CANN is not called"
            expected, hint = "device arrays with work to do", "use to_device()."
            raise InvalidArgumentError.of("plan", "arguments", given, expected, hint)
        self._call = call
        self._stream = call.stream
        self._context = self._stream.device._context
        # The arguments that C has; C never has an array that is neither here nor in _coming.
        self._arguments = list(frozen(call.place(self._stream)))
        if not call.overlap_checked:
            call.check_overlap(self._arguments)
        self._operator = call.operator
        self._results: R
        self._coming: dict[str, DeviceArray] | None = None
        self._message: bytes | None = None  # of a run of both phases on the arguments
        self._slots = PlanSlots(call, self._arguments)
        self._lock = reentrant_lock()
        self._struct: Any = raw.ffi.new("struct binding_plan *")
        device = self._stream.device._held
        executor = Resource("plan", None, release_plan, dependencies=(device,))
        executor.pointer = self._struct
        self._finalizer = finalizer_of(self, executor.let_go)
        try:
            self._make(executor)
        except BaseException:
            self._finalizer()
            raise
        self._repeatable = bool(self._struct.repeatable)
        # The two places of each that is only read, if it can be exchanged and needs no check.
        self._readable = self._slots.readable() if self._repeatable else {}
        self._adopt(self._arguments)

    def _make(self, executor: Resource) -> None:
        message = self._operator.message(self._arguments)
        timeline = self._stream._timeline.struct
        status = self._operator.function(timeline, self._struct, 1, message)
        if status:
            settle(self._operator, status, self._stream, self._arguments, message, self._struct)
        if self._struct.repeatable:
            executor.adopt(self._struct)

    @property
    def workspace_size(self) -> int:
        """Bytes of workspace that a run needs, as phase 1 said."""
        return int(self._struct.workspace_size)

    @property
    def repeatable(self) -> bool:
        """True if a run is phase 2 alone; if not, it is both phases."""
        return self._repeatable

    @property
    def results(self) -> R:
        """The arrays that a run writes, by name; a closed plan has none (``ContextError``)."""
        if self.closed:
            self._refuse_closed("Plan.results")
        return self._results

    @property
    def closed(self) -> bool:
        """True if ``close`` was called."""
        return not self._finalizer.alive

    def run(  # noqa: C901  # the fast path makes no call of Python
        self, *unnamed: Never, stream: StreamLike | None = None, **arrays: DeviceArray
    ) -> R:
        """Queue the operator, without waiting for it.

        Args:
            *unnamed: None: arrays go by their names.
            stream: Where; the stream of the plan if None.
            **arrays: Other arrays for arguments and results, by their names in the operator's
                signature and result, of equal layout. They stay until others are given. The plan
                of an operator that takes lists keeps the arrays it was made with.

        Returns:
            The results, as the operator itself returns them.

        Raises:
            InvalidArgumentError: A name is unknown, a layout differs, or arrays overlap; the arrays
                are those of before.
            AclError: CANN refused the call.
        """
        if unnamed:
            self._slots.refuse_unnamed(unnamed[0])
        queue: Any = self._stream if stream is None else stream
        timeline = queue._current if stream is None or self._is_near(stream) else None
        if timeline is None or timeline.crowded:
            queue = require_stream("Plan.run", queue, self._stream.device)
            timeline = queue._timeline
            catch_up(queue)
        if not arrays and self._coming is None:
            status = _run(self._struct, timeline.struct)
            if not status:
                return self._results
            if self._repeatable:
                with self._lock:
                    return self._settle(status, arrays, queue)
        try:  # as ``with`` does, at half its price; no signal comes between this and the lock
            self._lock.acquire()
            if len(arrays) == 1 and self._coming is None:
                # One that is only read, in as few steps as can be: C looks at what there is to see.
                (name,) = arrays
                array, places = arrays[name], self._readable.get(name)
                if type(array) is DeviceArray and places is not None:
                    self._coming = arrays
                    index, place = places
                    status = _run_with(self._struct, timeline.struct, index, array._tensor)
                    if not status and self._coming is arrays:
                        self._arguments[place] = array
                        self._coming = None
                        return self._results
                    if status != OVERLAP:  # which is maybe none, element by element
                        return self._settle(status, arrays, queue)
            return self._run_slow_path(arrays, queue)
        finally:
            try:  # noqa: SIM105  # as above
                self._lock.release()
            except RuntimeError:  # a signal came while it was waited for
                pass

    def _is_near(self, stream: StreamLike) -> bool:
        """Return whether a stream belongs to the context of the plan."""
        if type(stream) is not Stream:
            return False
        timeline = stream._current
        return timeline is not None and timeline.context == self._context

    def _run_slow_path(self, arrays: dict[str, DeviceArray], queue: Stream) -> R:
        """Run on other arrays after all checks."""
        if self.closed:
            self._refuse_closed()
        if self._coming is not None:
            self._take_stock()
        if self._repeatable:
            self._check(arrays)
            self._coming = arrays
            message = self._slots.message(arrays)
            status = _run_on(self._struct, queue._timeline.struct, len(arrays), message)
            return self._settle(status, arrays, queue)
        if arrays or self._message is None:
            self._adopt(self._check(arrays))
            self._message = self._operator.message(self._arguments)
        message = self._message
        status = self._operator.function(queue._timeline.struct, NO_PLAN, 1, message)
        if status:
            settle(self._operator, status, queue, self._arguments, message)
        return self._results

    def _settle(self, status: int, arrays: dict[str, DeviceArray], queue: Stream) -> R:
        """Deal with a run that was not a plain success, or whose arrays have to be noted."""
        if self.closed:
            self._refuse_closed()
        self._coming = arrays
        self._take_stock()
        wanted = self._slots.replaced(self._arguments, arrays)
        if all(
            map(is_, wanted, self._arguments)
        ):  # C has them all: if anything failed, it is the run
            for _ in range(TRIES):
                if not make_way(status, queue, self._arguments):
                    break
                status = _run(self._struct, queue._timeline.struct)
        elif status == raw.BINDING_TORN:
            # The memory that the executor would use is not known, and not kept alive.
            error = failure(status, self._operator.describe(wanted))
            self.close()
            raise error
        elif status < 0:
            self._check(arrays)
            name = next(iter(arrays))
            self._slots.refuse(self._arguments, name, arrays[name])
        if status == CLEANUP_FAILED:
            report_cleanup()
        elif status:
            raise failure(status, self._operator.describe(wanted))
        return self._results

    def _take_stock(self) -> None:
        """Note which of the arrays that were to come C has.

        A run may have been interrupted before that was noted.
        """
        if not self.closed:
            tensors = self._struct.tensors
            self._adopt(self._slots.exchanged(self._arguments, self._coming or {}, tensors))
        self._coming = None

    def _refuse_closed(self, routine: str = "Plan.run") -> NoReturn:
        message = "this plan is closed.\nHint: make another one, or close it later."
        raise ContextError(message, routine=routine)

    def _check(self, arrays: dict[str, DeviceArray]) -> list[Argument]:
        """Check arrays that replace others in an open plan; return all arguments."""
        return self._slots.check(self._arguments, arrays, keep_offset=self._repeatable)

    def _adopt(self, arguments: list[Argument]) -> None:
        results = self._call.result(arguments)
        # No signal comes between these.
        self._arguments, self._results, self._message = arguments, results, None

    def close(self) -> None:
        """Release the executor, its descriptors and the arrays; closing twice has no effect."""
        if silence.forked:  # a thread that is not here may have the lock
            self._finalizer()
            return
        with self._lock:
            self._finalizer()
            self._coming = None
            self._call.arguments, self._arguments = (), []
            self._results = None  # type: ignore[assignment]  # a closed plan returns none

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        kind = (
            "closed" if self.closed else "repeatable" if self._repeatable else "both phases a run"
        )
        return f"<Plan of {self._operator.name}, {kind}>"


def plan_operator(chosen: Operator, *arguments: Argument, stream: Stream) -> Plan[tuple[Any, ...]]:
    """Prepare an operator, by its C signature, to be run again and again.

    Args:
        chosen: The operator.
        *arguments: The arguments of phase 1 in its order, without the two out-parameters.
        stream: The stream of runs that name no other.

    Returns:
        The plan; its results are what the operator writes, in C order, and its arrays go by their
        C names.

    Raises:
        InvalidArgumentError: An argument is not of the type that C takes.
        AclError: CANN refused phase 1.
    """
    places = range(len(chosen.names))
    written = tuple(sorted(chosen.written))
    interface = Interface(
        routine=chosen.name,
        load=lambda: chosen,
        names=chosen.names,
        tensors=tuple(place for place in places if chosen.kinds[place] in "twTW"),
        results=(),
        returned=written,
        make_result=lambda *results: results,
    )
    given = frozen(arguments)
    return Plan(Call(interface, given, stream, writes=written, overlap_checked=True))


def plan(operator: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> Plan[R]:
    """Prepare an operator to be run again and again.

    Args:
        operator: A public operator, e.g. ``rms_norm_grad``, or any other by ``pyaclnn.op``.
        *arguments: Its arguments; arrays must be device arrays.
        **options: Its options, among them ``stream`` and ``out``.

    Returns:
        The plan, whose results are allocated unless given as ``out``.

    Raises:
        InvalidArgumentError: The operator would refuse the arguments, or they lie on the host.
        AclError: CANN refused phase 1.

    Examples:
        >>> x, gamma = pyaclnn.ones((2, 4)), pyaclnn.ones(4)
        >>> with pyaclnn.plan(pyaclnn.rms_norm, x, gamma) as step:
        ...     for _ in range(3):
        ...         y = step.run().y
    """
    prepare = getattr(operator, "prepare", None)
    if prepare is None:
        expected = "an operator of pyaclnn.ops or pyaclnn.aclnn, which its arguments follow"
        raise InvalidArgumentError.of("plan", "operator", repr_of(operator), expected)
    return Plan(prepare(*arguments, **options))
