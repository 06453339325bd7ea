# SPDX-License-Identifier: Apache-2.0
"""One call of a public operator: where its arrays lie, and how results come back.

NumPy arrays in mean NumPy arrays out, when all is done. Device arrays in mean device arrays out,
queued on the stream and not waited for. What was found out about a call on device arrays follows
from their layouts alone, so it is remembered as a recipe for the next one (:mod:`.recipe`).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pyaclnn.calling.launch import launch
from pyaclnn.errors import AclError, InvalidArgumentError
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.device import default_device
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.shapes import overlap
from pyaclnn.runtime.stream import Stream, require_stream
from pyaclnn.runtime.transfer import MASKED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.runtime.device import Device

__all__ = ["Array", "Invocation", "Masked", "Output", "Prepared"]

Array: TypeAlias = NDArray[Any] | DeviceArray


@dataclass(frozen=True)
class Output:
    """An array that the operator writes: the caller's own, or one to be made."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    given: Array | None = None


@dataclass(frozen=True)
class Masked:
    """A result that is not wanted: NULL for CANN, None for the caller."""


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
            if array.closed:
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

    def prepare(
        self,
        operator: str,
        arguments: Mapping[str, Array | Output | Masked | Argument],
        result: Callable[..., Any],
        action: Callable[[Sequence[Argument], Stream], None] | None = None,
    ) -> Prepared:
        """Return the call, checked and ready to be made.

        Args:
            operator: The C name of phase 2.
            arguments: The arguments of phase 1 in its order, by their Python names.
            result: Makes the result of the outputs, given in their order.
            action: What to do instead of calling the operator.
        """
        return Prepared(
            self._routine, operator, dict(arguments), result, self._on_host, self._stream, action
        )


@dataclass
class Prepared:
    """A checked call.

    Attributes:
        routine: The public function.
        operator: The C name of phase 2.
        parameters: The arguments of phase 1 in its order, by their Python names.
        make_result: Makes the result of the outputs, given in their order.
        on_host: Whether the arrays are NumPy arrays.
        requested_stream: The ``stream`` argument.
        action: What to do instead of calling the operator, or None.
        arguments: The parameters as they are on the device, once they are there.
    """

    routine: str
    operator: str
    parameters: dict[str, Array | Output | Masked | Argument]
    make_result: Callable[..., Any]
    on_host: bool
    requested_stream: Stream | None = None
    action: Callable[[Sequence[Argument], Stream], None] | None = None
    arguments: list[Argument] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """The Python names of the parameters."""
        return tuple(self.parameters)

    @property
    def stream(self) -> Stream:
        """Where the work goes."""
        return require_stream(self.routine, self.requested_stream, self._device())

    def _device(self) -> Device:
        arrays = (a.given if isinstance(a, Output) else a for a in self.parameters.values())
        found = next((a.device for a in arrays if isinstance(a, DeviceArray)), None)
        if found is not None:
            return found
        stream = self.requested_stream
        return stream.device if stream is not None else default_device()

    def planned(self) -> Prepared:
        """Allocate what is missing, so that a plan can be made of the call.

        Raises:
            InvalidArgumentError: The arrays lie on the host, or there is nothing to plan.
        """
        if self.on_host or self.action is not None:
            given = "NumPy arrays" if self.on_host else "arguments for which CANN is not called"
            raise InvalidArgumentError.of(
                "plan", "arguments", given, "device arrays with work to do", "use to_device()."
            )
        self._place()
        return self

    def result(self, arguments: Sequence[Argument]) -> Any:
        """Return the result of the call, its outputs taken from ``arguments``."""
        return self.make_result(*self.outputs(arguments))

    def outputs(self, arguments: Sequence[Argument] | None = None) -> list[Argument]:
        """Return the outputs among arguments; those of the call itself if None."""
        found = self.arguments if arguments is None else arguments
        pairs = zip(self.parameters.values(), found, strict=True)
        return [argument for value, argument in pairs if isinstance(value, (Output, Masked))]

    @property
    def result_names(self) -> tuple[str, ...]:
        """The Python names of the results that are wanted."""
        return tuple(k for k, value in self.parameters.items() if isinstance(value, Output))

    @property
    def result_count(self) -> int:
        """How many results the operator has, those that are masked off included."""
        return sum(isinstance(value, (Output, Masked)) for value in self.parameters.values())

    def _place(self) -> None:
        """Turn outputs into the arrays given for them, or new ones in the order of the stream."""
        stream = self.stream
        device = stream.device

        def placed(value: Array | Output | Masked | Argument) -> Any:
            if isinstance(value, Masked):
                return None
            if not isinstance(value, Output):
                return value
            if value.given is not None:
                return value.given
            layout = Layout.dense(device.context, value.dtype, value.shape)
            return DeviceArray.on_loan(stream.pool.take(layout, device), device)

        self.arguments = [placed(value) for value in self.parameters.values()]

    def run(self) -> Any:
        """Make the call.

        Returns:
            The result; on the host when all is done, on the device without waiting.

        Raises:
            AclError: CANN refused the work; with NumPy arrays also if the work itself failed.
        """
        if self.on_host:
            return self._run_on_host()
        self._place()
        self._act(self.stream)
        return self.result(self.arguments)

    def _act(self, stream: Stream) -> None:
        if self.action is not None:
            self.action(self.arguments, stream)
        else:
            launch(self.operator, *self.arguments, stream=stream)

    def _run_on_host(self) -> Any:
        stream = self.stream
        device = stream.device

        def moved(value: Array | Output | Masked | Argument) -> Any:
            if isinstance(value, Masked):
                return None
            if not isinstance(value, (Output, np.ndarray)):
                return value
            # Copies happen at once, so the memory must not be one that queued work still uses.
            layout = Layout.dense(device.context, value.dtype, value.shape)
            array = DeviceArray.on_loan(stream.pool.take(layout, device, idle=True), device)
            if isinstance(value, np.ndarray):
                array.copy_from(np.asarray(value, order="C"))
            return array

        self.arguments = [moved(value) for value in self.parameters.values()]
        self._finish(stream)
        pairs = zip(self.parameters.values(), self.arguments, strict=True)
        return self.make_result(
            *(
                _deliver(array, value) if isinstance(array, DeviceArray) else None
                for value, array in pairs
                if isinstance(value, (Output, Masked))
            )
        )

    def _finish(self, stream: Stream) -> None:
        before = stream.timeline.mark
        try:
            self._act(stream)
        except AclError:
            # Something may have been queued before the failure; leave nothing behind.
            if stream.timeline.mark != before:
                with contextlib.suppress(AclError):
                    stream.synchronize()
            raise
        stream.synchronize()


def _deliver(array: DeviceArray, output: object) -> Array:
    if not isinstance(output, Output) or not isinstance(output.given, np.ndarray):
        return array.numpy()
    np.copyto(output.given, array.numpy())
    return output.given


def _arrays(routine: str, values: Mapping[str, object], *, given: bool = False) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for name, value in values.items():
        masked = isinstance(value, np.ma.MaskedArray)
        if isinstance(value, (np.ndarray, DeviceArray)) and not masked:
            found[name] = value
        elif given or value is not None:
            what = "None" if value is None else f"a {type(value).__name__}"
            hint = MASKED if masked else None
            expected = "a NumPy array or a DeviceArray"
            raise InvalidArgumentError.of(routine, name, what, expected, hint)
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
