# SPDX-License-Identifier: Apache-2.0
"""Tensors of a trace: their descriptors, and their contents in the memory of a device."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pyaclnn.runtime.dtypes import numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pyaclnn.capture.trace import Call

__all__ = ["Descriptors", "Graphs", "Launch", "Operand", "Tensor", "made_up"]

_PHASE_1: Final = "GetWorkspaceSize"
_WRONG_THREAD: Final = 107038
"""The status of the end of a capture that goes on: another thread began it."""
_MOST_LAUNCHES: Final = 4096
"""Executors that are remembered; those that are used again are few."""


class Tensor(NamedTuple):
    """A descriptor of the traced program.

    Attributes:
        acl_type: Its ``aclDataType``.
        shape: Its view.
        strides: Those of the view, in elements.
        offset: That of the view, in elements.
        format: Its ``aclFormat``.
        storage: The shape of its storage.
        address: Where it lies, in the traced program.
    """

    acl_type: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    format: int
    storage: tuple[int, ...]
    address: int

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Its dtype, or None if NumPy has none for it."""
        try:
            return numpy_dtype(self.acl_type)
        except (KeyError, ValueError, TypeError):
            return None

    @property
    def begin(self) -> int:
        """Where its first element lies, in the traced program."""
        dtype = self.dtype
        return self.address + self.offset * (0 if dtype is None else dtype.itemsize)

    @property
    def span(self) -> int:
        """The bytes from its first element to its last in memory; 0 if they cannot be read."""
        dtype = self.dtype
        empty = any(size <= 0 for size in self.shape)
        if dtype is None or empty or min(self.strides, default=0) < 0:
            return 0
        steps = ((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        return int((1 + sum(steps)) * dtype.itemsize)

    def view(self, memory: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the elements as an array of its shape, in memory of its span."""
        dtype = numpy_dtype(self.acl_type)
        strides = [step * dtype.itemsize for step in self.strides]
        view: NDArray[Any] = np.ndarray(self.shape, dtype, memory.data, strides=strides)
        return view


class Operand(NamedTuple):
    """A tensor in a call of an operator.

    Attributes:
        parameter: The place of its parameter.
        name: The C name of that.
        element: Its place in a list.
        tensor: Its descriptor.
        handle: The handle of that.
    """

    parameter: int
    name: str
    element: int
    tensor: Tensor
    handle: int


class Launch(NamedTuple):
    """An operator between its phases: its C name, its tensors, the call of its first phase."""

    name: str
    operands: tuple[Operand, ...]
    call: Call


class Descriptors:
    """Descriptors of a trace at a call: tensors, lists of them, and what executors were made of."""

    def __init__(self) -> None:
        self._tensors: dict[int, Tensor] = {}
        self._lists: dict[int, tuple[int, ...]] = {}
        self.arrays: dict[int, Call] = {}
        """The handle of each scalar or array -> the call that made it."""
        self._launches: dict[int, Launch] = {}

    def learn(self, call: Call) -> None:
        """Note what a call has made, changed or destroyed; a failed one has not."""
        if call.failed:
            return
        if call.name.startswith("aclCreate"):
            self._create(call, call.result if isinstance(call.result, int) else 0)
        elif call.name.endswith(_PHASE_1):
            self._launches[call.handle("executor")] = self.launched(call)
        elif call.name.startswith("aclDestroy"):
            self._destroy(call.handle(next(iter(call.arguments))))
        elif call.name.startswith("aclSet") and call.name.endswith("TensorAddr"):
            self._move(call)
        while len(self._launches) > _MOST_LAUNCHES:
            self._launches.pop(next(iter(self._launches)))

    def _create(self, call: Call, made: int) -> None:
        if call.name == "aclCreateTensor":
            self._tensors[made] = _tensor_of(call)
        elif call.name == "aclCreateTensorList":
            self._lists[made] = call.numbers("value")
        else:
            self.arrays[made] = call

    def _destroy(self, handle: int) -> None:
        for element in self._lists.pop(handle, ()):
            self._tensors.pop(element, None)
        self._tensors.pop(handle, None)
        self.arrays.pop(handle, None)
        self._launches.pop(handle, None)

    def described(self, call: Call) -> Tensor | None:
        """Return the tensor that a call makes, or moves to another address."""
        if call.name == "aclCreateTensor":
            return _tensor_of(call)
        tensor = self._tensors.get(call.handle("tensor")) if "tensor" in call.arguments else None
        return tensor and tensor._replace(address=call.handle("addr"))

    def launch(self, executor: int) -> Launch | None:
        """Return what an executor was made of."""
        return self._launches.get(executor)

    def launched(self, call: Call) -> Launch:
        """Return the tensors that a first phase is given."""
        operands: list[Operand] = []
        for place, (name, value) in enumerate(call.arguments.items()):
            letter = call.letters[name]
            handles: tuple[int, ...] = ()
            if isinstance(value, int) and letter[0] in "tT":
                handles = (value,) if letter[0] == "t" else self._lists.get(value, ())
            operands += [
                Operand(place, name, element, self._tensors[handle], handle)
                for element, handle in enumerate(handles)
                if handle in self._tensors
            ]
        return Launch(call.name.removesuffix(_PHASE_1), tuple(operands), call)

    def _move(self, call: Call) -> None:
        executor, _, tensor, address = (call.handle(name) for name in call.arguments)
        if executor in self._launches:
            launch = self._launches[executor]
            moved = [
                o._replace(tensor=o.tensor._replace(address=address)) if o.handle == tensor else o
                for o in launch.operands
            ]
            self._launches[executor] = launch._replace(operands=tuple(moved))


class Graphs:
    """Graphs of a trace at a call: the tensors of their operators."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._mixed = False
        self._drawn: list[Operand] = []
        self._graphs: dict[int, list[Operand]] = {}

    @property
    def is_open(self) -> bool:
        """True while a stream is being captured."""
        return bool(self._open)

    def learn(self, call: Call, role: frozenset[str], drawn: Launch | None) -> None:
        """Note what a call has added to a graph; of several at a time, nothing is known."""
        stream = call.handle("stream") if "stream" in call.arguments else 0
        if "graph-begin" in role and not call.failed:
            self._mixed = self.is_open
            self._open.add(stream)
        elif "graph-end" in role and stream in self._open and call.result != _WRONG_THREAD:
            self._open.remove(stream)  # also if there is no graph
            if not self._open:
                if not call.failed:
                    self._graphs[call.handle("modelRI")] = [] if self._mixed else self._drawn
                self._drawn = []
        for operand in drawn.operands if drawn else ():
            name = f"{drawn.name if drawn else ''}.{operand.name}"
            place = len(self._drawn)
            self._drawn.append(operand._replace(parameter=place, element=0, name=name))

    def operands(self, call: Call, descriptors: Descriptors) -> Sequence[Operand]:
        """Return the tensors of an operator or a graph that a call runs, unless it is captured."""
        if "modelRI" in call.arguments:
            return self._graphs.get(call.handle("modelRI"), ())
        launch = None if self._open else descriptors.launch(call.handle("executor"))
        return launch.operands if launch else ()


def _tensor_of(call: Call) -> Tensor:
    shape = call.numbers("viewDims")
    strides = call.numbers("stride")
    if len(strides) < len(shape):
        strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    code, offset, form, address = (
        call.handle(name) for name in ("dataType", "offset", "format", "tensorData")
    )
    return Tensor(code, shape, strides, offset, form, call.numbers("storageDims"), address)


def made_up(tensor: Tensor, seed: int) -> NDArray[Any]:
    """Return contents for a tensor whose own were not recorded: the same for the same hash.

    Args:
        tensor: The descriptor.
        seed: The recorded hash.
    """
    dtype = numpy_dtype(tensor.acl_type)
    generator = np.random.default_rng(seed)
    if dtype.kind in "biu":
        return generator.integers(0, 2, tensor.shape).astype(dtype)
    return generator.standard_normal(tensor.shape).astype(dtype)
