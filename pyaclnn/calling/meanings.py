# SPDX-License-Identifier: Apache-2.0
"""Meanings of numbers that CANN defines differently by chip, and whose name fits only one.

A result with such numbers remembers whose it is; a view of a caller's array, given by the word for
its numbers, has the word. An operator that reads such numbers takes no other device array.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.facts.chips import all_chips
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.device import default_device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.parameters import Tensor
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["family_of", "meaning_of", "of_saved", "refuse_meaning", "stated", "with_meanings"]


def family_of(device: Device) -> str:
    """Return the family of a device's chip; empty if the chip is not known."""
    name = device.soc_name
    return next((chip.family for chip in all_chips() if chip.soc_name == name), "")


def meaning_of(array: Any) -> str | None:
    """Return the word for the numbers of an array, or the name of the result that it is."""
    return getattr(array, "_meaning", None)


def with_meanings(operator: Operator, make_result: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes the results of an operator, which remember whose they are."""
    places = [(i, t.name) for i, t in enumerate(operator.returned) if t.by_chip]
    if not places:
        return make_result

    def made(*results: Any) -> Any:
        for place, name in places:
            if isinstance(results[place], DeviceArray):
                results[place]._meaning = name  # noqa: SLF001  # as below
        return make_result(*results)

    return made


def refuse_meaning(
    operator: Operator, values: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Refuse device arrays whose numbers could have another meaning than their arguments.

    Results of the forward operator and arrays given by the right word pass; where the name of the
    argument is the word, any array does, and so where the call does not train and reads none.

    Args:
        operator: The operator.
        values: The arguments of the call by their Python names.
        arrays: The arrays to look at, by the names of their arguments.

    Raises:
        InvalidArgumentError: An array could have another meaning, or has.
    """
    for tensor in operator.inputs:
        array = arrays.get(tensor.name) if tensor.by_chip and values["training"] else None
        if isinstance(array, DeviceArray):
            _refuse(operator, tensor, array)


def _refuse(operator: Operator, tensor: Tensor, array: DeviceArray) -> None:
    name, given, word = tensor.name, meaning_of(array), tensor.meaning(family_of(array.device))
    if given in (name, word) or (given is None and name.endswith(word)):
        return
    was = "a device array of unknown meaning" if given is None else f"given as '{given}'"
    must = f"the {word} on this chip, as {operator.saved[0]}() returns it in spite of the name"
    others = "".join(f"'{other}': ..., " for other in operator.saved[1:] if other != name)
    hint = f"pass saved=result; or saved={{{others}'{word}': ...}}, which states the meaning."
    raise InvalidArgumentError.of(operator.name, name, was, must, hint)


def of_saved(
    operator: Operator, saved: Any, given: tuple[Any, ...], stream: StreamLike | None
) -> tuple[Any, ...]:
    """Return the tensors that a call takes from the result of the forward operator.

    Args:
        operator: The operator that reads them.
        saved: That result, or arrays by name, by word where the meaning depends on the chip.
        given: The caller's arguments for the tensors themselves: none.
        stream: The stream of the call; its chip decides where there are NumPy arrays.

    Raises:
        InvalidArgumentError: It is something else, or has another meaning on this chip.
        TypeError: The caller gave one of the tensors twice.
    """
    forward, *names = operator.saved
    twice = next((n for n, value in zip(names, given, strict=True) if value is not None), None)
    if twice is not None:
        raise TypeError(f"{operator.name}() got 'saved' and '{twice}', which are one argument")
    if isinstance(saved, Mapping):
        return _by_name(operator, saved, stream)
    if not all(hasattr(saved, name) for name in names):
        was, must = f"of type {type(saved).__name__}", f"the result of {forward}()"
        raise InvalidArgumentError.of(operator.name, "saved", was, must)
    return tuple(getattr(saved, name) for name in names)


def _by_name(
    operator: Operator, saved: Mapping[str, Any], stream: StreamLike | None
) -> tuple[Any, ...]:
    """Return the tensors that a mapping has by their names and words."""
    arrays = [array for array in saved.values() if isinstance(array, DeviceArray)]
    if arrays:
        device = arrays[0].device
    else:
        device = stream.device if isinstance(stream, Stream) else default_device()
    family = family_of(device)
    tensors = [t for t in operator.inputs if t.name in operator.saved]
    words = [tensor.meaning(family) for tensor in tensors]
    if set(saved) != set(words):
        was = f"of the names {repr_of(list(saved))}"
        must = f"of the names {' and '.join(map(repr, words))} on this chip"
        raise InvalidArgumentError.of(operator.name, "saved", was, must)
    return tuple(_view(saved[word], word) for word in words)


def stated(operator: Operator, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by name whose device arrays have the meanings that this chip requires."""
    by_chip = {tensor.name for tensor in operator.inputs if tensor.by_chip}
    return {k: _view(value, k) if k in by_chip else value for k, value in given.items()}


def _view(array: Any, word: str) -> Any:
    """Return a view of a device array, with a word for its numbers; other objects as they are."""
    if not isinstance(array, DeviceArray):
        return array
    view = array[...]
    view._meaning = word  # noqa: SLF001  # an attribute that is not the user's
    return view
