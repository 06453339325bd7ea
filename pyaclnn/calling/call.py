# SPDX-License-Identifier: Apache-2.0
"""A validated call of an operator, and the interface that it was validated for.

NumPy arrays in mean NumPy arrays out, when all is done. Device arrays in mean device arrays out,
queued on the stream and not waited for. A description or a declaration validates a call
(:mod:`pyaclnn.calling.described`, :mod:`pyaclnn.calling.undescribed`); everything after that is
the same for both.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.arguments import arrays_in
from pyaclnn.calling.arrays import check_overlap
from pyaclnn.calling.dynamic_shape import Descriptors, Unsettled
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.launch import launch_operator
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.operator import Operator
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.stream import Stream

__all__ = ["Call", "Interface", "map_arrays", "named_arrays"]


class Interface(NamedTuple):
    """An operator as Python calls it: the names of its parameters, and its results.

    Attributes:
        routine: Its name in error messages.
        load: Returns the operator to launch; raises if the loaded libraries lack it.
        names: The Python names of the parameters, in C order.
        tensors: The places of tensors and lists of tensors, in C order.
        results: The places of tensors that are written and not read.
        returned: The places of the tensors that the function returns.
        make_result: Makes the return value of the returned arrays.
        guessed: True if it is a guess which tensors are written.
        found_later: True if the shapes of results are known only after the operator has run.
        refuse_mistake: Raises if the numbers of NumPy arrays, in C order, have another meaning than
            the operator gives them on a device; None if that is not looked for.
        refuse_meaning: Raises if the numbers of a device array could have another meaning than the
            argument of a name; None if no argument has another one on another chip.
    """

    routine: str
    load: Callable[[], Operator]
    names: tuple[str, ...]
    tensors: tuple[int, ...]
    results: tuple[int, ...]
    returned: tuple[int, ...]
    make_result: Callable[..., Any]
    guessed: bool = False
    found_later: bool = False
    refuse_mistake: Callable[[Sequence[Any], Device], None] | None = None
    refuse_meaning: Callable[[Mapping[str, Any], Mapping[str, Any]], None] | None = None


class Call:
    """A validated call that has not been launched. Plans and fast paths are built from it.

    Attributes:
        interface: The operator.
        arguments: The arguments in C order: arrays, tuples of arrays, constants, None for NULL, and
            an ``Empty`` for each array to be allocated.
        writes: The places of the arrays that this call writes.
        on_host: True if the arrays are NumPy arrays.
        hidden: The places of results that C gets and the caller does not.
        zeros: The places of results that become 0 without a call of CANN, or None.
        overlap_checked: True if overlaps of the arrays were refused already.
        is_repeatable: True if a call of equal layouts and options needs no validation.
        requested: The stream that the caller gave, or None.
        bundles: How NumPy arrays of this call lie together on devices, by context.
    """

    def __init__(
        self,
        interface: Interface,
        arguments: Sequence[Argument],
        stream: StreamLike | None,
        *,
        writes: Sequence[int],
        on_host: bool = False,
        hidden: frozenset[int] = frozenset(),
        zeros: tuple[int, ...] | None = None,
        overlap_checked: bool = False,
        is_repeatable: bool = True,
    ) -> None:
        """Keep what validation found; ``stream`` is what the caller gave."""
        self.interface = interface
        self.arguments = arguments
        self.writes = writes
        self.on_host = on_host
        self.hidden = hidden
        self.zeros = zeros
        self.overlap_checked = overlap_checked
        self.is_repeatable = is_repeatable and not interface.found_later
        self.requested = stream
        self.bundles: dict[int, Any] = {}

    def without_arrays(self) -> Call:
        """Return a copy that keeps no array alive, for ``arguments_of``."""
        other = object.__new__(Call)
        other.__dict__.update(self.__dict__)
        other.requested, other.arguments = None, self.arguments_of({})
        return other

    def arguments_of(self, given: Mapping[str, Any]) -> list[Any]:
        """List the arguments of the same call of other arrays, of the same shapes and dtypes.

        Args:
            given: The arguments by their Python names.
        """
        arguments, names = list(self.arguments), self.interface.names
        for place in self.interface.tensors:
            if arguments[place].__class__ is not Empty:
                arguments[place] = given.get(names[place])
        return arguments

    @property
    def operator(self) -> Operator:
        """The operator to launch.

        Raises:
            MissingSymbolError: The loaded libraries do not have it.
        """
        return self.interface.load()

    @property
    def stream(self) -> Stream:
        """The stream that the work is queued on."""
        device = None
        for array in arrays_in(self.arguments):
            device = array.device
            break
        return require_stream(self.interface.routine, self.requested, device)

    @property
    def is_new(self) -> bool:
        """Return whether the call writes only arrays that it allocates."""
        return all(_is_to_be_made(self.arguments[place]) for place in self.writes)

    def place(self, stream: Stream) -> list[Any]:
        """List the arguments in C order, with results allocated in the order of a stream."""
        arguments = list(self.arguments)
        device = stream.device

        def allocated(value: Any) -> Any:
            if value.__class__ is not Empty:
                return value
            layout = Layout.dense(device._context, value.dtype, value.shape)
            return array_on_loan(stream.pool._take(layout, device), device)

        for place in self.interface.results:
            value = arguments[place]
            if value.__class__ is Empty or (value.__class__ is tuple and Empty in map(type, value)):
                arguments[place] = map_arrays(allocated, value)
        return arguments

    def launch(self) -> list[Any]:
        """Queue a call on device arrays, and return its arguments with results allocated.

        Raises:
            AclError: CANN refused the call; the error describes every argument.
        """
        stream = self.stream
        arguments = self.place(stream)
        if self.zeros is not None:
            for place in self.zeros:
                arguments[place].fill_bytes(0, stream)
            return arguments
        judge = None if self.overlap_checked else partial(self.check_overlap, arguments)
        if not self.interface.found_later:
            launch_operator(self.operator, *arguments, stream=stream, judge=judge)
            return arguments
        kept = Descriptors(self.operator, arguments, stream, judge)
        for place in self.interface.results:
            if arguments[place] is not None:
                arguments[place] = Unsettled(arguments[place], kept, place)
        return arguments

    def check_overlap(self, arguments: Sequence[Argument]) -> None:
        """Check element by element that what is written lies apart from all other arrays.

        Raises:
            InvalidArgumentError: It does not; only a warning if the direction is a guess.
        """
        interface = self.interface
        arrays = dict(named_arrays(interface.names, arguments, interface.tensors))
        try:
            for name, _ in named_arrays(interface.names, arguments, self.writes):
                check_overlap(interface.routine, name, arrays)
        except InvalidArgumentError as error:
            if not interface.guessed:
                raise
            words = f"{error}\nThat it is written is a guess: no document of it is known."
            warnings.warn(words, RuntimeWarning, stacklevel=5)

    def check_meaning(self, name: str, array: Any) -> None:
        """Check that the numbers of another array for an argument have its meaning.

        Raises:
            InvalidArgumentError: They could have another one.
        """
        if self.interface.refuse_meaning is not None:
            values = dict(zip(self.interface.names, self.arguments, strict=True))
            self.interface.refuse_meaning(values, {name: array})

    def result(self, arguments: Sequence[Argument]) -> Any:
        """Return the results of the call, taken from its arguments."""
        found = [arguments[place] for place in self.interface.returned]
        if self.hidden:
            pairs = zip(found, self.interface.returned, strict=True)
            found = [None if place in self.hidden else array for array, place in pairs]
        return self.interface.make_result(*found)


def _is_to_be_made(value: Any) -> bool:
    items = value if isinstance(value, tuple) else (value,)
    return all(item is None or item.__class__ is Empty for item in items)


def map_arrays(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to an array, or to each array of a tuple; None stays None."""
    if value.__class__ is tuple:
        return tuple([None if item is None else function(item) for item in value])
    return None if value is None else function(value)


def named_arrays(
    names: Sequence[str], arguments: Sequence[Any], places: Sequence[int]
) -> Iterator[tuple[str, Any]]:
    """Yield the arrays at some places by name; those in lists with their index."""
    for place in places:
        value, name = arguments[place], names[place]
        if isinstance(value, tuple):
            items = [(f"{name}[{item}]", array) for item, array in enumerate(value)]
        else:
            items = [(name, value)]
        yield from ((n, a) for n, a in items if isinstance(a, (np.ndarray, DeviceArray)))
