# SPDX-License-Identifier: Apache-2.0
"""An operator: everything that is known about it and that its header does not say, once."""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn.facts.operators.parameters import Kind, Option, Role, Tensor
from pyaclnn.facts.operators.words import PACKED, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pyaclnn.facts.operators.parameters import Parameter
    from pyaclnn.facts.operators.types import Row, Types
    from pyaclnn.facts.operators.words import Dims, Lengths

__all__ = ["Build", "Operator", "ShapeError"]

_LEADERS = ("input", "x", "x1")
# PyTorch always says eps, CANN says either.
_SYNONYMS = {"eps": "epsilon", "epsilon": "eps"}


class Build(Enum):
    """How CANN builds an operator.

    A composite one is written by hand over several kernels and checks everything itself; an
    individual one is generated from its definition and leaves shapes to the kernel's tiling.
    Source: CANN: opbase composite_op and individual_op.
    """

    COMPOSITE = 0
    INDIVIDUAL = 1


class ShapeError(Exception):
    """A leading tensor that has fewer axes than others say.

    Attributes:
        tensor: The tensor.
    """

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor.name)
        self.tensor = tensor


class _Told(NamedTuple):
    """What a description tells of an operator.

    Attributes:
        c_name: The C name of phase 2.
        name: The name of the public function.
        build: How CANN builds it.
        says: What it computes, in a sentence, with the formula.
        parameters: What is said of the C parameters, by their C names.
        types: The types that it takes.
        order: The order of a composite operator's checks, a letter each: ``n`` NULL, ``m`` the mask
            and what it selects, ``w`` NULL where the kernel that was chosen takes none, ``d`` data
            types, ``a`` options, ``r`` what `refuse` says, ``s`` shapes, ``t`` shapes that are
            refused as a tiling does, ``f`` formats, ``p`` formats with a layout of their own, ``q``
            whether formats are equal, ``c`` whether the chip has it, ``e`` nothing to do because
            there are no elements. What a capital finds breaks the graph of kernels; what is found
            after a ``!`` makes phase 2 fail.
        positional: The Python names of the arguments, in order.
        keywords: Those that are given by name alone.
        result_type: The name of the named tuple of results.
        null_is_invalid: The parameters, by their C names, of which NULL is refused as an invalid
            argument.
        needed: The parameters, by their C names, that must not be NULL whatever their names say.
        short_is_null: Whether a mask that is too short or too long is refused as NULL is.
        idle_without: The tensors, by their C names, without whose elements there is nothing to do;
            the leading one if none is named.
        filled: A group of axes that must not be empty where there are results.
        without: Groups of axes, and the results that are 0 where one is empty: CANN is not asked.
        lengths: Finds lengths of further words by options and by what the leading tensor tells.
        refuse: Looks at what words do not say: gets the values and lengths by Python names, and
            returns None or an argument's name, what it is and what it must be.
        formats: Formats by the number of axes of the leading tensor, where ND will not do.
        essential: Whether a CANN without it is no CANN for norms.
        channels_last: Families of chips on which a format with the channels at the end is taken at
            its word; elsewhere the channels are axis 1 whatever the format.
        barred: Formats that a composite operator refuses, beside those with a layout of their own.
        definition: The name of its definition in `pyaclnn.reference`.
        quirks: The name of its module in `pyaclnn.facts.operators.quirks`, if it has one.
        listed: The rows of types that phase 1 accepts on every chip, where they are more than have
            kernels.
        compared: The order in which phase 1 looks at shapes: C names with ``^`` for a number of
            axes that is possible at all, with ``#`` for the right number of axes, alone for the
            shape. Empty if nothing but the order of C is known.
        source: Where the rules stand.
        each: Whether C takes a list of tensors for every tensor: the rest speaks of each of them.
        later: What is otherwise from a release of CANN on: attributes by the release's name.
    """

    c_name: str
    name: str
    build: Build
    says: str
    parameters: Mapping[str, Parameter]
    types: Types
    order: str
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    result_type: str
    null_is_invalid: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    short_is_null: bool = False
    idle_without: tuple[str, ...] = ()
    filled: str = ""
    without: tuple[str, tuple[str, ...]] | None = None
    lengths: Callable[[Mapping[str, Any]], Lengths] | None = None
    refuse: Callable[[Mapping[str, Any]], tuple[str, str, str] | None] | None = None
    formats: Mapping[int, str] | None = None
    essential: bool = False
    channels_last: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()
    definition: str = ""
    quirks: str = ""
    listed: tuple[Row, ...] = ()
    compared: tuple[str, ...] = ()
    source: str = ""
    each: bool = False
    later: Mapping[str, Mapping[str, Any]] = {}


class Operator(_Told):
    """An operator: what its description tells, and what follows from that once."""

    def in_release(self, release: str) -> Operator:
        """Return the operator as a release of CANN has it.

        Args:
            release: Its name in short, e.g. ``9.1``.
        """
        found = self
        for first, changes in self.later.items():
            if _order(first) <= _order(release):
                found = found._replace(**changes)
        return found

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors in the order of C."""
        return tuple(p for p in self.parameters.values() if isinstance(p, Tensor))

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The options in the order of C."""
        return tuple(p for p in self.parameters.values() if isinstance(p, Option))

    @cached_property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that are read, the leading one first."""
        read = [tensor for tensor in self.tensors if tensor.read]
        return tuple(sorted(read, key=lambda tensor: tensor is not self.leader))

    @cached_property
    def results(self) -> tuple[Tensor, ...]:
        """The tensors that are written and not read, in the order of C."""
        return tuple(tensor for tensor in self.tensors if tensor.role is Role.RESULT)

    @cached_property
    def returned(self) -> tuple[Tensor, ...]:
        """What the public function returns: the results, or what is updated if there are none."""
        return self.results or tuple(tensor for tensor in self.tensors if tensor.written)

    @cached_property
    def leader(self) -> Tensor:
        """The tensor that the others are measured by."""
        read = [tensor for tensor in self.tensors if tensor.read]
        return next((t for t in read if t.name in _LEADERS), read[0])

    @cached_property
    def by_name(self) -> Mapping[str, Parameter]:
        """The parameters by their Python names."""
        return {parameter.name: parameter for parameter in self.parameters.values()}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The Python names of the parameters, in the order of C."""
        return tuple(self.by_name)

    @cached_property
    def written(self) -> frozenset[int]:
        """The places of the tensors that are written, in the order of C."""
        pairs = enumerate(self.parameters.values())
        return frozenset(place for place, p in pairs if isinstance(p, Tensor) and p.written)

    @cached_property
    def synonyms(self) -> Mapping[str, str]:
        """Other names of options that callers know from elsewhere -> the Python names here."""
        return {_SYNONYMS[name]: name for name in self.by_name if name in _SYNONYMS}

    @cached_property
    def mask(self) -> Option | None:
        """The option that selects results, if there is one."""
        return next((option for option in self.options if option.kind is Kind.MASK), None)

    @cached_property
    def shape_checks(self) -> tuple[tuple[Parameter, str], ...]:
        """`compared`, each parameter with its sign.

        Where nothing is known, these are ranks and then shapes in the order of C.
        """
        names = [tensor.c_name for tensor in self.tensors]
        told = [o.c_name for o in self.options if o.kind is Kind.LENGTHS or o.derived is not None]
        order: tuple[str, ...] = (*(f"{name}^" for name in names), *told, *names)
        if self.build is Build.INDIVIDUAL:
            order = (f"{self.leader.c_name}^", *(f"{name}#" for name in names), *names)
        return tuple(
            (self.parameters[text.rstrip("^#")], text[len(text.rstrip("^#")) :])
            for text in self.compared or order
        )

    def wants(self, tensor: Tensor, values: Mapping[str, Any]) -> bool:
        """Tell whether a tensor that the operator writes is written.

        Args:
            tensor: The tensor.
            values: Options and tensors by their Python names; None for what is left out.
        """
        if tensor.optional and tensor.read and values.get(tensor.name) is None:
            return False
        mask = self.mask
        if mask is not None and tensor.c_name in mask.results and values[mask.name] is not None:
            return bool(values[mask.name][mask.results.index(tensor.c_name)])
        return tensor.when is None or bool(tensor.when(values))

    def teller(self, group: str, there: Collection[str]) -> Parameter | None:
        """Return what tells how many axes a group has, other than the leading tensor.

        Args:
            group: The group, one of the leading tensor's.
            there: The Python names of the tensors and options that are there.
        """
        for option in self.options:
            if option.kind is Kind.LENGTHS and option.shape.words[0][1] == group:
                return option
        of_it = (Word.GROUP, group)
        inputs = sorted(self.inputs[1:], key=self._place)
        tellers = (t for t in inputs if t.name in there and of_it in t.shape.words)
        alone = (t for t in tellers if len(t.shape.words) == 1 and not t.shape.other)
        return next(alone, None)

    def learn(self, shapes: Mapping[str, Dims], values: Mapping[str, Any]) -> Lengths:
        """Find the length of every axis, as the leading tensor and options tell it.

        Args:
            shapes: The shapes of the tensors that are there, by Python names.
            values: The options by Python names.

        Raises:
            ShapeError: The leading tensor has too few axes for what others say of them.
        """
        numbers = (o.name for o in self.options if o.kind is Kind.INTEGER and o.derived is None)
        known: Lengths = {name: (values[name],) for name in numbers}
        ranks: dict[str, int] = {}
        for option in self.options:
            if option.kind is Kind.LENGTHS:
                ranks[option.shape.words[0][1]] = len(values[option.name])
        there = [tensor for tensor in self.inputs if tensor.name in shapes]
        for tensor in sorted(there, key=self._place):
            unknown = tensor.shape.groups_to_count(ranks)
            if unknown:  # the last is what those that came before leave over
                ranks.update(dict.fromkeys(unknown, 0))
                ranks[unknown[-1]] = max(len(shapes[tensor.name]) - tensor.shape.rank(ranks), 0)
        for tensor in there:
            dims = shapes[tensor.name]
            if len(dims) == tensor.shape.rank(ranks):
                tensor.shape.learn(dims, ranks, known)
                if tensor is self.leader and self.lengths is not None:
                    known.update(self.lengths({**values, **known}))
            elif tensor is self.leader:
                raise ShapeError(tensor)
        models = {tensor.shape.like for tensor in self.tensors}
        known.update({name: dims for name, dims in shapes.items() if name in models})
        return known

    def _place(self, tensor: Tensor) -> tuple[int, int]:
        """What tells of one group goes before the leading tensor, and that before all others."""
        if len(tensor.shape.words) > 1 or tensor.shape.other:
            return 1, 0
        order = [text.rstrip("^#") for text in self.compared]
        return 0, order.index(tensor.c_name) if tensor.c_name in order else 0

    def dims(
        self, tensor: Tensor, known: Lengths, values: Mapping[str, Any], kind: str = ""
    ) -> Dims:
        """Return the shape that a tensor of a type has, where lengths are known."""
        dims = tensor.shape.dims(known)
        if tensor.infer is not None:
            dims = tensor.infer({**values, **known})
        if kind and kind == tensor.packed:
            return (*dims[:-1], dims[-1] // PACKED)
        return dims


def _order(release: str) -> tuple[int, ...]:
    """The place of a release in time."""
    return tuple(map(int, release.split(".")))
