# SPDX-License-Identifier: Apache-2.0
"""An NPU, opened by this library or by the host application."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from pyaclnn.base.errors import AclError, InvalidArgumentError, repr_of, text_of
from pyaclnn.base.locks import reentrant_lock
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch, hold, let_go, report, silence, text
from pyaclnn.cann.waiting import wait_for
from pyaclnn.runtime.context import (
    Activation,
    Guest,
    context_before,
    current_context,
    restore_context,
)
from pyaclnn.runtime.handle import Handle, Resource
from pyaclnn.runtime.initialization import ensure_runtime
from pyaclnn.runtime.progress import end_work, leave_stream, waiting
from pyaclnn.runtime.shapes import count_of
from pyaclnn.runtime.timelines import (
    borrowed_timeline,
    borrowed_timelines,
    forget_timeline,
    timelines_in,
)
from pyaclnn.runtime.timeout import milliseconds

if TYPE_CHECKING:
    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Device", "MemoryInfo", "default_device", "device_count", "require_device"]

_LAST_ID: Final = 2**31 - 1


class MemoryInfo(NamedTuple):
    """Device memory in bytes.

    Examples:
        >>> with pyaclnn.Device(0) as device:
        ...     memory = device.memory_info()
        >>> 0 < memory.free <= memory.total
        True
    """

    free: int
    """Bytes that can still be allocated."""
    total: int
    """Bytes of the device."""


def device_count() -> int:
    """Return how many NPUs this process may use. Drives ``aclrtGetDeviceCount``.

    Raises:
        DeviceLostError: There is none, or the driver cannot be reached.

    Examples:
        >>> pyaclnn.device_count() >= 1
        True
    """
    ensure_runtime()
    return int(fetch("aclrtGetDeviceCount", OUT))


class Device(Handle):
    """An NPU that is open in this process.

    ``Device(0)`` opens it and ``close`` gives it back; CANN counts, so several may be open at a
    time. Objects made on a device keep it open: giving it back waits until they are closed too.
    Drives ``aclrtSetDevice`` and ``aclrtResetDevice``.

    Examples:
        >>> with pyaclnn.Device(0) as device:
        ...     x = pyaclnn.to_device(np.ones(4, np.float32), device)
        ...     device.memory_info().free > 0
        True
    """

    _kind: ClassVar[str] = "device"

    def __init__(self, device_id: int = 0, *, context: Pointer | None = None) -> None:
        """Open a device; the context that was current on this thread stays so.

        Args:
            device_id: 0 to ``device_count() - 1``.
            context: An ``aclrtContext`` of that device with another owner. It is then used
                as it is: nothing is opened, and closing only closes this object.

        Raises:
            InvalidArgumentError: There is no such device.
            DeviceLostError: It cannot be started.
        """
        number = count_of(device_id, _LAST_ID)
        if number is None:
            expected = f"an integer from 0 to {_LAST_ID}"
            hint = _way_from_torch(device_id)
            raise InvalidArgumentError.of("Device", "device_id", repr_of(device_id), expected, hint)
        if context is not None and not raw.is_pointer(context):
            expected = "an aclrtContext as a C pointer, or None"
            raise InvalidArgumentError.of("Device", "context", repr_of(context), expected)
        ensure_runtime()
        self._id = number
        super().__init__(_open(number) if context is None else _be_guest(number, context))
        self._context = raw.address_of(self.pointer)
        _remember(self)

    @classmethod
    def current(cls) -> Device | None:
        """Return the device whose context is current on this thread, or None.

        A device that the host application opened is borrowed: closing it does nothing.
        Drives ``aclrtGetCurrentContext`` and ``aclrtGetDevice``.
        """
        ensure_runtime()
        context = current_context()
        if context is None:
            return None
        number = raw.ffi.new("int32_t *")
        call("aclrtGetDevice", number)
        device_id = int(number[0])
        known = _open_device(raw.address_of(context))
        if known is not None and known.id == device_id:
            return known
        return cls(device_id, context=context)

    @property
    def _timeline(self) -> Timeline:
        """The timeline of the default stream."""
        return borrowed_timeline(self.pointer, raw.NULL)

    @property
    def id(self) -> int:
        """The number under which CANN knows the device in this process."""
        return self._id

    @property
    def soc_name(self) -> str:
        """The chip, e.g. ``Ascend910B3``; empty if CANN does not know it. ``aclrtGetSocName``."""
        return text("aclrtGetSocName") or ""

    def _active(self) -> Activation:
        """Make the device current on this thread for the length of a ``with`` statement."""
        return Activation(self.pointer)

    def close(self) -> None:
        """Release the device once its work is done; see :meth:`Handle.close`."""
        if not self.closed:
            self._expect_work(True)
        super().close()

    def _close_after_failure(self) -> None:
        super().close()  # what was given up is not waited for

    def _give_up(self) -> None:
        self._expect_work(False)

    def _expect_work(self, expected: bool) -> None:
        """Record for the default stream whether closing waits for its work."""
        for timeline in timelines_in(self._context):
            if not timeline.struct.stream:
                timeline.given_up = not expected

    def memory_info(self) -> MemoryInfo:
        """Return free and total device memory in bytes. Drives ``aclrtGetMemInfo``."""
        with self._active():
            free, total = fetch("aclrtGetMemInfo", raw.ACL_HBM_MEM, OUT, OUT)
        return MemoryInfo(int(free), int(total))

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait for all work queued on the device from its context; Ctrl-C ends the wait.

        Drives ``aclrtSynchronizeDeviceWithTimeout``, or ``aclrtSynchronizeDevice`` without it.

        Args:
            timeout: Seconds; None to wait as long as it takes.

        Raises:
            ContextError: A host function of one of its streams waits for it.
            DeadlineError: The time is over; the work goes on.
            KernelError: Work that had been queued failed.
        """
        limit = milliseconds(timeout, "Device.synchronize")
        sync_points = [(timeline, timeline.sync_point) for timeline in timelines_in(self._context)]
        with self._active(), waiting("Device.synchronize", sync_points):
            wait_for("aclrtSynchronizeDevice", limit=limit)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "owned" if self.owned else "borrowed"
        return f"<Device {self._id}, {state}>"


_by_context: Final[weakref.WeakValueDictionary[int, Device]] = weakref.WeakValueDictionary()
_devices: Final[weakref.WeakSet[Device]] = weakref.WeakSet()
_default_lock: Final = reentrant_lock()
_default: Final[list[Device]] = []
_in_use: Final[set[_Opening]] = set()
"""Devices that this library has opened and nobody has begun to close; one opened twice, twice.
They share the default stream of their device."""


def default_device() -> Device:
    """Return the device that is used when none is named.

    That is the one current on this thread, be it ours or the host application's; else device 0,
    opened once for the process and given back when the interpreter ends.
    """
    current = Device.current()
    if current is not None:
        return current
    with _default_lock:
        if not _default or _default[0].closed:
            _default[:] = [Device(0)]
        return _default[0]


def require_device(routine: str, device: Device | None) -> Device:
    """Check the ``device`` argument of an operation.

    Args:
        routine: The operation, for the message.
        device: The caller's argument; None for the default device.

    Returns:
        The device to use.

    Raises:
        InvalidArgumentError: It is no Device.
    """
    if device is None:
        return default_device()
    if not isinstance(device, Device):
        hint = _way_from_torch(device)
        if count_of(device) is not None:
            hint = (
                f"open it with Device({repr_of(device)}), and close it when it is no longer needed."
            )
        raise InvalidArgumentError.of(routine, "device", repr_of(device), "a Device, or None", hint)
    return device


def _way_from_torch(device: object) -> str | None:
    """Return the hint for a device that is named as PyTorch names it."""
    kind, _, digits = text_of(device).partition(":")
    if kind == "cpu":
        return ".numpy() copies an array to the host."
    is_number = kind == "npu" and (digits or "0").isdecimal()
    return f"write Device({digits or 0})." if is_number else None


def _remember(device: Device) -> None:
    _devices.add(device)
    known = _by_context.get(device._context)
    if known is None or known.closed or not known.owned:
        _by_context[device._context] = device


def _open_device(context: int) -> Device | None:
    """Return an open device with this context, preferably one that this library has opened."""
    known = _by_context.get(context)
    if known is None or known.closed:  # another one, opened beside it, may be open still
        others = [d for d in list(_devices) if d._context == context and not d.closed]
        known = max(others, key=lambda device: device.owned, default=None)
        if known is not None:
            _by_context[context] = known
    return known


def _be_guest(device_id: int, context: Pointer) -> Resource:
    address, owners = raw.address_of(context), list[Resource]()

    def leave() -> None:
        # Others of this context may be open still.
        if not any(d._context == address and not d.closed for d in list(_devices)):
            for timeline in borrowed_timelines(address):
                leave_stream(timeline, owners[0])

    owners.append(Guest(device_id, context, leave))
    return owners[0]


class _Opening:
    """A device that this library opens, from just before CANN is asked to."""

    def __init__(self, device_id: int) -> None:
        self.id = device_id
        self._before = current_context()
        self._context: Pointer | None = None
        self._held: Pointer = raw.ffi.new("int *")
        self._complete = False

    def open(self) -> Pointer:
        """Open it and return its context; the one that was current on this thread stays so."""
        hold("aclrtSetDevice", self.id, self._held)
        self._context = fetch("aclrtGetCurrentContext", OUT)
        restore_context(self._before)
        with _default_lock:
            _in_use.add(self)
        self._complete = True
        return self._context

    def finish(self) -> bool:
        """Wait for what is queued on its default stream; return False if it goes on."""
        if self._context is None:
            return True
        with _default_lock:
            _in_use.discard(self)
            is_last = all(other.id != self.id for other in _in_use)
        return _finish_default_stream(self._context, is_last)

    def reset(self, _: Pointer) -> None:
        """Release it; the context that was current on this thread stays so if it lives."""
        if silence.finalised:
            return
        previous = context_before() if self._complete else self._before
        if self._complete and previous == self._context:
            # CANN keeps it current as long as others have the device open. That is
            # unknown: another thread may reset it between a check and this reset.
            previous = None
        try:
            let_go("aclrtResetDevice", self.id, self._held)
        finally:
            _put_back(previous)


def _put_back(previous: Pointer | None) -> None:
    try:
        restore_context(previous)
    except AclError as failure:
        report(f"the context of this thread could not be put back: {failure}")


def _open(device_id: int) -> Resource:
    opening = _Opening(device_id)
    opened = Resource(Device._kind, None, opening.reset, unwanted=opening.finish)
    try:
        opened.adopt(opening.open())
    except BaseException:
        opened.let_go()
        raise
    return opened


def _finish_default_stream(context: Pointer, is_last: bool) -> bool:
    for timeline in timelines_in(raw.address_of(context)):
        if timeline.struct.stream:
            continue
        try:
            if not end_work(timeline, raw.NULL):
                return False
        except AclError as failure:
            failed = f"{failure.code} ({failure.name}): {failure.detail}"
            report(f"aclrtSynchronizeStream of the default stream failed with {failed}")
        if is_last:  # other threads may launch on it as long as they have the device open
            forget_timeline(context, raw.NULL)
            timeline.retire()
    return True
