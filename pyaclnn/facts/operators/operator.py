# SPDX-License-Identifier: Apache-2.0
"""Description of an operator: everything about it that its header does not state."""

from __future__ import annotations

from contextlib import nullcontext
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pyaclnn.facts.operators.parameters import Kind, Option, Role, Tensor
from pyaclnn.facts.operators.torch_signature import TorchSignature
from pyaclnn.facts.operators.words import PACKED, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pyaclnn.facts.operators.checks import Check
    from pyaclnn.facts.operators.parameters import Parameter
    from pyaclnn.facts.operators.request import Hooks
    from pyaclnn.facts.operators.types import Row, Types
    from pyaclnn.facts.operators.words import Dims, Lengths

    Constraint: TypeAlias = Callable[[Mapping[str, Any]], tuple[str, str, str] | None]
    FindLengths: TypeAlias = Callable[[Mapping[str, Any]], Lengths]
    FindMistake: TypeAlias = Callable[[Mapping[str, Any], str], tuple[str, str, str] | None]

__all__ = ["Build", "Operator", "ShapeError", "primary_of"]

_PRIMARY = ("input", "x", "x1")
# PyTorch has the former, CANN has either.
_SYNONYMS = {
    "input": "x",
    "grad_out": "dy",
    "weight": "gamma",
    "bias": "beta",
    "eps": "epsilon",
    "num_groups": "group",
}


class Build(Enum):
    """The build of an operator in CANN.

    A composite one is written by hand over several kernels and checks everything itself; an
    individual one is generated from its definition and leaves shapes to the kernel's tiling.
    Source: CANN: opbase composite_op and individual_op.
    """

    COMPOSITE = 0
    INDIVIDUAL = 1


class ShapeError(Exception):
    """Failure to find the lengths of axes: a tensor has fewer axes than others require.

    Attributes:
        tensor: The tensor.
    """

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor.name)
        self.tensor = tensor


class _Fields(NamedTuple):
    """Attributes of an operator.

    Attributes:
        c_name: The C name of phase 2.
        name: The name of the public function.
        build: Its build in CANN.
        doc: The computation in a sentence, with the formula.
        parameters: The C parameters, by their C names.
        types: The types that it takes.
        checks: The checks of phase 1 in CANN's order, with the names of shapes expanded.
        positional: The Python names of the arguments, in order.
        keywords: Those that are given by name alone.
        result_type: The name of the named tuple of outputs.
        definition: The name of its definition in `pyaclnn.reference`.
        constraint: Returns what is wrong with arguments that each have an accepted type and shape.
            It gets values and lengths by Python names, and returns None or an argument's name, what
            it is and what it must be.
        lengths: Returns lengths of further words from options and lengths of the primary tensor.
        nonempty: A group of axes that must not be empty where there are outputs.
        zeros: Groups of axes, and the outputs that are 0 where one is empty: CANN is not called.
        channels_last: Families of chips on which a format with the channels at the end counts; on
            others the channels are axis 1 whatever the format.
        accepted_types: The rows of types that phase 1 accepts, where there are more than public
            functions take, by chip families; ``*`` is any.
        essential: True if a CANN without it is no CANN for norms.
        in_place: True if an output may be exactly an input, as programs for CANN pass them.
        source: Where CANN has its rules.
        lists: True if C takes a list of tensors for every tensor: the rest is about each of them.
        saved: The tensors that the keyword ``saved`` takes from the result of another operator,
            by their Python names; the first is that operator's.
        mistake: Finds saved numbers that have another meaning than the operator gives them. It gets
            NumPy arrays and options by Python names, and the chip's family; it returns what
            `constraint` does.
        hooks: Functions for what no check states.
        later: Attributes that change from a release of CANN on, by the release's name.
        shows: Output of the docstring's example: the second row of the first result.
        torch_text: The signature of PyTorch's function, as `TorchSignature.of` reads it.
    """

    c_name: str
    name: str
    build: Build
    doc: str
    parameters: Mapping[str, Parameter]
    types: Types
    checks: tuple[Check, ...]
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    result_type: str
    definition: str
    constraint: Constraint | None
    lengths: FindLengths | None
    nonempty: str
    zeros: tuple[str, tuple[str, ...]] | None
    channels_last: tuple[str, ...]
    accepted_types: Mapping[str, tuple[Row, ...]]
    essential: bool
    in_place: bool
    source: str
    lists: bool
    saved: tuple[str, ...]
    mistake: FindMistake | None
    hooks: Hooks
    later: Mapping[str, Mapping[str, Any]]
    shows: str
    torch_text: str


class Operator(_Fields):
    """Description of an operator, with what follows from its attributes."""

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
        """The tensors that are read, the primary one first."""
        read = [tensor for tensor in self.tensors if tensor.read]
        return tuple(sorted(read, key=lambda tensor: tensor is not self.primary))

    @cached_property
    def outputs(self) -> tuple[Tensor, ...]:
        """The tensors that are written and not read, in the order of C."""
        return tuple(tensor for tensor in self.tensors if tensor.role is Role.OUTPUT)

    @cached_property
    def returned(self) -> tuple[Tensor, ...]:
        """The results of the public function: the outputs, else the tensors written in place."""
        return self.outputs or tuple(tensor for tensor in self.tensors if tensor.written)

    @cached_property
    def primary(self) -> Tensor:
        """The input that the shapes, types and formats of the other tensors follow."""
        return primary_of(self.parameters)

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
        """Other names of parameters that callers know from elsewhere -> the Python names here."""
        pairs = {**_SYNONYMS, **{cann: torch for torch, cann in _SYNONYMS.items()}}
        names = (*self.positional, *self.keywords)
        found = {pairs[name]: name for name in names if name in pairs}
        if self.torch is not None:
            found.update({p.name: p.own for p in self.torch.parameters if p.own})
        return {other: name for other, name in found.items() if other not in self.by_name}

    @cached_property
    def torch(self) -> TorchSignature | None:
        """The signature of PyTorch's function for it; None if PyTorch has none."""
        return TorchSignature.of(self.torch_text) if self.torch_text else None

    @cached_property
    def mask(self) -> Option | None:
        """The option that selects results, if there is one."""
        return next((option for option in self.options if option.kind is Kind.MASK), None)

    def wants(self, tensor: Tensor, values: Mapping[str, Any]) -> bool:
        """Return whether a tensor that the operator writes is written.

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

    def least_rank(self, tensor: Tensor) -> int:
        """Return the fewest axes of a tensor: none for a composite operator that names no axis."""
        words = tensor.shape.words
        if self.build is Build.COMPOSITE and len(words) == 1 and words[0][0] is Word.GROUP:
            return 0
        return tensor.shape.least_rank

    def rank_source(self, group: str, there: Collection[str]) -> Parameter | None:
        """Return the parameter, other than the primary tensor, that decides the axes of a group.

        Args:
            group: The group, one of the primary tensor's.
            there: The Python names of the tensors and options that are there.
        """
        for option in self.options:
            if option.kind is Kind.LENGTHS and option.shape.words[0][1] == group:
                return option
        of_it = (Word.GROUP, group)
        inputs = sorted(self.inputs[1:], key=self._place)
        having = (t for t in inputs if t.name in there and of_it in t.shape.words)
        alone = (t for t in having if len(t.shape.words) == 1 and not t.shape.other)
        return next(alone, None)

    def learn(self, shapes: Mapping[str, Dims], values: Mapping[str, Any]) -> Lengths:
        """Find the length of every axis from the primary tensor and options.

        Args:
            shapes: The shapes of the tensors that are there, by Python names.
            values: The options by Python names.

        Raises:
            ShapeError: The primary tensor has fewer axes than the others require.
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
                if tensor is self.primary and self.lengths is not None:
                    known.update(self.lengths({**values, **known}))
            elif tensor is self.primary:
                raise ShapeError(tensor)
        models = {tensor.shape.like for tensor in self.tensors}
        known.update({name: dims for name, dims in shapes.items() if name in models})
        return known

    def _place(self, tensor: Tensor) -> tuple[int, int]:
        """Sort a tensor of one group before the primary one, by the checks of shapes."""
        if len(tensor.shape.words) > 1 or tensor.shape.other:
            return 1, 0
        kinds = ("rank", "shape", "each")
        order = [name for check in self.checks if check.kind in kinds for name in check.names]
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


def primary_of(parameters: Mapping[str, Parameter]) -> Tensor:
    """Return the tensor that is named as the input is by custom; else the first that is read."""
    read = [p for p in parameters.values() if isinstance(p, Tensor) and p.read]
    return next((t for t in read if t.name in _PRIMARY), read[0])


def _order(release: str) -> tuple[int, ...]:
    """The place of a release in time."""
    return tuple(map(int, release.split(".")))


for _property in vars(Operator).values():
    if isinstance(_property, cached_property):
        # Before Python 3.12 it has a lock, which another thread may hold at a fork.
        vars(_property)["lock"] = nullcontext()
