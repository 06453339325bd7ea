# SPDX-License-Identifier: Apache-2.0
"""What was found out about a call, for the next one with arrays of the same layouts.

Whether an operator accepts its arguments follows from their layouts and its options. A call that
was accepted leaves a path under these, and the next one goes straight to the launcher. The
launcher looks at what layouts do not tell: whether the memory is open, and whether it overlaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from pyaclnn.calling.launch import UNTIDY, failure, report_untidy
from pyaclnn.calling.operator import NO_PLAN, operator
from pyaclnn.runtime.array import DeviceArray, array_on_loan
from pyaclnn.runtime.pool import pool_of
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.base.errors import AclError
    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.call import Output
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["MOST_KEPT", "WRITTEN_WITH", "Path", "Paths", "exact", "layouts", "types_of"]

MOST_KEPT: Final = 1024
"""So many paths are kept for an operator; a program with more shapes than that starts over."""


def layouts(out: object) -> tuple[Layout | None, ...]:
    """Return the layouts of arrays given as ``out``; None stands for what is to be allocated.

    Raises:
        TypeError: ``out`` is no tuple or list.
        AttributeError: An array is no device array.
    """
    if type(out) is not tuple and type(out) is not list:
        raise TypeError
    return tuple([None if array is None else array._layout for array in cast("Any", out)])


def exact(options: tuple[object, ...], path: Path) -> bool:
    """Tell whether options are those of a path in type too: ``1`` and ``True`` are equal.

    Args:
        options: The options of the call, each equal to that of the path.
        path: The path found under them.
    """
    return all(
        mine is known or types_of(mine) == types_of(known)
        for mine, known in zip(options, path.options, strict=True)
    )


def types_of(option: object) -> object:
    """Return the type of an option, and of what is in it: ``1``, ``1.0`` and ``True`` are equal."""
    if isinstance(option, (tuple, list)):
        return (type(option), *map(type, option))
    return type(option)


class Accepted(Protocol):
    """A call that was made on device arrays without an error."""

    @property
    def operator(self) -> str:
        """The C name of phase 2."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the arguments, in the order of C."""

    @property
    def arguments(self) -> Sequence[Argument]:
        """The arguments in that order."""

    @property
    def outputs(self) -> Mapping[str, Output]:
        """The results by name, at least one of them."""

    @property
    def written(self) -> frozenset[int]:
        """The places of what the operator writes."""


class Path:
    """How to make a call again.

    Attributes:
        options: The options that led to it, the very objects.
        operator: What is launched.
        kept: The arguments that are no tensors.
        constants: Their words in a message.
        pack: Makes a message of all words and the tail.
        tail: What the message says of arguments that are longer than a word.
        allocates: Whether there are results to be allocated.
    """

    __slots__ = (
        "_context",
        "_outputs",
        "_wanted",
        "allocates",
        "constants",
        "kept",
        "operator",
        "options",
        "pack",
        "tail",
    )

    def __init__(self, call: Accepted, options: tuple[object, ...]) -> None:
        """Keep what ``call``, which was accepted, found out."""
        outputs = call.outputs.values()
        found = dict(zip(call.names, call.arguments, strict=True))
        arrays = [found[name] for name in call.outputs]
        self.operator = operator(call.operator, call.written)
        words, self.tail = self.operator.words(call.arguments)
        self.pack = self.operator.packer(self.tail)
        layouts = [a._layout if isinstance(a, DeviceArray) else None for a in arrays]
        given = (a._layout for a in call.arguments if isinstance(a, DeviceArray))
        self._context = next(layout.context for layout in given)
        self._outputs = [
            None if output.given is not None else layout
            for layout, output in zip(layouts, outputs, strict=True)
        ]
        self.allocates = any(layout is not None for layout in self._outputs)
        self._wanted = [output.wanted for output in outputs]
        kept = [place for place, kind in enumerate(self.operator.kinds) if kind not in "tw"]
        self.kept = [call.arguments[place] for place in kept]
        self.constants = tuple(words[place] for place in kept)
        self.options = options

    def timeline(self, stream: StreamLike | None, device: Device) -> Timeline | None:
        """Return the timeline to use, or None if stream or device need a closer look."""
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
        """Return what is given as ``out``, with what is missing there allocated.

        None stands for what is masked off.
        """
        if out is not None and not self.allocates:
            return out
        take = pool_of(timeline)._take
        made = [
            None if layout is None else array_on_loan(take(layout, device), device)
            for layout in self._outputs
        ]
        if out is None:
            return made
        return [new if array is None else array for new, array in zip(made, out, strict=True)]

    def shown(self, results: Sequence[Any]) -> Sequence[Any]:
        """Return what the caller gets of results: None for what C wanted and nobody else."""
        pairs = zip(results, self._wanted, strict=True)
        return [result if wanted else None for result, wanted in pairs]

    def failure(self, status: int, *arguments: Argument) -> AclError | MemoryError:
        """Return the error of a call that CANN refused just now.

        Args:
            status: What the launcher answered.
            *arguments: The arguments, in the order of the C interface.
        """
        return failure(status, self.operator.describe(arguments))


class Paths(dict[Any, Path]):
    """The paths of one operator."""

    def remember(self, key: object, call: Accepted, options: tuple[object, ...]) -> None:
        """Keep what a call found out.

        Args:
            key: The layouts and options of the call.
            call: The call, made on device arrays without an error.
            options: The options, the very objects.
        """
        if len(self) >= MOST_KEPT:
            self.clear()
        self[key] = Path(call, options)


WRITTEN_WITH: Final[dict[str, Any]] = {
    "exact": exact,
    "layouts": layouts,
    "no_plan": NO_PLAN,
    "report_untidy": report_untidy,
    "untidy": UNTIDY,
}
"""What the text of a written function calls by name, on its way along a path."""
