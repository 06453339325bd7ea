# SPDX-License-Identifier: Apache-2.0
"""A described operator on lists: its description says what each tensor of them must be.

What the description says is checked of one place of the lists after the other; the call itself is
then one by name, which is how lists are launched, planned and brought back.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pyaclnn.base.errors import InvalidArgumentError, MissingSymbolError
from pyaclnn.calling.call import Call
from pyaclnn.calling.call_by_name import CallByName
from pyaclnn.calling.declared import Declared
from pyaclnn.calling.empty import Empty
from pyaclnn.facts.operators.lists import at_place
from pyaclnn.facts.operators.parameters import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyaclnn.facts.operators import Operator
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["EachFront"]


class EachFront:
    """What a public function on lists needs.

    Args:
        operator: Its description.
        make_result: Makes what is returned of the results.
    """

    def __init__(self, operator: Operator, make_result: Callable[..., Any]) -> None:
        self.operator = operator
        self.make_result = make_result
        self._element = lru_cache(256)(partial(at_place, operator))

    def check(self, given: Mapping[str, Any], stream: StreamLike | None, out: Any) -> CallByName:
        """Check a call.

        Args:
            given: The arguments by their Python names.
            stream: The ``stream`` argument.
            out: The ``out`` argument.

        Returns:
            The call, unmade.

        Raises:
            InvalidArgumentError: Something is not acceptable; it names the place in the list.
        """
        operator = self.operator
        leader = operator.leader
        lists = {t.name: self._listed(t.name, given[t.name]) for t in operator.inputs}
        length = len(lists[leader.name])
        if not length:
            raise self._refusal(leader.name, "empty", "a list of at least one array")
        outs = (None,) * length if out is None else self._listed("out", out)
        if len(outs) != length:
            expected = f"a list of {length}, arrays or None, as long as {leader.name!r}"
            raise self._refusal("out", f"a list of {len(outs)}", expected)
        calls = [self._call(place, given, lists, stream, outs[place]) for place in range(length)]
        self._of_one_type(lists)
        arguments = []
        for parameter in operator.parameters.values():
            name = parameter.name
            if not isinstance(parameter, Tensor):
                arguments.append(calls[0].constants[name])
            elif parameter.read:
                arguments.append(tuple(c.values[f"{name}[{i}]"] for i, c in enumerate(calls)))
            else:
                found = [c.outputs[f"{name}[{i}]"] for i, c in enumerate(calls)]
                arguments.append(
                    tuple(Empty(o.shape, o.dtype) if o.given is None else o.given for o in found)
                )
        declared = Declared.of(operator.c_name)
        if declared is None:
            raise MissingSymbolError(f"no header declares {operator.c_name}")
        return CallByName(declared, arguments, stream)

    def _call(
        self,
        place: int,
        given: Mapping[str, Any],
        lists: Mapping[str, Sequence[Any]],
        stream: StreamLike | None,
        out: Any,
    ) -> Call:
        options = {name: value for name, value in given.items() if name not in lists}
        arrays = {f"{name}[{place}]": values[place] for name, values in lists.items()}
        wanted = None if out is None else (out,)
        return Call(self._element(place), {**options, **arrays}, stream, wanted, self.make_result)

    def _listed(self, name: str, value: Any) -> Sequence[Any]:
        if isinstance(value, (list, tuple)):
            return value
        was = "None" if value is None else f"a {type(value).__name__}"
        raise self._refusal(name, was, "a list or tuple of NumPy arrays or DeviceArrays")

    def _of_one_type(self, lists: Mapping[str, Sequence[Any]]) -> None:
        for name, arrays in lists.items():
            for place, array in enumerate(arrays):
                if array.dtype != arrays[0].dtype:
                    expected = f"{arrays[0].dtype}, as '{name}[0]' is"
                    raise self._refusal(f"{name}[{place}]", str(array.dtype), expected)

    def _refusal(self, name: str, was: str, expected: str) -> InvalidArgumentError:
        return InvalidArgumentError.of(self.operator.name, name, was, expected)
