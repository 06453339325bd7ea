# SPDX-License-Identifier: Apache-2.0
"""Views of PyTorch's NPU tensors and current stream as device arrays and a stream.

Nothing is copied or kept alive. As with PyTorch's own operators, the memory belongs to PyTorch, and
work on its current stream precedes any later use of the memory by PyTorch.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyaclnn.base.errors import AclError, InvalidArgumentError
from pyaclnn.base.spelling import with_article
from pyaclnn.calling.tensor_calls import can_read
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.context import current_context
from pyaclnn.runtime.device import default_device
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.shapes import span
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = [
    "DENSE",
    "Tensor",
    "Tensors",
    "at_exit",
    "empty_on",
    "format_of",
    "handle_of",
    "is_readable",
    "on_npu",
    "pytorch",
    "require_dense",
    "require_npu",
]

Tensor: TypeAlias = Any
"""A ``torch.Tensor``; importing this module does not need PyTorch."""

DENSE: Final = frozenset({-1, 0, 1, 2, 30})
"""Formats of torch-npu whose elements are addressed by strides."""
_streams: Final[dict[tuple[Any, int, int], Stream]] = {}
"""Borrowed streams of PyTorch, which never destroys its streams, by context, NPU and handle."""
_forgetters: Final[list[Callable[[], object]]] = []
"""Functions that drop what is kept of calls, and with it devices."""


@functools.cache
def pytorch() -> Any:
    """Return PyTorch with torch-npu.

    Raises:
        ImportError: One of them is not installed.
    """
    try:
        import_module("torch_npu")
        return import_module("torch")
    except ModuleNotFoundError as error:
        message = (
            f"pyaclnn.torch needs PyTorch and torch-npu, and there is no {error.name}: "
            "pip install 'pyaclnn[torch]'"
        )
        raise ImportError(message, name=error.name) from error


@functools.cache
def format_of() -> Any:
    """Return the function that says in which format torch-npu keeps a tensor."""
    return pytorch().ops.npu.get_npu_format.default


@functools.cache
def is_readable() -> bool:
    """Return whether C can read tensors."""
    torch = pytorch()
    inside = getattr(torch._C, "_aoti", None)  # noqa: SLF001  # as PyTorch's compiler uses it
    handles_of = getattr(inside, "unsafe_alloc_void_ptrs_from_tensors", None)
    path = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    return handles_of is not None and can_read(str(path), handles_of, DENSE)


def empty_on(index: int) -> Callable[[Any, Any, Any], Tensor]:
    """Return the function that allocates a tensor on an NPU: of a shape, strides and a dtype."""
    quick, current = _allocation()
    return quick if quick is not None and current() == index else _allocation_on(index)


@functools.cache
def _allocation() -> tuple[Any, Any]:
    """Return the function for the current NPU, which takes half the time, and that of its index."""
    pytorch()
    inside = import_module("torch_npu")._C  # noqa: SLF001  # as its compiler uses it
    quick = getattr(inside, "_empty_strided_npu", None)
    return quick, getattr(inside, "_npu_getDevice", lambda: -1)


@functools.cache
def _allocation_on(index: int) -> Callable[[Any, Any, Any], Tensor]:
    torch = pytorch()
    device = torch.device("npu", index)
    return lambda shape, strides, dtype: torch.empty_strided(
        shape, strides, dtype=dtype, device=device
    )


@functools.cache
def handle_of() -> Callable[[int], int]:
    """Return the function for PyTorch's current stream on an NPU.

    Querying the handle makes PyTorch submit its pending work.
    """
    torch = pytorch()
    inside = import_module("torch_npu")._C  # noqa: SLF001  # the public way takes 80 times as long
    quick = getattr(inside, "_npu_getCurrentRawStream", None)
    return quick or (lambda index: int(torch.npu.current_stream(index).npu_stream))


def _leave() -> None:
    """Release PyTorch's streams before torch-npu ends."""
    for forget in _forgetters:
        forget()
    while _streams:
        _, stream = _streams.popitem()
        with contextlib.suppress(AclError), stream:
            stream.synchronize()


def at_exit(forget: Callable[[], object]) -> None:
    """Have a function called before torch-npu ends, to drop what is kept of calls."""
    _forgetters.append(forget)


class Tensors:
    """The tensors of one call, on one NPU.

    Attributes:
        stream: PyTorch's current stream there.
    """

    def __init__(self, routine: str, index: int, stream: Stream) -> None:
        """See ``on_npu``."""
        self._routine = routine
        self._index = index
        self.stream = stream

    def array(self, name: str, tensor: Tensor) -> DeviceArray:
        """View a tensor as a device array.

        Args:
            name: The argument's name, for messages.
            tensor: The tensor.

        Raises:
            InvalidArgumentError: It is on another device, or not dense.
        """
        if tensor.get_device() != self._index:
            require_npu(self._routine, name, tensor)
            given, wanted = f"on {tensor.device}", f"on npu:{self._index}, as the others are"
            raise InvalidArgumentError.of(self._routine, name, given, wanted)
        require_dense(self._routine, name, tensor)
        return self.result(name, tensor)

    def result(self, name: str, tensor: Tensor) -> DeviceArray:
        """View a tensor that PyTorch has allocated for the call."""
        device = self.stream.device
        dtype = dtype_of(str(tensor.dtype).removeprefix("torch."), self._routine, name)
        shape = tuple(tensor.shape)
        if not tensor.numel():
            return DeviceArray.empty(shape, dtype, device)
        strides = tuple(step * dtype.itemsize for step in tensor.stride())
        nbytes = span(shape, strides, dtype.itemsize)
        return DeviceArray(Buffer.borrow(tensor.data_ptr(), nbytes, device), shape, dtype, strides)


def require_npu(routine: str, name: str, tensor: Tensor) -> None:
    """Require a tensor on an NPU.

    PyTorch's compiler traces this function, and therefore its first lines alone.

    Args:
        routine: The public function, for the message.
        name: The argument's name.
        tensor: The argument.

    Raises:
        InvalidArgumentError: It is not such a tensor.
    """
    if getattr(getattr(tensor, "device", None), "type", None) == "npu":
        return
    if not isinstance(tensor, pytorch().Tensor):
        given = with_article(type(tensor).__name__)
        hint = "NumPy arrays and device arrays are for the functions of pyaclnn itself."
        raise InvalidArgumentError.of(routine, name, given, "a torch.Tensor on an NPU", hint)
    hint = f"move it with {name}.npu(), or use torch.nn.functional where it is."
    raise InvalidArgumentError.of(routine, name, f"on {tensor.device}", "on an NPU", hint)


def require_dense(routine: str, name: str, tensor: Tensor) -> None:
    """Require a tensor whose elements are addressed by strides; see ``require_npu``."""
    form = format_of()(tensor)
    if form not in DENSE:
        hint = f"torch_npu.npu_format_cast({name}, 2) makes it so."
        raise InvalidArgumentError.of(routine, name, f"of torch-npu's format {form}", "ND", hint)


def on_npu(routine: str, name: str, tensor: Tensor) -> Tensors:
    """Prepare a call on the NPU of a tensor: flush PyTorch's queue there.

    Args:
        routine: The public function, for messages.
        name: The argument's name.
        tensor: The tensor that selects the NPU.

    Returns:
        The call's views of tensors.

    Raises:
        InvalidArgumentError: It is not on an NPU.
    """
    require_npu(routine, name, tensor)
    index = tensor.get_device()
    handle = handle_of()(index)
    stream = _streams.get((current_context(), index, handle))
    return Tensors(routine, index, stream or _borrowed(index, handle))


def _borrowed(index: int, handle: int) -> Stream:
    """Return a stream of an NPU that may not be current on this thread."""
    with pytorch().npu.device(index):
        device = default_device()
        key = device.pointer, index, handle
        stream = _streams.get(key)
        if stream is None:
            if not _streams:
                # Registered after torch-npu's exit handler, and therefore called before it.
                atexit.register(_leave)
            stream = _streams[key] = Stream.borrow(handle, device)
        return stream
