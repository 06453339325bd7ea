# SPDX-License-Identifier: Apache-2.0
"""Binding of arguments that are given by other names, or in PyTorch's order.

The operator's own order comes first: PyTorch's applies only to arguments whose kinds (array,
number, lengths) fit the signature of PyTorch's function and not that of the operator. Calls in the
operator's own names and order do not come here unless they are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.calling.torch_binding import default_of, is_of_kind, torch_bound
from pyaclnn.facts.operators.parameters import REQUIRED, Option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.facts.operators import Operator

__all__ = ["Binding"]


class Binding:
    """Binding of the arguments of one operator.

    Args:
        operator: Its description.
    """

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def bound(
        self, given: Mapping[str, Any], rest: Sequence[Any], others: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return the values of the operator's parameters, in the order of its signature.

        Args:
            given: The arguments as Python bound them; ``REQUIRED`` for one that is left out.
            rest: Further arguments by position.
            others: Arguments by other names.

        Raises:
            TypeError: They fit neither the operator's signature nor that of PyTorch's function.
            InvalidArgumentError: They fit the latter, but the operator cannot compute that.
        """
        found = {} if rest else self._by_synonyms(given, others)
        found = found or self._in_torch_order(given, rest, others)
        if not found:
            raise self._type_error(self._misfit(given, rest, others))
        return tuple(found.values())

    def after_refusal(
        self, given: Mapping[str, Any], wrong: InvalidArgumentError
    ) -> Mapping[str, Any]:
        """Return the arguments of a refused call as PyTorch orders them, by the operator's names.

        Args:
            given: The arguments as Python bound them; ``REQUIRED`` for one that is left out.
            wrong: The refusal, which gets a hint if both orders are possible.

        Returns:
            The arguments; nothing if the refusal is right.

        Raises:
            InvalidArgumentError: The operator cannot compute what PyTorch's function would.
            TypeError: An argument is left out.
        """
        if not self._fits(given):
            try:
                found = self._in_torch_order(given, (), {})
            except InvalidArgumentError:
                # An omitted argument, or None, does not distinguish the orders.
                there = {n: v for n, v in given.items() if v is not None and v is not REQUIRED}
                if not self._fits(there):
                    raise
                found = {}
            if found:
                return found
        missing = [name for name, value in given.items() if value is REQUIRED]
        if missing:
            count = f"{len(missing)} required positional argument{'s' * (len(missing) > 1)}"
            raise self._type_error(f"missing {count}: {' and '.join(map(repr, missing))}")
        if "\nHint: " not in str(wrong) and self._is_ambiguous(given):
            hint = f"the arguments fit {self._operator.torch} as well: if that is meant, name them."
            wrong.args = (f"{wrong}\nHint: {hint}",)
        return {}

    def _is_ambiguous(self, given: Mapping[str, Any]) -> bool:
        """Return whether the arguments fit PyTorch's signature too, with another meaning."""
        try:
            found = self._in_torch_order(given, (), {})
        except InvalidArgumentError:
            return False
        return any(found[name] is not value for name, value in given.items() if found)

    def _type_error(self, text: str) -> TypeError:
        operator = self._operator
        own = f"{operator.name}({', '.join(operator.positional)})"
        torch = str(operator.torch or own)
        orders = own if torch.endswith(f".{own}") or torch == own else f"{own}, or {torch}"
        return TypeError(f"{operator.name}() {text}\nHint: it is {orders}.")

    def _fits(self, found: Mapping[str, Any]) -> bool:
        """Return whether arguments have the kinds that the operator's parameters require.

        None in the place of an array does not distinguish the orders.
        """
        by_name, in_list = self._operator.by_name, self._operator.lists
        return all(
            is_of_kind(by_name[name], value, in_list=in_list)
            for name, value in found.items()
            if value is not None or isinstance(by_name[name], Option)
        )

    def _by_synonyms(self, given: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by the operator's names; nothing if one has no name, or two."""
        found = dict(given)
        for other, value in others.items():
            name = self._operator.synonyms.get(other, "")
            parameter = self._operator.by_name.get(name)
            if parameter is None or found[name] is not default_of(parameter):
                return {}
            if value is not None or not isinstance(parameter, Option):
                found[name] = value
        return found

    def _misfit(
        self, given: Mapping[str, Any], rest: Sequence[Any], others: Mapping[str, Any]
    ) -> str:
        """Return the reason why arguments do not fit the signature."""
        operator = self._operator
        for other in others:
            if other not in operator.synonyms:
                known = [*given, *operator.synonyms, "stream", *["out"] * bool(operator.outputs)]
                question = did_you_mean(other, known, lead="; ")
                return f"got an unexpected keyword argument '{other}'{question}"
            if not rest and given[operator.synonyms[other]] is not REQUIRED:
                return f"got '{operator.synonyms[other]}' and '{other}', which are one argument"
        most = len(operator.positional)
        return f"takes {most} positional arguments but {most + len(rest)} were given"

    def _in_torch_order(
        self, given: Mapping[str, Any], rest: Sequence[Any], others: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments as PyTorch orders them; nothing if they do not fit."""
        defaults = {name: default_of(self._operator.by_name[name]) for name in given}
        by_place = self._operator.positional
        is_given = [given[name] is not defaults[name] for name in by_place]
        count = max((place + 1 for place, there in enumerate(is_given) if there), default=0)
        # Trailing arguments may have been given by name.
        for number in (len(by_place),) if rest else range(count, -1, -1):
            taken = by_place[:number]
            named = {
                name: value
                for name, value in given.items()
                if name not in taken and value is not defaults[name]
            }
            values = (*(given[name] for name in taken), *rest)
            found = torch_bound(self._operator, values, {**named, **others})
            complete = {**defaults, **(found or {})}
            if found is not None and all(value is not REQUIRED for value in complete.values()):
                return complete
        return {}
