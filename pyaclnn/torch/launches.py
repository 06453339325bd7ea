# SPDX-License-Identifier: Apache-2.0
"""Launches of operators on tensors of PyTorch, kept by the layouts of the tensors.

The first call of its layouts is checked as any call of pyaclnn, on views of the tensors. These
views are kept: the next equal call exchanges their addresses, and goes straight to the launcher.
"""

from __future__ import annotations

import itertools
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyaclnn.calling.arguments import frozen
from pyaclnn.calling.launch import CLEANUP_FAILED, failure, report_cleanup
from pyaclnn.calling.operator import NO_PLAN
from pyaclnn.cann import raw
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.torch.tensors import (
    DENSE,
    at_exit,
    format_of,
    handle_of,
    on_npu,
    pytorch,
    require_dense,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.base.errors import AclError
    from pyaclnn.torch.tensors import Tensor

__all__ = ["Call", "Launches", "Place", "Spec"]

_MOST_KEPT: Final = 1024
"""The most layouts of an operator; a program with more of them starts over."""
_ALIGNED: Final = 512
"""Bytes: tensors that share a block begin at multiples of this, as PyTorch's own blocks do."""

Spec = tuple["Sequence[int]", Any]
"""The shape and the dtype of a tensor to be made."""


class Place(NamedTuple):
    """A tensor of a call: its place among those that are given, followed by those that are made."""

    at: int


class Call(NamedTuple):
    """A call of an operator of pyaclnn, with a ``Place`` for each tensor.

    Attributes:
        function: The operator.
        arguments: Its arguments.
        out: The tensors that it writes; None for one that is not wanted.
        options: Its arguments by name.
    """

    function: Any
    arguments: Sequence[Any]
    out: Sequence[Place | None]
    options: Mapping[str, Any] = MappingProxyType({})


class _Kept(NamedTuple):
    """A call that was made.

    Attributes:
        stream: Where it goes.
        operator: The operator.
        arguments: Its arguments in C order, with views of tensors.
        message: The same for the launcher.
        given: Of each given tensor that is used, its place and where its address is written.
        specs: Of each made tensor that is returned, its shape, its dtype and the same.
        spare: Of the others, which share a block, where they begin in it and the same.
        room: The size of that block in bytes.
        device: The device of the tensors.
    """

    stream: Any
    operator: Any
    arguments: Sequence[Any]
    message: bytes
    given: Sequence[tuple[int, memoryview]]
    specs: Sequence[tuple[Sequence[int], Any, memoryview]]
    spare: Sequence[tuple[int, memoryview]]
    room: int
    device: Any

    def failure(self, status: int) -> AclError | MemoryError:
        """Return the error of this call, which CANN refused just now."""
        for array in self.arguments:
            if isinstance(array, DeviceArray):
                array._memory.pointer = array._memory.block.address
        return failure(status, self.operator.describe(self.arguments))


class Launches:
    """The launches of an operator.

    Args:
        name: The name of the public function, for messages.
        names: The names of the tensors that are given.
        specs: Returns the tensors that are made, of those that are given and the options.
        call: Returns the call, of the places of both and the options.
    """

    def __init__(
        self,
        name: str,
        names: Sequence[str],
        specs: Callable[..., list[Spec]],
        call: Callable[..., Call],
    ) -> None:
        self._name = name
        self._names = names
        self._specs = specs
        self._call = call
        # A call is taken out while a thread makes it; others make one of their own.
        self._known: dict[Any, list[_Kept]] = {}
        self._torch = pytorch()
        self._empty = self._torch.empty
        self._format_of, self._handle_of = format_of(), handle_of()
        at_exit(self._known.clear)

    def made(self, given: Sequence[Tensor | None], options: tuple[Any, ...]) -> list[Tensor]:
        """Allocate the tensors that a call makes, also without memory."""
        like: Any = given[0]
        specs = self._specs(given, *options)
        return [like.new_empty(shape, dtype=dtype) for shape, dtype in specs]

    def run(  # noqa: C901, PLR0912  # calls of functions would be most of its time
        self, given: Sequence[Tensor | None], options: tuple[Any, ...], wanted: int | None = None
    ) -> list[Tensor]:
        """Queue a call on PyTorch's current stream, without waiting for it.

        Args:
            given: The tensors that are given; None for an omitted one.
            options: The options.
            wanted: The number of made tensors to return, the first ones; all of them if None.

        Returns:
            The tensors that the call writes.

        Raises:
            InvalidArgumentError: An argument is invalid, or on another device.
            AclError: CANN refused the call.
        """
        tensor: Any = given[0]
        index = tensor.get_device()
        if index < 0:  # of a device that has no stream
            return self._first([], given, options, wanted)
        handle = self._handle_of(index)  # PyTorch submits its pending work now
        layouts = [
            None if t is None else (t.shape, t.stride(), t.dtype, t.get_device()) for t in given
        ]
        key = (handle, wanted, options, *map(type, options), *layouts)
        free = self._known.get(key)
        if free is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            free = self._known[key] = []
        try:
            kept = free.pop()
        except IndexError:
            return self._first(free, given, options, wanted)
        try:
            timeline = kept.stream._current
            if timeline is None or timeline.crowded:
                return self._first([], given, options, wanted)
            for place, address in kept.given:
                tensor = given[place]
                if self._format_of(tensor) not in DENSE:
                    require_dense(self._name, self._names[place], tensor)
                address[0] = tensor.data_ptr()
                if not address[0]:  # its memory is gone, which the first call refuses
                    return self._first([], given, options, wanted)
            empty, device = self._empty, kept.device
            made = []
            for shape, dtype, address in kept.specs:
                tensor = empty(shape, dtype=dtype, device=device)
                address[0] = tensor.data_ptr()
                made.append(tensor)
            if kept.room:
                block = empty(kept.room, dtype=self._torch.uint8, device=device)
                start = block.data_ptr()
                for offset, address in kept.spare:
                    address[0] = start + offset
            status = kept.operator.function(timeline.struct, NO_PLAN, 0, kept.message)
            if status > 0:
                raise kept.failure(status)
        finally:
            free.append(kept)
        if status == CLEANUP_FAILED:
            report_cleanup()
        elif status:  # CANN was not asked, or only for the size of a workspace
            return self._first([], given, options, wanted)
        return made

    def _first(
        self,
        free: list[_Kept],
        given: Sequence[Tensor | None],
        options: tuple[Any, ...],
        wanted: int | None,
    ) -> list[Tensor]:
        """Make a call of layouts for which none is free, and keep it there."""
        made = self.made(given, options)
        tensors = [*given, *made]
        places = [None if tensor is None else Place(place) for place, tensor in enumerate(tensors)]
        call = self._call(places[: len(given)], places[len(given) :], *options)
        npu = on_npu(self._name, self._names[0], given[0])
        views = {
            place: npu.array(self._names[place], tensors[place])
            if place < len(given)
            else npu.result("out", tensors[place])
            for place in sorted(p.at for p in (*call.arguments, *call.out) if type(p) is Place)
        }

        def view(argument: Any) -> Any:
            return views[argument.at] if type(argument) is Place else argument

        results = {"stream": npu.stream, "out": [*map(view, call.out)], **call.options}
        checked = call.function.prepare(*map(view, call.arguments), **results)
        arguments = frozen(checked.launch())
        used = {id(array) for array in arguments if isinstance(array, DeviceArray)}
        # Others have memory that the call allocated, or none.
        if (
            checked.is_repeatable
            and checked.zeros is None
            and used == {id(array) for array in views.values() if array._memory.borrowed}
            and views.keys() >= set(range(len(given), len(tensors)))
        ):
            count = len(made) if wanted is None else wanted
            spare = [-(-tensor.nbytes // _ALIGNED) * _ALIGNED for tensor in made[count:]]
            starts = [*itertools.accumulate(spare, initial=0)]
            addresses = {place: _address(array) for place, array in views.items()}
            ours = [addresses[place] for place in range(len(given), len(tensors))]
            rows = zip(made[:count], ours[:count], strict=True)
            kept = _Kept(
                stream=npu.stream,
                operator=checked.operator,
                arguments=arguments,
                message=checked.operator.message(arguments),
                given=[(place, at) for place, at in addresses.items() if place < len(given)],
                specs=[(t.shape, t.dtype, at) for t, at in rows],
                spare=[*zip(starts[:-1], ours[count:], strict=True)],
                room=starts[-1],
                device=made[0].device,
            )
            free.append(kept)
        return made[:wanted]


def _address(array: DeviceArray) -> memoryview:
    """Return where the address of an array's memory is written for the launcher."""
    return memoryview(raw.ffi.buffer(raw.ffi.addressof(array._memory.block, "address"))).cast("Q")
