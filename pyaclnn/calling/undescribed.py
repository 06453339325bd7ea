# SPDX-License-Identifier: Apache-2.0
"""Validation of a call by the C signature of its operator alone.

Device arrays of one device go straight to the launcher, which converts arguments and refuses what
C cannot take. NumPy arrays, results to be made and wrong arguments are checked here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.calling.arrays import check_arrays, require_array
from pyaclnn.calling.call import Call, Interface, named_arrays
from pyaclnn.calling.declared import Declared, snake_name
from pyaclnn.calling.empty import Empty, LeftOut
from pyaclnn.calling.inference import has_own_rule, inferred, why_not
from pyaclnn.calling.message import check
from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.results import result_rules
from pyaclnn.facts.operators.torch_functions import torch_functions
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.host import no_array

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["Undescribed", "interface_of", "refuse_others"]

_OR_NULL = "or None, which is NULL"
_OF_TORCH: Final = {
    "input": ("self", "selfRef", "inputRef", "x", "x1"),
    "self": ("input", "inputRef", "x"),
    "weight": ("gamma", "gammaOptional"),
    "bias": ("beta", "betaOptional"),
}
"""Names of PyTorch's parameters, and the names of the same in CANN."""
_MATH_TYPE: Final = "cubeMathType 0 computes in the dtype of the arrays."
_SUFFIX: Final = re.compile(r"(Optional|Ref)$")


def interface_of(declared: Declared) -> Interface:
    """Return the interface of an operator whose declaration alone is known."""
    return Interface(
        routine=declared.name,
        load=lambda: declared.operator,
        names=declared.names,
        tensors=declared.tensors,
        results=declared.results,
        returned=declared.written,
        make_result=_single_or_tuple,
        guessed=declared.directions.guessed,
        found_later=declared.found_later,
    )


def _single_or_tuple(*results: Any) -> Any:
    return results[0] if len(results) == 1 else results


def refuse_others(
    declared: Declared, given: Mapping[str, Any], rest: Sequence[Any], others: Mapping[str, Any]
) -> None:
    """Refuse arguments that an operator has no parameter for.

    Args:
        declared: The operator.
        given: The arguments for its parameters.
        rest: Further arguments by position.
        others: Arguments by other names.

    Raises:
        InvalidArgumentError: There are such arguments.
    """
    names = ", ".join(declared.names)
    if rest:
        count, expected = len(given) + len(rest), f"at most {len(given)}: {names}"
        wrong = ("arguments", f"{count} values", expected, _way_of_torch(declared))
        raise InvalidArgumentError.of(declared.name, *wrong)
    for name in others:
        hint = did_you_mean(name, [*declared.names, "stream"]) or None
        own = _name_in_cann(declared, name)
        if own is not None:
            hint = f"PyTorch's {name!r} is {own!r} in CANN."
        expected = f"one of {names}, stream"
        hint = hint or _way_of_torch(declared)
        raise InvalidArgumentError.of(declared.name, name, "no parameter of it", expected, hint)


def _name_in_cann(declared: Declared, name: str) -> str | None:
    """Return CANN's name of PyTorch's parameter; None if it is the same but for its spelling."""
    torch = torch_functions().get(declared.name)
    words = (torch.renamed.get(name, name) if torch else name, *_OF_TORCH.get(name, ()))
    found = next((own for own in words if own in declared.names), None)
    alike = (own for own in declared.names if _spelled(own) == _spelled(name))
    return found or next((own for own in alike if _SUFFIX.search(own)), None)


def _spelled(name: str) -> str:
    """Return the spelling of a parameter that PyTorch and CANN share."""
    return _SUFFIX.sub("", name).replace("_", "").lower()


def _way_of_torch(declared: Declared, *, order_alone: bool = False) -> str | None:
    """Return a sentence about PyTorch's function, whose order or defaults a caller may mean.

    Args:
        declared: The operator.
        order_alone: Return None where the parameters have CANN's order.
    """
    described = by_c_name().get(declared.name)
    if described is not None:
        return f"pyaclnn.{described.name}() has defaults, and takes PyTorch's order."
    torch = torch_functions().get(declared.name)
    if torch is None:
        return None
    own = [name for place, name in enumerate(declared.names) if place not in declared.results]
    names = [name.partition("=")[0] for name in torch.parameters]
    if order_alone and {*map(_spelled, own)} != {*map(_spelled, names)}:
        return None
    if order_alone and [*map(_spelled, own)] == [*map(_spelled, names)]:
        return None
    return f"PyTorch's function is {torch}; this one takes {', '.join(own)}, as in C."


class Undescribed:
    """The checks of one call of an operator whose declaration alone is known."""

    def __init__(self, declared: Declared, interface: Interface) -> None:
        """Prepare to check a call.

        Args:
            declared: The operator.
            interface: The same operator as Python calls it.
        """
        self._declared = declared
        self._interface = interface

    def check(
        self, given: Mapping[str, Any], stream: StreamLike | None, _out: object = None
    ) -> Call:
        """Check a call.

        Args:
            given: The arguments by their Python names, results among them.
            stream: The ``stream`` argument.

        Raises:
            InvalidArgumentError: An argument is not acceptable.
        """
        return self.check_arguments([*given.values()], stream)

    def check_arguments(self, arguments: list[Any], stream: StreamLike | None) -> Call:
        """Check a call whose arguments are in C order; see ``check``."""
        declared = self._declared
        if self._is_plain(arguments):
            return Call(self._interface, arguments, stream, writes=declared.written)
        self._require_given(arguments)
        for place, (name, kind) in enumerate(zip(declared.names, declared.kinds, strict=True)):
            if place in declared.tensors:
                arguments[place] = self._arrays(place, arguments[place])
            else:
                check(kind, arguments[place], declared.name, name)
        arrays = dict(named_arrays(declared.names, arguments, declared.tensors))
        all_on_host, queue = check_arrays(declared.name, arrays, stream)
        left = [p for p in declared.results if isinstance(arguments[p], LeftOut)]
        if left:
            self._infer(arguments, left)
        call = Call(
            self._interface,
            arguments,
            queue,
            writes=declared.written,
            on_host=all_on_host and bool(arrays),
            is_repeatable=not (left and has_own_rule(declared.name)),
        )
        if call.on_host:
            call.check_overlap(arguments)
            for name, array in named_arrays(declared.names, arguments, declared.written):
                if not array.flags.writeable:
                    raise InvalidArgumentError.of(declared.name, name, "read-only", "writable")
        return call

    def _is_plain(self, arguments: list[Any]) -> bool:
        """Return whether all arrays are device arrays of one device, and none is to be made."""
        found: list[Any] = []
        kinds = self._declared.kinds
        for place in self._declared.tensors:
            value = arguments[place]
            if kinds[place] == "T" and value.__class__ in (tuple, list):
                arguments[place] = value = tuple(value)
                found += value
            elif value is not None:
                found.append(value)
        if {*map(type, found)} != {DeviceArray} or LeftOut in map(type, arguments):
            return False
        return len({array._layout.context for array in found}) == 1

    def _require_given(self, arguments: Sequence[Any]) -> None:
        declared = self._declared
        missing = [
            name
            for place, name in enumerate(declared.names)
            if isinstance(arguments[place], LeftOut) and place not in declared.results
        ]
        if missing:
            first, *others = missing
            more = f", as {'are' if others[1:] else 'is'} {', '.join(others)}" if others else ""
            hints = [_way_of_torch(declared), _MATH_TYPE if "cubeMathType" in missing else None]
            hint = " ".join(filter(None, hints))
            wrong = (first, f"left out{more}", "given: C has no defaults", hint)
            raise InvalidArgumentError.of(declared.name, *wrong)

    def _arrays(self, place: int, value: Any) -> Any:
        """Return an argument for tensors, with arrays in host memory as NumPy arrays."""
        name, is_result = self._declared.names[place], place in self._declared.results
        if isinstance(value, LeftOut):
            return value
        if self._declared.kinds[place] != "T":
            return self._array(name, value, is_result)
        if value is not None and not isinstance(value, tuple):
            expected = f"a sequence of NumPy arrays or DeviceArrays, {_OR_NULL}"
            wrong = (name, no_array(value), expected, _way_of_torch(self._declared))
            raise InvalidArgumentError.of(self._declared.name, *wrong)
        items = enumerate(value or ())
        found = tuple(self._array(f"{name}[{item}]", array, is_result) for item, array in items)
        return None if value is None else found

    def _array(self, name: str, value: Any, is_result: bool) -> Any:
        if value is None or isinstance(value, DeviceArray):
            return value
        if is_result and isinstance(value, Empty):
            return value
        expected = f"a NumPy array or a DeviceArray, {'an Empty, ' if is_result else ''}{_OR_NULL}"
        if isinstance(value, (bool, int, float, complex, str, list, tuple)):
            wrong = (name, no_array(value), expected, self._way_to_array(name, value, is_result))
            raise InvalidArgumentError.of(self._declared.name, *wrong)
        array = require_array(self._declared.name, name, value, expected)
        dtype_of(array.dtype, self._declared.name, name)
        return array

    def _way_to_array(self, name: str, value: Any, is_result: bool) -> str:
        """Return what to give instead of a number, a text or a list."""
        declared = self._declared
        if is_result:
            return f"the order is {', '.join(declared.names)}; a result may be left out."
        if (way := _way_of_torch(declared, order_alone=True)) is not None:
            return way
        numbers = np.asarray(value, object).ravel()
        integers = isinstance(value, list) and all(isinstance(number, int) for number in numbers)
        made = f"make one: np.asarray({name}, np.{'int64' if integers else 'float32'})."
        for other in (f"{declared.name}s", declared.name.replace("Tensor", "Scalar")):
            scalar = Declared.of(other) if other != declared.name else None
            if scalar and (name, "a") in zip(scalar.names, scalar.kinds, strict=True):
                return f"pyaclnn.aclnn.{snake_name(other)}() takes a number; or {made}"
        return made

    def _require_broadcast(self, known: Mapping[str, Any]) -> None:
        """Require shapes that broadcast, where the rule of the results needs them.

        Raises:
            InvalidArgumentError: They do not.
        """
        rule, names = result_rules().get(self._declared.name, ("", ()))
        arrays = {name: known[name] for name in names if hasattr(known[name], "shape")}
        if not rule.endswith("broadcast") or len(arrays) < len(names):
            return
        (first, leader), *others = arrays.items()
        for name, array in others:
            pairs = zip(leader.shape[::-1], array.shape[::-1], strict=False)
            if any(one != other and 1 not in (one, other) for one, other in pairs):
                was = f"of shape {array.shape}"
                must = f"of a shape that broadcasts with {leader.shape}, the shape of '{first}'"
                raise InvalidArgumentError.of(self._declared.name, name, was, must)

    def _require_axes(self, known: Mapping[str, Any]) -> None:
        """Require axes that the array has, where the rule of the results needs them.

        Raises:
            InvalidArgumentError: It has no such axis.
        """
        rule, names = result_rules().get(self._declared.name, ("", ()))
        if not rule.endswith("reduce") or known[names[0]] is None:
            return
        array, name = known[names[0]], names[1]
        axes = known[name] if np.iterable(known[name]) else (known[name],)
        if any(axis is not None and not -array.ndim <= axis < array.ndim for axis in axes):
            expected = f"from {-array.ndim} to {array.ndim - 1}, axes of {names[0]!r}"
            raise InvalidArgumentError.of(self._declared.name, name, repr_of(known[name]), expected)

    def _infer(self, arguments: list[Any], left: Sequence[int]) -> None:
        """Put an ``Empty`` in the place of each result that was left out."""
        declared, names = self._declared, self._declared.names
        known = {
            name: arguments[place]
            for place, name in enumerate(names)
            if place not in declared.results
        }
        rule_names = result_rules().get(declared.name, ("", ()))[1]
        if rule_names and known[rule_names[0]] is None:
            expected = f"an array: the result {names[left[0]]!r} is left out, and is made like it"
            raise InvalidArgumentError.of(declared.name, rule_names[0], "None", expected)
        made = inferred(declared.name, known, [names[place] for place in declared.results])
        for place in left:
            if names[place] not in made:
                self._require_broadcast(known)
                self._require_axes(known)
                expected = "an array, or pyaclnn.Empty(shape, dtype)"
                hint = (
                    f"{why_not(declared.name, known)}; a rule of your own does with "
                    f"@pyaclnn.shape_rule({declared.name!r})."
                )
                wrong = (names[place], "left out", expected, hint)
                raise InvalidArgumentError.of(declared.name, *wrong)
            found = made[names[place]]
            arguments[place] = tuple(found) if isinstance(found, list) else found
