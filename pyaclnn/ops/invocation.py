# SPDX-License-Identifier: Apache-2.0
"""One call of a public operator: where its arrays lie, and how results come back.

NumPy arrays in mean NumPy arrays out, when all is done. Device arrays in mean device arrays out,
queued on the stream and not waited for.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyaclnn.array import DeviceArray, to_device
from pyaclnn.device import default_device
from pyaclnn.errors import AclError, InvalidArgumentError
from pyaclnn.shapes import overlap
from pyaclnn.stream import Stream, require_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.descriptors import Argument

__all__ = ["Array", "Invocation", "Output"]

Array: TypeAlias = NDArray[Any] | DeviceArray


@dataclass(frozen=True)
class Output:
    """An array that the operator writes: the caller's own, or one to be made."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    given: Array | None = None


class Invocation:
    """The arrays and the stream of one call; nothing is asked of CANN before ``run``."""

    def __init__(
        self,
        routine: str,
        inputs: Mapping[str, object],
        stream: Stream | None,
        *,
        optional: Mapping[str, object] | None = None,
        outputs: Mapping[str, object] | None = None,
    ) -> None:
        """Check that all arrays lie on the host, or all on one device, and fit the stream.

        Args:
            routine: The public function, for messages.
            inputs: The array arguments that must be given, by name.
            stream: The ``stream`` argument.
            optional: The array arguments that may be None, by name.
            outputs: The arrays given as ``out=``, by name; None for those not given.

        Raises:
            InvalidArgumentError: They do not.
        """
        self._routine = routine
        self._inputs = _arrays(routine, inputs, given=True)
        self._inputs.update(_arrays(routine, optional or {}))
        self._outputs = _arrays(routine, outputs or {})
        self._stream = stream
        arrays = {**self._inputs, **self._outputs}
        on_device = {k: v for k, v in arrays.items() if isinstance(v, DeviceArray)}
        self._on_host = not on_device
        if on_device and len(on_device) != len(arrays):
            host = ", ".join(f"'{name}'" for name in arrays if name not in on_device)
            device = ", ".join(f"'{name}'" for name in on_device)
            raise InvalidArgumentError.of(
                routine,
                next(name for name in arrays if name not in on_device),
                f"a NumPy array, while others are device arrays (host: {host}; device: {device})",
                "of the same kind as the others",
                "copy with to_device() or .numpy(); nothing is copied behind your back.",
            )
        self._check_devices(on_device)
        self._check_stream()
        for name, array in self._outputs.items():
            self._check_overlap(name, array)

    def _check_devices(self, arrays: Mapping[str, DeviceArray]) -> None:
        first = next(iter(arrays.items()), None)
        for name, array in arrays.items():
            if array.buffer.closed:
                given = "a device array whose memory was given back"
                raise InvalidArgumentError.of(self._routine, name, given, "an open device array")
            if first is not None and array.device.id != first[1].device.id:
                given = f"on device {array.device.id}"
                expected = f"on device {first[1].device.id}, like '{first[0]}'"
                raise InvalidArgumentError.of(self._routine, name, given, expected)

    def _check_stream(self) -> None:
        if self._stream is None:
            return
        arrays = (*self._inputs.values(), *self._outputs.values())
        devices = (array.device for array in arrays if isinstance(array, DeviceArray))
        require_stream(self._routine, self._stream, next(devices, None))

    def _check_overlap(self, name: str, array: Array) -> None:
        others = {**self._inputs, **self._outputs}
        mine = _layout(array)
        if not _is_injective(mine):
            given = f"an array that overlaps itself (strides {array.strides})"
            expected = "an array whose elements lie apart"
            raise InvalidArgumentError.of(self._routine, name, given, expected)
        for other_name, other in others.items():
            if other_name != name and overlap(mine, _layout(other)):
                given = f"an array that shares memory with '{other_name}'"
                expected = "an array apart from all others"
                raise InvalidArgumentError.of(self._routine, name, given, expected)

    def output(
        self,
        name: str,
        shape: tuple[int, ...],
        dtypes: Sequence[np.dtype[Any]],
        *,
        contiguous: bool = False,
    ) -> Output:
        """Decide about one output: the array given for it, checked, or one to be made.

        Args:
            name: Its name among ``outputs``, if it can be given.
            shape: What its shape must be.
            dtypes: What its dtype may be; the first is that of an array to be made.
            contiguous: Whether the operator only writes contiguous device arrays.

        Raises:
            InvalidArgumentError: The array given is not acceptable.
        """
        given = self._outputs.get(name)
        if given is None:
            return Output(shape, dtypes[0])
        refuse: str | None = None
        if given.dtype not in dtypes or given.shape != shape:
            listed = " or ".join(str(dtype) for dtype in dict.fromkeys(dtypes))
            refuse, expected = f"{given.dtype} of shape {given.shape}", f"{listed} of shape {shape}"
        elif isinstance(given, np.ndarray) and not given.flags.writeable:
            refuse, expected = "read-only", "writable"
        elif isinstance(given, DeviceArray) and contiguous and not given.is_contiguous:
            refuse, expected = f"not contiguous (strides {given.strides})", "contiguous"
        if refuse is not None:
            raise InvalidArgumentError.of(self._routine, name, refuse, expected)
        return Output(shape, given.dtype, given)

    def run(
        self, action: Callable[..., None], *arguments: Array | Output | Argument
    ) -> tuple[Array, ...]:
        """Do the work on the device.

        Args:
            action: Queues the work; is called with what ``arguments`` become on the device, in
                their order, and with ``stream=``.
            *arguments: Arrays, outputs, and whatever else ``action`` takes.

        Returns:
            The outputs in order: the arrays given for them, or new ones.

        Raises:
            AclError: CANN refused the work; with NumPy arrays also if the work itself failed.
        """
        return (
            self._run_on_host(action, arguments)
            if self._on_host
            else self._queue(action, arguments)
        )

    def _queue(
        self, action: Callable[..., None], arguments: tuple[Array | Output | Argument, ...]
    ) -> tuple[Array, ...]:
        arrays = (*self._inputs.values(), *self._outputs.values())
        device = next(array.device for array in arrays if isinstance(array, DeviceArray))
        stream = require_stream(self._routine, self._stream, device)
        ready: list[Any] = [
            (a.given if a.given is not None else DeviceArray.empty(a.shape, a.dtype, device))
            if isinstance(a, Output)
            else a
            for a in arguments
        ]
        action(*ready, stream=stream)
        pairs = zip(arguments, ready, strict=True)
        return tuple(array for a, array in pairs if isinstance(a, Output))

    def _run_on_host(
        self, action: Callable[..., None], arguments: tuple[Array | Output | Argument, ...]
    ) -> tuple[Array, ...]:
        device = self._stream.device if self._stream is not None else default_device()
        stream = require_stream(self._routine, self._stream, device)
        with contextlib.ExitStack() as temporaries:
            ready: list[object] = []
            for argument in arguments:
                moved: object = argument
                if isinstance(argument, Output):
                    moved = DeviceArray.empty(argument.shape, argument.dtype, device)
                elif isinstance(argument, np.ndarray):
                    moved = to_device(argument, device)
                if isinstance(moved, DeviceArray):
                    temporaries.callback(moved.close)
                ready.append(moved)
            _finish(action, ready, stream)
            pairs = zip(arguments, ready, strict=True)
            return tuple(
                _deliver(array, a)
                for a, array in pairs
                if isinstance(a, Output) and isinstance(array, DeviceArray)
            )


def _finish(action: Callable[..., None], ready: Sequence[object], stream: Stream) -> None:
    before = stream.lane.mark
    try:
        action(*ready, stream=stream)
    except AclError:
        # Something may have been queued before the failure, and uses memory that goes now.
        if stream.lane.mark != before:
            with contextlib.suppress(AclError):
                stream.synchronize()
        raise
    stream.synchronize()


def _deliver(array: DeviceArray, output: Output) -> Array:
    if not isinstance(output.given, np.ndarray):
        return array.numpy()
    np.copyto(output.given, array.numpy())
    return output.given


def _arrays(routine: str, values: Mapping[str, object], *, given: bool = False) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for name, value in values.items():
        if isinstance(value, (np.ndarray, DeviceArray)):
            found[name] = value
        elif given or value is not None:
            what = "None" if value is None else f"a {type(value).__name__}"
            expected = "a NumPy array or a DeviceArray"
            raise InvalidArgumentError.of(routine, name, what, expected)
    return found


def _layout(array: Array) -> NDArray[Any]:
    return array.phantom() if isinstance(array, DeviceArray) else array


def _is_injective(layout: NDArray[Any]) -> bool:
    """Tell whether all elements have places of their own, for any layout that slicing can make."""
    if not layout.size:
        return True
    axes = [(abs(s), n) for s, n in zip(layout.strides, layout.shape, strict=True) if n > 1]
    reach = layout.itemsize
    for step, length in sorted(axes):
        if step < reach:
            return False
        reach = step * (length - 1) + reach
    return True
