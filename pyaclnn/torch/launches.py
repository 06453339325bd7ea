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
from pyaclnn.calling.tensor_calls import TensorCall, launch_again, layouts_of
from pyaclnn.cann import raw
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.torch.tensors import (
    at_exit,
    empty_on,
    handle_of,
    is_readable,
    on_npu,
    pytorch,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.calling.operator import Operator
    from pyaclnn.runtime.stream import Stream
    from pyaclnn.torch.tensors import Tensor

__all__ = ["Call", "Launches", "Place", "Spec"]

_MOST_KEPT: Final = 1024
"""The most layouts of an operator; a program with more of them starts over."""
_MOST_ALIKE: Final = 16
"""The most of them whose first tensors are alike, those that were used last: threads share a layout
by having one each."""
_ALIGNED: Final = 512
"""Bytes: tensors that share a block begin at multiples of this, as PyTorch's own blocks do."""

_DIFFERS: Final = int(raw.BINDING_DIFFERS)
"""The launcher's answer that tensors have other layouts, or no memory."""
_NOT_ASKED: Final = int(raw.BINDING_BUSY)
"""The answer that CANN was not asked."""

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
    """A call that was made, for the next one with tensors of the same layouts.

    Attributes:
        stream: Where it goes.
        operator: The operator.
        arguments: Its arguments in C order, with views of tensors.
        known: The same for C, with the layouts of the given tensors.
        specs: The shape, the strides and the dtype of each made tensor that is returned, and of a
            block for the others.
        returned: The number of those that are returned.
    """

    stream: Any
    operator: Any
    arguments: Sequence[Any]
    known: TensorCall
    specs: Sequence[tuple[Sequence[int], Sequence[int], Any]]
    returned: int

    def launch(self, given: Sequence[Tensor], index: int) -> tuple[int, list[Tensor]]:
        """Make tensors, and launch the call.

        Args:
            given: The tensors that are given, without those that are omitted.
            index: Their NPU.

        Returns:
            0 if CANN has taken it, or less; and the made tensors.
        """
        timeline = self.stream._current
        if timeline is None or timeline.crowded:
            return _NOT_ASKED, []
        empty = empty_on(index)
        made = [empty(*spec) for spec in self.specs]
        tensors = [*given, *made]
        status = launch_again(self.known.struct, id(tensors), timeline.struct)
        if status > 0:
            for array in self.arguments:
                if isinstance(array, DeviceArray):
                    array._memory.pointer = array._memory.block.address
            raise failure(status, self.operator.describe(self.arguments))
        if status == CLEANUP_FAILED:
            report_cleanup()
            status = 0
        return status, made[: self.returned]


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
        self._handle_of = handle_of()
        at_exit(self._known.clear)

    def made(self, given: Sequence[Tensor | None], options: tuple[Any, ...]) -> list[Tensor]:
        """Allocate the tensors that a call makes, also without memory."""
        like: Any = given[0]
        specs = self._specs(given, *options)
        return [like.new_empty(shape, dtype=dtype) for shape, dtype in specs]

    def run(
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
        tensors = [t for t in given if t is not None]
        absent = () if len(tensors) == len(given) else tuple([t is None for t in given])
        key = (handle, wanted, options, *map(type, options), absent, tensor.shape, tensor.dtype)
        free = self._known.get(key)
        if free is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            free = self._known[key] = []
        # To choose among several, without making tensors for those of other layouts.
        layouts = layouts_of(tensors) if len(free) > 1 else None
        for _ in range(len(free)):
            try:
                kept = free.pop()
            except IndexError:  # other threads have taken them
                break
            status = _DIFFERS
            try:
                if layouts is None or kept.known.has(layouts):
                    status, made = kept.launch(tensors, index)
            finally:  # those of other layouts come next
                free.insert(0 if status == _DIFFERS else len(free), kept)
            if not status:
                return made
            if status != _DIFFERS:
                return self._first([], given, options, wanted)
        return self._first(free, given, options, wanted)

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
            is_readable()
            and checked.is_repeatable
            and checked.zeros is None
            and not checked.operator.struct.invoke  # by Python
            and used == {id(array) for array in views.values() if array._memory.borrowed}
            and views.keys() >= set(range(len(given), len(tensors)))
        ):
            kept = _kept(checked.operator, arguments, given, made, wanted, views, npu.stream)
            if kept is not None:
                free.append(kept)
                del free[:-_MOST_ALIKE]
        return made[:wanted]


def _kept(
    operator: Operator,
    arguments: Sequence[Any],
    given: Sequence[Tensor | None],
    made: Sequence[Tensor],
    wanted: int | None,
    views: Mapping[int, DeviceArray],
    stream: Stream,
) -> _Kept | None:
    """Return what is kept of a call that was made.

    Args:
        operator: The operator.
        arguments: Its arguments in C order, with views of tensors.
        given: The tensors that are given; None for an omitted one.
        made: Those that were made.
        wanted: The number of made tensors that are returned; all of them if None.
        views: The views of tensors, by their places among all.
        stream: Where the call went.

    Returns:
        None if C cannot read a tensor that is given.
    """
    listed = [tensor for tensor in given if tensor is not None]
    returned, others = made[:wanted], made[len(made[:wanted]) :]
    sizes = [-(-tensor.nbytes // _ALIGNED) * _ALIGNED for tensor in others]
    *starts, room = itertools.accumulate(sizes, initial=0)
    specs = [(tuple(t.shape), t.stride(), t.dtype) for t in returned]
    if room:
        specs.append(((room,), (1,), pytorch().uint8))
    # The place of each tensor in the list that C gets, and its first byte there.
    ahead = itertools.accumulate([tensor is not None for tensor in given[:-1]], initial=0)
    found = [(at, 0) for at in ahead]
    found += [(len(listed) + at, 0) for at in range(len(returned))]
    found += [(len(listed) + len(returned), start) for start in starts]
    places = [(view, *found[place]) for place, view in views.items()]
    known = TensorCall.of(operator, arguments, listed, places)
    if known is None:
        return None
    return _Kept(stream, operator, arguments, known, specs, len(returned))
