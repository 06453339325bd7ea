# SPDX-License-Identifier: Apache-2.0
"""What was found out about a call, for the next one with arrays of the same layouts.

Whether an operator accepts its arguments follows from their layouts and its options. A call that
was accepted leaves a recipe under these, and the next one goes straight to the launcher. The
launcher looks at what layouts do not tell: whether the memory is open, and whether it overlaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pyaclnn.calling.arguments import describe, value_of
from pyaclnn.calling.invocation import Masked, Output
from pyaclnn.calling.launch import NO_PLAN, UNTIDY, failure, launcher, report_untidy
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.pool import pool_of
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.invocation import Prepared
    from pyaclnn.errors import AclError
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Recipe", "Recipes", "exact", "layouts", "prepared_by"]

_Operator = TypeVar("_Operator", bound="Callable[..., Any]")

_MOST: Final = 1024
"""So many recipes are kept for an operator; a program with more shapes than that starts over."""


def layouts(out: object) -> tuple[Layout | None, ...] | None:
    """Return the layouts of arrays given as ``out``; None stands for none given.

    Raises:
        TypeError: ``out`` is no tuple or list.
        AttributeError: An array is no device array.
    """
    if out is None:
        return None
    if out.__class__ is not tuple and out.__class__ is not list:
        raise TypeError
    return tuple([None if array is None else array.layout for array in cast("Any", out)])


def exact(options: tuple[object, ...], recipe: Recipe) -> bool:
    """Tell whether options are those of a recipe in type too: ``1`` and ``True`` are equal.

    Args:
        options: The options of the call, each equal to that of the recipe.
        recipe: The recipe found under them.
    """
    return all(
        mine is known or _types(mine) == _types(known)
        for mine, known in zip(options, recipe.options, strict=True)
    )


def _types(option: object) -> object:
    if isinstance(option, (tuple, list)):
        return type(option), [type(item) for item in option]
    return type(option)


def prepared_by(prepare: Callable[..., Prepared]) -> Callable[[_Operator], _Operator]:
    """Tell a public operator how its calls are checked, so that plans can be made of them."""

    def mark(operator: _Operator) -> _Operator:
        operator.prepare = prepare  # type: ignore[attr-defined]  # functions take attributes
        return operator

    return mark


class Recipe:
    """How to make a call again.

    Attributes:
        options: The options that led to it, the very objects.
        kept: The arguments that are no tensors.
        constants: Their values, as the launcher takes them.
        allocates: Whether there are results to be allocated.
    """

    __slots__ = (
        "_context",
        "_first_output",
        "_launcher",
        "_outputs",
        "allocates",
        "constants",
        "kept",
        "options",
    )

    def __init__(self, prepared: Prepared, options: tuple[object, ...]) -> None:
        """Keep what ``prepared``, which was accepted, found out."""
        arguments = prepared.arguments
        outputs = prepared.outputs()
        results = [v for v in prepared.parameters.values() if isinstance(v, (Output, Masked))]
        tensors = [a for a in arguments if a is None or isinstance(a, DeviceArray)]
        self._launcher = launcher(prepared.operator)
        # Results that are masked off stand among the last tensors, as NULL.
        self._first_output = len(tensors) - prepared.result_count
        layouts = [a.layout if isinstance(a, DeviceArray) else None for a in outputs]
        self._context = next(layout.context for layout in layouts if layout is not None)
        given = [isinstance(value, Output) and value.given is not None for value in results]
        self._outputs = [
            None if there else layout for layout, there in zip(layouts, given, strict=True)
        ]
        self.allocates = any(layout is not None for layout in self._outputs)
        self.kept = [a for a in arguments if a is not None and not isinstance(a, DeviceArray)]
        self.constants = tuple(value_of(a) for a in self.kept)
        self.options = options

    def timeline(self, stream: Stream | None, device: Device) -> Timeline | None:
        """Return the timeline to use, or None if stream or device need a closer look."""
        if stream is None:
            timeline: Timeline | None = device.timeline
        elif stream.__class__ is Stream:
            timeline = stream.current
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
        take = pool_of(timeline).take
        on_loan = DeviceArray.on_loan
        made = [
            None if layout is None else on_loan(take(layout, device), device)
            for layout in self._outputs
        ]
        if out is None:
            return made
        return [new if array is None else array for new, array in zip(made, out, strict=True)]

    def queue(self, timeline: Timeline, *values: Any) -> int:
        """Make the call.

        Args:
            timeline: Of the stream to use.
            *values: What the launcher takes, in the order of the C interface.

        Returns:
            0; less than 0 if CANN was not asked and the call needs a closer look; more than 0 if
            CANN refused it, see ``failure``.
        """
        status: int = self._launcher.function(timeline.struct, NO_PLAN, self._first_output, *values)
        if status == UNTIDY:
            report_untidy()
            return 0
        return status

    def failure(self, status: int, *arguments: Argument) -> AclError:
        """Return the error of a call that CANN refused just now.

        Args:
            status: What ``queue`` returned.
            *arguments: The arguments, in the order of the C interface.
        """
        return failure(status, describe(self._launcher.names, arguments))


class Recipes(dict[Any, Recipe]):
    """The recipes of one operator."""

    def remember(self, key: object, prepared: Prepared, options: tuple[object, ...]) -> None:
        """Keep what a call found out, if it was made on device arrays.

        Args:
            key: The layouts and options of the call.
            prepared: The call, made without an error.
            options: The options, the very objects.
        """
        if prepared.on_host or prepared.action is not None or key is None:
            return
        if len(self) >= _MOST:
            self.clear()
        self[key] = Recipe(prepared, options)
