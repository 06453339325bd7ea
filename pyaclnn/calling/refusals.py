# SPDX-License-Identifier: Apache-2.0
"""Types and shapes of a call's arrays held against the description; what is said if they differ."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.facts.operators.operator import ShapeError
from pyaclnn.facts.operators.parameters import Kind, Option, Tensor
from pyaclnn.facts.operators.words import MAX_RANK
from pyaclnn.runtime.dtypes import DTYPES, WORDS, conversion_hint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.calling.arrays import Array
    from pyaclnn.facts.operators import Operator
    from pyaclnn.facts.operators.words import Lengths

__all__ = ["Refusals"]


class Refusals:
    """Holds the arrays of one call against the description of the operator.

    Attributes:
        operator: The description.
        types: The types that words are found to have.
        known: The lengths that are found.
    """

    def __init__(
        self,
        operator: Operator,
        arrays: Mapping[str, Array],
        values: Mapping[str, Any],
        given: Mapping[str, Any],
    ) -> None:
        """Look at the arrays that are there, by Python names, and at plain values of options.

        Args:
            operator: The description.
            arrays: The arrays.
            values: The values of options, and the arrays of inputs.
            given: All arguments as the caller gave them.
        """
        self.operator = operator
        self._arrays = arrays
        self._values = values
        self._given = given
        self._shapes = {name: array.shape for name, array in arrays.items()}
        self.types: dict[str, str] = {}
        self.known: Lengths = {}

    def refuse(self, argument: str, given: str, expected: str, hint: str | None = None) -> NoReturn:
        """Raise the error that ``argument`` is ``given`` and must be ``expected``."""
        raise InvalidArgumentError.of(self.operator.name, argument, given, expected, hint)

    # ---- types ------------------------------------------------------------------------------

    def find_types(self) -> None:
        """Find the types of words, the leading tensor's first.

        Raises:
            InvalidArgumentError: No row of types has them.
        """
        named: dict[str, str] = {}
        for tensor in self.operator.inputs:
            if tensor.name in self._arrays:
                self._find_type(tensor, named)
                named.setdefault(tensor.type, tensor.name)
        for option in self.operator.options:
            if option.kind is Kind.DTYPE:
                self._choose_type(option)

    def _find_type(self, tensor: Tensor, named: Mapping[str, str]) -> None:
        allowed = self.dtypes(tensor)
        dtype = self._arrays[tensor.name].dtype
        if dtype not in allowed:
            why = ""
            leader = self.operator.primary.name
            if tensor.type in named:
                why = f", the dtype of '{named[tensor.type]}'"
            elif allowed != self.dtypes(tensor, {}):
                why = f", as '{leader}' is {self._arrays[leader].dtype}"
            hint = None
            if isinstance(self._arrays[tensor.name], np.ndarray):
                hint = conversion_hint(
                    tensor.name, dtype, str(allowed[0]), self._given[tensor.name]
                )
            self.refuse(tensor.name, str(dtype), f"{_listed(allowed)}{why}", hint)
        if tensor.type not in DTYPES and "/" not in tensor.type:  # a word of rows
            self.types[tensor.type] = WORDS[dtype]

    def _choose_type(self, option: Option) -> None:
        chosen: np.dtype[Any] | None = self._values[option.name]
        allowed = [DTYPES[word] for word in self.operator.types.allowed(option.word, self.types)]
        if chosen is not None and chosen not in allowed:
            leader = self.operator.primary.name
            why = f", as '{leader}' is {self._arrays[leader].dtype}"
            self.refuse(option.name, str(chosen), f"{_listed(allowed)}{why}")
        self.types[option.word] = WORDS[allowed[0] if chosen is None else chosen]

    def dtypes(self, tensor: Tensor, types: Mapping[str, str] | None = None) -> list[np.dtype[Any]]:
        """List the dtypes that a tensor may have, by what is known of the others."""
        bound = self.types if types is None else types
        return [DTYPES[word] for word in self.operator.types.allowed(tensor.type, bound)]

    def usual_dtypes(self, tensor: Tensor) -> dict[str, np.dtype[Any]]:
        """Return the default dtype of a result on each family of chips."""
        types = self.operator.types
        found = {
            family: types.allowed(tensor.type, self.types, rows)
            for family, rows in types.families.items()
        }
        return {family: DTYPES[words[0]] for family, words in found.items() if words}

    # ---- shapes -----------------------------------------------------------------------------

    def find_lengths(self) -> None:
        """Find the lengths of axes, and hold every shape against them.

        Raises:
            InvalidArgumentError: A shape does not fit.
        """
        operator, shapes = self.operator, self._shapes
        leader = operator.primary
        self._check_rank(leader)
        tellers = [found for _, group in leader.shape.words if (found := self._teller(group))]
        for teller in tellers:
            if isinstance(teller, Tensor):
                self._check_rank(teller)
        try:
            self.known = operator.learn(shapes, self._values)
        except ShapeError:
            self._refuse_teller(tellers[0])
        for teller in tellers:
            self._check_teller(teller)
        for tensor in operator.inputs[1:]:
            if tensor.name in shapes and tensor not in tellers:
                self._check_shape(tensor)
        for option in operator.options:
            if option.kind is Kind.AXES:
                self._check_axes(option)
        self._check_nonempty(tellers)

    def _teller(self, group: str) -> Tensor | Option | None:
        found = self.operator.rank_source(group, self._shapes)
        return found if isinstance(found, (Tensor, Option)) else None

    def _check_rank(self, tensor: Tensor) -> None:
        shape, least = self._shapes[tensor.name], self.operator.least_rank(tensor)
        if not least <= len(shape) <= MAX_RANK:
            given = f"of shape {shape}, with {len(shape)} {'axis' if len(shape) == 1 else 'axes'}"
            self.refuse(tensor.name, given, f"an array of {least} to {MAX_RANK} axes")

    def _check_teller(self, teller: Tensor | Option) -> None:
        ours, group = self._told(teller), teller.shape.words[0][1]
        if not ours or ours != self.known[group]:
            self._refuse_teller(teller)

    def _told(self, teller: Tensor | Option) -> tuple[int, ...]:
        if isinstance(teller, Tensor):
            return self._shapes[teller.name]
        shape: tuple[int, ...] = self._values[teller.name]
        return shape

    def _refuse_teller(self, teller: Tensor | Option) -> NoReturn:
        leader = self.operator.primary.name
        shape, ours = self._shapes[leader], self._told(teller)
        subject = f"trailing axes of '{leader}', whose shape is {shape}"
        if isinstance(teller, Tensor):
            hint = None
            if ours[len(ours) - len(shape) :] == shape != ours:
                hint = f"'{leader}' and '{teller.name}' may be in each other's place."
            self.refuse(teller.name, f"of shape {ours}", f"of the shape of {subject}", hint)
        if not 1 <= len(ours) <= len(shape):
            self.refuse(teller.name, str(ours), f"1 to {len(shape)} lengths, the {subject}")
        self.refuse(teller.name, str(ours), f"{shape[-len(ours) :]}, the {subject}")

    def _check_shape(self, tensor: Tensor) -> None:
        ours = self._shapes[tensor.name]
        if tensor.shape.like is not None:
            wanted = self._shapes[tensor.shape.like]
            if ours != wanted:
                expected = f"of shape {wanted}, the shape of '{tensor.shape.like}'"
                self.refuse(tensor.name, f"of shape {ours}", expected)
            return
        if len(ours) > MAX_RANK:
            self._check_rank(tensor)
        if not tensor.shape.fits(ours, self.known):
            self.refuse(tensor.name, f"of shape {ours}", self._expected(tensor))

    def _expected(self, tensor: Tensor) -> str:
        """Return the shape that a tensor must have, in words, and the reason."""
        leader, shape = self.operator.primary, tensor.shape
        if shape.counted is not None:
            lead = self.known[shape.counted]
            return (
                f"of {prod(lead)} elements, one for each row of '{leader.name}' ({lead} without "
                "the normalized axes)"
            )
        must = shape.dims(self.known)
        wanted = f"of shape {must}"
        if shape.padded is not None:
            rest = next(group for _, group in leader.shape.words if group != shape.padded)
            teller = self._teller(rest)
            return (
                f"{wanted}, the axes of '{leader.name}' that '{teller.name if teller else rest}' "
                "does not have; ones may follow or be left out at the end"
            )
        for option in self.operator.options:
            if option.kind is Kind.LENGTHS and option.shape == shape:
                return f"{wanted}, the {option.name.replace('_', ' ')}"
        for other in self.operator.inputs:
            if other.shape == shape and self._shapes.get(other.name) == must:
                return f"{wanted}, the shape of '{other.name}'"
        return f"{wanted}: {shape.text}, where '{leader.name}' is {leader.shape.text}"

    def _check_axes(self, option: Option) -> None:
        rank = max(len(self._shapes[self.operator.primary.name]), 1)  # no axes count as one
        axes: tuple[int, ...] = self._values[option.name]
        if not all(-rank <= axis < rank for axis in axes):
            self.refuse(option.name, str(axes), f"axes from {-rank} to {rank - 1}")
        if len({axis % rank for axis in axes}) != len(axes):
            self.refuse(option.name, str(axes), "each axis once")

    def _check_nonempty(self, tellers: list[Tensor | Option]) -> None:
        group = self.operator.nonempty
        if not group or 0 not in self.known[group]:
            return
        others = (dims for name, dims in self.known.items() if name != group)
        if not any(0 in dims for dims in others):
            teller = next(found for found in tellers if found.shape.words[0][1] == group)
            expected = "not empty: the operator takes no mean over nothing"
            self.refuse(teller.name, f"of shape {self._told(teller)}", expected)


def _listed(dtypes: list[np.dtype[Any]]) -> str:
    return " or ".join(map(str, dtypes))
