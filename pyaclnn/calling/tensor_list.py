# SPDX-License-Identifier: Apache-2.0
"""Validation of a call of a described operator on lists: each place of the lists by itself."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pyaclnn.base.errors import InvalidArgumentError, MissingSymbolError
from pyaclnn.base.spelling import with_article
from pyaclnn.calling.declared import Declared
from pyaclnn.calling.described import Described, interface_of
from pyaclnn.calling.undescribed import Undescribed, interface_of as undescribed_interface
from pyaclnn.facts.operators.lists import at_place
from pyaclnn.facts.operators.parameters import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.calling.call import Call
    from pyaclnn.facts.operators import Operator
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["DescribedLists"]


class DescribedLists:
    """The checks of a described operator on lists.

    Args:
        operator: Its description, which holds for each place of the lists.
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self._element = lru_cache(256)(partial(at_place, operator))

    def check(self, given: Mapping[str, Any], stream: StreamLike | None, out: Any = None) -> Call:
        """Check a call.

        Args:
            given: The arguments by their Python names.
            stream: The ``stream`` argument.
            out: The ``out`` argument.

        Raises:
            InvalidArgumentError: An argument is not acceptable; the error names the place in the
                list.
        """
        operator = self.operator
        leader = operator.primary
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
        for number, parameter in enumerate(operator.parameters.values()):
            values = tuple(call.arguments[number] for call in calls)
            arguments.append(values if isinstance(parameter, Tensor) else values[0])
        declared = Declared.of(operator.c_name)
        if declared is None:
            raise MissingSymbolError(f"no header declares {operator.c_name}")
        checks = Undescribed(declared, undescribed_interface(declared))
        return checks.check_arguments(arguments, stream)

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
        operator = self._element(place)
        checks = Described(operator, interface_of(operator, tuple))
        return checks.check({**options, **arrays}, stream, wanted)

    def _listed(self, name: str, value: Any) -> Sequence[Any]:
        if isinstance(value, (list, tuple)):
            return value
        was = "None" if value is None else with_article(type(value).__name__)
        raise self._refusal(name, was, "a list or tuple of NumPy arrays or DeviceArrays")

    def _of_one_type(self, lists: Mapping[str, Sequence[Any]]) -> None:
        for name, arrays in lists.items():
            for place, array in enumerate(arrays):
                if array.dtype != arrays[0].dtype:
                    expected = f"{arrays[0].dtype}, as '{name}[0]' is"
                    raise self._refusal(f"{name}[{place}]", str(array.dtype), expected)

    def _refusal(self, name: str, was: str, expected: str) -> InvalidArgumentError:
        return InvalidArgumentError.of(self.operator.name, name, was, expected)
