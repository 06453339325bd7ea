# SPDX-License-Identifier: Apache-2.0
"""Cache of validated calls, keyed by argument layouts and options.

The layouts and options of a call decide whether an operator accepts it. An accepted
call leaves a path under these, and the next equal call goes straight to the launcher. The launcher
checks properties beside layouts: whether the memory is open, and whether it overlaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from pyaclnn.base.errors import repr_of
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.launch import CLEANUP_FAILED, failure, report_cleanup
from pyaclnn.calling.operator import NO_PLAN
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.pool import pool_of
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.base.errors import AclError
    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.call import Call
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["MOST_KEPT", "NAMES", "Path", "Paths", "exact", "layouts", "types_of"]

MOST_KEPT: Final = 1024
"""The most paths of an operator; a program with more shapes than that starts over."""


def layouts(out: object) -> tuple[Layout | None, ...]:
    """Return the layouts of arrays given as ``out``; None stands for one to be allocated.

    Raises:
        TypeError: ``out`` is no tuple or list.
        AttributeError: An array is no device array.
    """
    if type(out) is not tuple and type(out) is not list:
        raise TypeError
    return tuple([None if array is None else array._layout for array in cast("Any", out)])


def exact(options: tuple[object, ...], path: Path) -> bool:
    """Return whether options equal those of a path in type too: ``1`` and ``True`` are equal.

    Args:
        options: The options of the call, each equal to that of the path.
        path: The path found under them.
    """
    for mine, known in zip(options, path.options):  # noqa: B905  # of one length, and in a hurry
        if mine is not known and types_of(mine) != types_of(known):
            return False
    return True


def types_of(option: object) -> object:
    """Return the type of an option, and of its items: ``1``, ``1.0`` and ``True`` are equal."""
    if isinstance(option, (tuple, list)):
        return (type(option), *map(type, option))
    return type(option)


class Path:
    """A validated call, ready to be launched again with other arrays of the same layouts.

    Attributes:
        options: The options of the call, the very objects.
        operator: The operator to launch.
        constants: The words of arguments that are no tensors.
        pack: Makes a message of all words and the tail.
        tail: The part of the message for arguments that are longer than a word.
    """

    __slots__ = (
        "_allocates",
        "_arguments",
        "_context",
        "_hidden",
        "_layouts",
        "constants",
        "operator",
        "options",
        "pack",
        "tail",
    )

    def __init__(
        self, call: Call, arguments: Sequence[Argument], options: tuple[object, ...]
    ) -> None:
        """Keep what follows from a call.

        Args:
            call: The call, launched on device arrays without an error.
            arguments: Its arguments with results allocated.
            options: Its options, the very objects.
        """
        results = call.interface.results
        self.operator = call.operator
        words, self.tail = self.operator.words(arguments)
        self.pack = self.operator.packer(self.tail)
        self._context = next(a._layout.context for a in arguments if isinstance(a, DeviceArray))
        self._layouts = [
            arguments[place]._layout if call.arguments[place].__class__ is Empty else None
            for place in results
        ]
        self._allocates = any(self._layouts)
        self._hidden = [place in call.hidden for place in results]
        is_tensor = [kind in "tw" for kind in self.operator.kinds]
        # Arrays would be kept alive.
        pairs = zip(arguments, is_tensor, strict=True)
        self._arguments = [None if tensor else argument for argument, tensor in pairs]
        rows = zip(words, is_tensor, strict=True)
        self.constants = tuple(word for word, tensor in rows if not tensor)
        self.options = options

    def timeline(self, stream: StreamLike | None, device: Device) -> Timeline | None:
        """Return the timeline to use, or None if stream or device need the slow path."""
        if stream is None:
            timeline: Timeline | None = device._timeline
        elif type(stream) is Stream:
            timeline = stream._current
        else:
            return None
        if timeline is None or timeline.context != self._context or timeline.crowded:
            return None
        return timeline

    def results(
        self, timeline: Timeline, device: Device, out: Sequence[Any] | None
    ) -> Sequence[Any]:
        """Return the results: the arrays in ``out``, the others allocated, None for NULL."""
        if not self._allocates:
            return [None] * len(self._layouts) if out is None else out
        take = pool_of(timeline)._take
        if out is None:
            return [
                None if layout is None else array_on_loan(take(layout, device), device)
                for layout in self._layouts
            ]
        return [
            array if layout is None else array_on_loan(take(layout, device), device)
            for layout, array in zip(self._layouts, out, strict=True)
        ]

    def visible(self, results: Sequence[Any]) -> Sequence[Any]:
        """Return the results that the caller gets: None for those that only C wants."""
        pairs = zip(results, self._hidden, strict=True)
        return [None if hidden else result for result, hidden in pairs]

    def failure(self, status: int, tensors: Sequence[Argument]) -> AclError | MemoryError:
        """Return the error of a call that CANN refused just now.

        Args:
            status: The status of the launcher.
            tensors: The tensors among the arguments, in C order.
        """
        rest = iter(tensors)
        pairs = zip(self._arguments, self.operator.kinds, strict=True)
        arguments = [next(rest) if kind in "tw" else argument for argument, kind in pairs]
        return failure(status, self.operator.describe(arguments))


class Paths(dict[Any, Path]):
    """The paths of one operator."""

    def remember(self, key: Any, call: Call, arguments: Sequence[Argument]) -> None:
        """Keep a path.

        Args:
            key: The layouts of the call, and last its options.
            call: The call, launched on device arrays without an error.
            arguments: Its arguments with results allocated.
        """
        if len(self) >= MOST_KEPT:
            self.clear()
        self[key] = Path(call, arguments, key[-1])


NAMES: Final[dict[str, Any]] = {
    "exact_": exact,
    "repr_": repr_of,
    "layouts_": layouts,
    "no_plan_": NO_PLAN,
    "report_cleanup_": report_cleanup,
    "cleanup_failed_": CLEANUP_FAILED,
}
"""The names that the source of a function refers to on its fast path."""
