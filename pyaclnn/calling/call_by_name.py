# SPDX-License-Identifier: Apache-2.0
"""A call of any operator, by its C signature.

What is given is looked at closely only if it has to be: device arrays of one device go straight to
the launcher, which converts and refuses. The rest, such as NumPy arrays, results that are left out,
and whatever is wrong, takes its time here.
"""

from __future__ import annotations

import difflib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.arguments import arrays_in
from pyaclnn.calling.arrays import check_arrays, check_overlap, require_array
from pyaclnn.calling.call import Output
from pyaclnn.calling.dynamic_shape import Descriptors, Unsettled
from pyaclnn.calling.empty import Empty, LeftOut
from pyaclnn.calling.host import completed, fetch_into
from pyaclnn.calling.inference import inferred, why_not
from pyaclnn.calling.launch import launch_operator
from pyaclnn.calling.message import check
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.host import no_array
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.stream import require_stream
from pyaclnn.runtime.transfer import send_now

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyaclnn.calling.declared import Declared
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.stream import Stream

__all__ = ["CallByName", "refuse_others"]

_OR_NULL = "or None, which is NULL"


def refuse_others(
    declared: Declared, given: Sequence[Any], rest: Sequence[Any], others: Mapping[str, Any]
) -> None:
    """Refuse what an operator has no parameter for.

    Args:
        declared: The operator.
        given: What was given for its parameters.
        rest: What was given beyond the last.
        others: What was given by other names.

    Raises:
        InvalidArgumentError: There is something.
    """
    if rest:
        count, names = len(given) + len(rest), ", ".join(declared.names)
        expected = f"at most {len(given)}: {names}"
        raise InvalidArgumentError.of(declared.name, "arguments", f"{count} values", expected)
    for name in others:
        near = difflib.get_close_matches(name, [*declared.names, "stream"], 1)
        hint = f"did you mean '{near[0]}'?" if near else None
        expected = f"one of {', '.join(declared.names)}, stream"
        raise InvalidArgumentError.of(declared.name, name, "no parameter of it", expected, hint)


class CallByName:
    """A call of an operator that was not made yet; it is all that a plan needs of one.

    Attributes:
        declared: The operator.
        arguments: What was given, in C order, with nothing left out.
        on_host: Whether the arrays are NumPy arrays.
        plain: Whether only device arrays were given, none to be made.
        stream: Where the work goes.
    """

    def __init__(self, declared: Declared, given: Sequence[Any], stream: StreamLike | None) -> None:
        """Look at a call.

        Args:
            declared: What is called.
            given: What was given for each parameter, in C order.
            stream: The ``stream`` argument.

        Raises:
            InvalidArgumentError: Something is not acceptable.
        """
        self.declared = declared
        self.arguments = list(given)
        self.on_host = False
        first = self._first_of_plain()
        self.plain = first is not None
        if first is None:
            stream = self._look_closely(stream)
            first = next(arrays_in(self.arguments), None)
        device = None if first is None else first.device
        self.stream = require_stream(declared.name, stream, device)

    # ---- what was given -------------------------------------------------------------------------

    def _first_of_plain(self) -> DeviceArray | None:
        """The first array, if there are only device arrays, and nothing is to be made."""
        found: list[Any] = []
        arguments, kinds = self.arguments, self.declared.kinds
        for place in self.declared.tensors:
            value = arguments[place]
            if kinds[place] == "T" and value.__class__ in (tuple, list):
                arguments[place] = value = tuple(value)
                found += value
            elif value is not None:
                found.append(value)
        if {*map(type, found)} != {DeviceArray} or LeftOut in map(type, arguments):
            return None
        return found[0] if len({array._layout.context for array in found}) == 1 else None

    def _look_closely(self, stream: StreamLike | None) -> Stream | None:
        declared, names = self.declared, self.declared.names
        missing = [
            name
            for place, name in enumerate(names)
            if isinstance(self.arguments[place], LeftOut) and place not in declared.results
        ]
        if missing:
            given = (
                "left out" if len(missing) == 1 else f"left out, as are {', '.join(missing[1:])}"
            )
            expected = "given: C has no defaults"
            raise InvalidArgumentError.of(declared.name, missing[0], given, expected)
        for place, (name, kind) in enumerate(zip(names, declared.kinds, strict=True)):
            if place in declared.tensors:
                self.arguments[place] = self._taken(place)
            else:
                check(kind, self.arguments[place], declared.name, name)
        arrays = dict(self._arrays(declared.tensors))
        all_on_host, queue = check_arrays(declared.name, arrays, stream)
        self.on_host = all_on_host and bool(arrays)
        self._infer()
        return queue

    def _taken(self, place: int) -> Any:
        """An argument for tensors, with what lies in the host's memory as NumPy arrays."""
        value, name = self.arguments[place], self.declared.names[place]
        result = place in self.declared.results
        if isinstance(value, LeftOut):
            return value
        if self.declared.kinds[place] != "T":
            return self._array(name, value, result)
        if value is not None and not isinstance(value, tuple):
            expected = f"a sequence of NumPy arrays or DeviceArrays, {_OR_NULL}"
            raise InvalidArgumentError.of(self.declared.name, name, no_array(value), expected)
        items = enumerate(value or ())
        taken = tuple(self._array(f"{name}[{item}]", array, result) for item, array in items)
        return None if value is None else taken

    def _array(self, name: str, value: Any, result: bool) -> Any:
        if value is None or isinstance(value, DeviceArray) or (result and isinstance(value, Empty)):
            return value
        expected = f"a NumPy array or a DeviceArray, {'an Empty, ' if result else ''}{_OR_NULL}"
        array = require_array(self.declared.name, name, value, expected)
        dtype_of(array.dtype, self.declared.name, name)
        return array

    def _arrays(self, places: Sequence[int]) -> Iterator[tuple[str, Any]]:
        """The arrays that are there, by name; those in lists with their number."""
        for place in places:
            value, name = self.arguments[place], self.declared.names[place]
            if isinstance(value, tuple):
                items = [(f"{name}[{item}]", array) for item, array in enumerate(value)]
            else:
                items = [(name, value)]
            yield from ((n, a) for n, a in items if isinstance(a, (np.ndarray, DeviceArray)))

    def _infer(self) -> None:
        declared, names = self.declared, self.declared.names
        left = [p for p in declared.results if isinstance(self.arguments[p], LeftOut)]
        if not left:
            return
        known = {
            name: self.arguments[place]
            for place, name in enumerate(names)
            if place not in declared.results
        }
        made = inferred(declared.name, known, [names[place] for place in declared.results])
        for place in left:
            if names[place] not in made:
                expected = "an array, or pyaclnn.Empty(shape, dtype)"
                hint = (
                    f"{why_not(declared.name, known)}; a rule of your own does with "
                    f"@pyaclnn.shape_rule({declared.name!r})."
                )
                raise InvalidArgumentError.of(
                    declared.name, names[place], "left out", expected, hint
                )
            found = made[names[place]]
            self.arguments[place] = tuple(found) if isinstance(found, list) else found

    # ---- what a plan and the fast path look at --------------------------------------------------

    @property
    def operator(self) -> str:
        """The C name of phase 2."""
        return self.declared.name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return self.declared.names

    @property
    def written(self) -> frozenset[int]:
        """The places of what the operator writes."""
        return self.declared.directions.written

    @property
    def outputs(self) -> dict[str, Output]:
        """What the operator writes, all of it given."""
        found = {self.names[p]: self.arguments[p] for p in self.declared.written}
        return {
            name: Output(array.shape, array.dtype, array)
            for name, array in found.items()
            if array is not None
        }

    def result(self, arguments: Sequence[Any]) -> Any:
        """Return what is written, in C order; alone if it is one."""
        found = tuple(arguments[place] for place in self.declared.written)
        return found[0] if len(found) == 1 else found

    def planned(self) -> CallByName:
        """Allocate what is missing, so that a plan can be made of the call.

        Raises:
            InvalidArgumentError: The arrays lie on the host, or overlap.
        """
        if self.on_host:
            expected, hint = "device arrays", "use to_device()."
            raise InvalidArgumentError.of("plan", "arguments", "NumPy arrays", expected, hint)
        self._allocate()
        self._judge_overlap()
        return self

    # ---- making it ------------------------------------------------------------------------------

    def make(self) -> Any:
        """Make the call: queue it, or, with NumPy arrays, do it and come back with the results.

        Raises:
            AclError: CANN refused the call; the error describes every argument.
        """
        if self.on_host:
            return self._make_on_host()
        if not self.plain:
            self._allocate()
        if self.declared.found_later:
            return self.result(self._make_to_be_settled())
        self._launch(self.arguments)
        return self.result(self.arguments)

    def _allocate(self) -> None:
        for place in self.declared.results:
            value = self.arguments[place]
            if isinstance(value, tuple):
                self.arguments[place] = tuple(map(self._allocated, value))
            else:
                self.arguments[place] = self._allocated(value)

    def _allocated(self, value: Any) -> Any:
        return self._new(value, idle=False) if isinstance(value, Empty) else value

    def _new(self, like: Any, *, idle: bool) -> DeviceArray:
        device = self.stream.device
        layout = Layout.dense(device._context, like.dtype, like.shape)
        return array_on_loan(self.stream.pool._take(layout, device, idle=idle), device)

    def _launch(self, arguments: Sequence[Any]) -> None:
        operator = self.declared.operator
        launch_operator(operator, *arguments, stream=self.stream, judge=self._judge_overlap)

    def _judge_overlap(self) -> None:
        """Look at overlaps element by element; only a guessed direction lets one pass."""
        declared = self.declared
        arrays = dict(self._arrays(declared.tensors))
        try:
            for name, _ in self._arrays(declared.written):
                check_overlap(declared.name, name, arrays)
        except InvalidArgumentError as error:
            if not declared.directions.guessed:
                raise
            words = f"{error}\nThat it is written is a guess: no document of it is known."
            warnings.warn(words, RuntimeWarning, stacklevel=5)

    def _make_to_be_settled(self) -> list[Any]:
        """Queue the call and keep what tells the shapes of its results."""
        operator, judge = self.declared.operator, self._judge_overlap
        kept = Descriptors(operator, self.arguments, self.stream, judge)
        found = list(self.arguments)
        for place in self.declared.results:
            if found[place] is not None:
                found[place] = Unsettled(found[place], kept, place)
        return found

    def _make_on_host(self) -> Any:
        declared = self.declared
        self._judge_overlap()
        for name, array in self._arrays(declared.written):
            if not array.flags.writeable:
                raise InvalidArgumentError.of(declared.name, name, "read-only", "writable")
        stream = self.stream
        with stream.device._active():
            sent = [self._sent(place) for place in range(len(self.arguments))]
            with completed(stream):
                if declared.found_later:
                    kept = Descriptors(declared.operator, sent, stream)
                else:
                    launch_operator(declared.operator, *sent, stream=stream)
            for place in declared.written:
                if declared.found_later and sent[place] is not None:
                    array = Unsettled(sent[place], kept, place).actual()
                    self.arguments[place] = array.numpy()
                else:
                    self._fetch(place, sent[place])
        return self.result(self.arguments)

    def _sent(self, place: int) -> Any:
        value = self.arguments[place]
        if place not in self.declared.tensors or value is None:
            return value
        if isinstance(value, tuple):
            return tuple(None if item is None else self._send(item) for item in value)
        return self._send(value)

    def _send(self, value: Any) -> DeviceArray:
        # Copies happen at once, so the memory must not be one that queued work still uses.
        array = self._new(value, idle=True)
        if isinstance(value, np.ndarray):
            send_now(np.asarray(value, order="C"), array._memory)
        return array

    def _fetch(self, place: int, sent: Any) -> None:
        value = self.arguments[place]
        if isinstance(value, tuple):
            pairs = zip(value, sent, strict=True)
            self.arguments[place] = tuple(
                None if array is None else _fetched(target, array) for target, array in pairs
            )
        elif value is not None:
            self.arguments[place] = _fetched(value, sent)


def _fetched(target: Any, array: DeviceArray) -> Any:
    if isinstance(target, Empty):
        target = np.empty(target.shape, target.dtype)
    fetch_into(target, array)
    return target
