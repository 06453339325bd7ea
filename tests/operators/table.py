# SPDX-License-Identifier: Apache-2.0
"""Table of facts about an operator: the form of every table.

Tables are typed from what is known about CANN, never derived from the product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.operators.words import EVERY_CHIP, F64, Argument, Array, Changed, Changes, touching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "COMPOSITE",
    "FAILS",
    "INDIVIDUAL",
    "INNER_NULL",
    "INVALID",
    "KERNELS",
    "NOTHING",
    "NO_KERNEL",
    "NULL",
    "POINTERS",
    "TILING",
    "UNTOUCHED",
    "Broken",
    "Case",
    "Floats",
    "Gradient",
    "Layouts",
    "Numbers",
    "Step",
    "Table",
    "Truth",
    "Types",
    "as_nd",
    "broken",
    "idle",
    "individual",
    "nulls",
    "refused",
    "runs",
    "same_types",
    "shaped",
    "step",
    "typed",
    "unordered",
]

COMPOSITE, INDIVIDUAL = 0, 1
NULL, INVALID, TILING, NO_KERNEL, INNER_NULL = 161001, 161002, 561002, 561003, 561103
NOTHING, KERNELS, FAILS = 0, 1, 2
"""Behaviour of phase 2: no launch, a launch, or a failure after a successful phase 1."""

UNTOUCHED = "untouched"
"""A tensor holds after the call what it held before."""

POINTERS: dict[str, Argument] = {"workspaceSize": True, "executor": True}
"""The two pointers that end every phase 1: whether they are there."""


@dataclass(frozen=True)
class Broken:
    """One mistake.

    Attributes:
        name: Shown by pytest.
        changes: What makes the mistake out of the sound call.
        says: What the text names, the argument at fault; empty if that is a matter of taste.
    """

    name: str
    changes: Changes
    says: str


@dataclass(frozen=True)
class Step:
    """A step of phase 1: all its mistakes have one code, and answer before those of later steps.

    Attributes:
        code: The code.
        mistakes: Some that it finds.
        chips: Families on which it is made.
        unconfigured: Families of chips on which every call that comes so far gets the code.
        ordered: True if of two mistakes here the log names that which stands first. The codes do
            not show it.
        named: True if the log names a mistake made here, though one of a later step with the same
            code is there. The codes do not show it either.
    """

    code: int
    mistakes: tuple[Broken, ...] = ()
    chips: tuple[str, ...] = EVERY_CHIP
    unconfigured: tuple[str, ...] = ()
    ordered: bool = True
    named: bool = True


Row: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Types:
    """Which data types go together.

    Attributes:
        names: The tensors, in the order of the rows.
        rows: For each family, the rows that phase 1 accepts.
        listed: For each family, the types in some list of the operator. Types outside are refused;
            whether rows of listed types that do not stand in `rows` are refused is known only if
            this is empty, and then they are.
        unknown: Rows of which nobody knows.
        code: The code of a refusal.
        follows: Attributes of type ``aclDataType``, each with the tensor whose type it repeats.
        fails: True if phase 2 fails with a row: for a chip and the types by name. None: not known.
    """

    names: tuple[str, ...]
    rows: Mapping[str, tuple[Row, ...]]
    listed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unknown: tuple[Row, ...] = ()
    code: int = INVALID
    follows: Mapping[str, str] = field(default_factory=dict)
    fails: Callable[[str, Mapping[str, str]], bool | None] = lambda _chip, _types: False


@dataclass(frozen=True)
class Layouts:
    """Formats that go through phase 1; all others are refused.

    Attributes:
        names: Tensors that get the format together.
        accepted: The formats.
        changes: What else is changed.
        chips: Families for which this is known.
    """

    names: tuple[str, ...]
    accepted: frozenset[str]
    changes: Changes = field(default_factory=dict)
    chips: tuple[str, ...] = EVERY_CHIP


@dataclass(frozen=True)
class Case:
    """A call and all that is known of what comes out of it.

    Attributes:
        name: Shown by pytest.
        changes: What makes it out of the sound call.
        chips: Families on which it is known.
        code: What phase 1 answers.
        launch: What phase 2 does; None if nobody knows.
        workspace: Bytes of workspace; None if nobody knows.
        gives: What tensors hold afterwards.
        computed: True if the formula tells the rest. A call of which neither tells is not run.
        exact: True if results must agree to the last bit of their type.
        rtol: Otherwise the relative error of float32; 16-bit types have one unit in the last place.
        deterministic: True if the device is set to deterministic results.
    """

    name: str
    changes: Changes
    chips: tuple[str, ...] = EVERY_CHIP
    code: int = 0
    launch: int | None = None
    workspace: int | None = None
    gives: Mapping[str, Any] = field(default_factory=dict)
    computed: bool = True
    exact: bool = False
    rtol: float = 1e-6
    deterministic: bool = False


@dataclass(frozen=True)
class Gradient:
    """A pair of operators, one the gradient of the other, in the parameters of both.

    Attributes:
        forward: The operator whose gradient this is.
        upstream: Parameters that hold the gradient of a result, each with that result.
        saved: Parameters that take a result of the forward operator, each with that result.
        shared: Parameters that take an argument of the forward operator, each with that argument.
        gives: Results, each with the arguments of the forward operator that it is the gradient of.
        changes: What makes the forward call out of the sound one.
        own: What makes that of the gradient out of its sound one, beside what is said here.
    """

    forward: str
    upstream: Mapping[str, str]
    saved: Mapping[str, str]
    shared: Mapping[str, str]
    gives: Mapping[str, tuple[str, ...]]
    changes: Changes = field(default_factory=dict)
    own: Changes = field(default_factory=dict)


Floats: TypeAlias = "NDArray[np.float64]"
Truth: TypeAlias = "dict[str, Floats]"
"""The written tensors by name, as a formula computes them."""

Numbers: TypeAlias = dict[str, Any]
"""Arguments by name: tensors as float64 arrays, arrays as tuples, the rest as it is.

The type of a tensor is there as ``out.dtype``, its format as ``out.format``.
"""


@dataclass(frozen=True)
class Table:
    """An operator in a release of CANN.

    Attributes:
        name: The C name.
        kind: `COMPOSITE` (written by hand) or `INDIVIDUAL` (generated).
        base: A sound call on every chip, arguments in the order of the C signature.
        results: The tensors it writes.
        steps: Phase 1, in its order.
        types: Which data types go together.
        formula: Arguments and family to the written tensors, in float64.
        chips: Families of chips that have the operator.
        releases: Releases of CANN for which this is known.
        layouts: Which formats go through phase 1.
        cases: Calls with all that is known of them.
        gradients: Forward operators of this gradient.
        unwritten: For a family, results that it does not write.
        updated: Arguments that are read and written.
        widened: Results that are only as exact as the narrowest type of the call.
        optional: Tensors that may be NULL, which the formula knows the meaning of.
        each: True if it takes lists of tensors: each stands in one of its own.
    """

    name: str
    kind: int
    base: Mapping[str, Argument]
    results: tuple[str, ...]
    steps: tuple[Step, ...]
    types: Types
    formula: Callable[[Numbers, str], Mapping[str, Floats]]
    chips: tuple[str, ...] = EVERY_CHIP
    releases: tuple[str, ...] = ("8.1", "9")
    layouts: tuple[Layouts, ...] = ()
    cases: tuple[Case, ...] = ()
    gradients: tuple[Gradient, ...] = ()
    unwritten: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    updated: tuple[str, ...] = ()
    widened: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    each: bool = False

    @property
    def arguments(self) -> dict[str, Argument]:
        """The sound call with the two pointers behind it."""
        return {**self.base, **POINTERS}

    @property
    def tensors(self) -> tuple[str, ...]:
        return tuple(name for name, value in self.base.items() if isinstance(value, Array))

    def is_in(self, release: str) -> bool:
        """Return whether this applies to a release such as ``9.1``."""
        return bool({release, release.partition(".")[0]} & {*self.releases})

    def mistakes(self, chip: str) -> list[tuple[int, Step, Broken]]:
        """Every mistake that a family of chips finds, each with the number of its step."""
        return [
            (number, step, mistake)
            for number, step in enumerate(self.steps)
            if chip in step.chips
            for mistake in step.mistakes
        ]

    def pairs(self, chip: str) -> Iterable[tuple[Broken, Broken, Step]]:
        """Every two mistakes that fit into one call, the earlier first, and its step."""
        found = self.mistakes(chip)
        for place, (number, step, mistake) in enumerate(found):
            for later, _, other in found[place + 1 :]:
                known = later > number or step.ordered
                if known and not touching(mistake.changes, other.changes):
                    yield mistake, other, step

    def runs_on(self, chip: str) -> bool:
        """Return whether a chip family has kernels for the valid call."""
        types = {}
        for name in self.types.names:
            argument = self.base[name]
            assert isinstance(argument, Array)
            types[name] = argument.dtype
        return chip in self.chips and self.types.fails(chip, types) is False


def broken(name: str, says: str | None = None, **changes: Argument | Changed) -> Broken:
    """A mistake in one argument or several; its text names the first unless told otherwise."""
    return Broken(name, changes, next(iter(changes)) if says is None else says)


def step(
    code: int,
    *mistakes: Broken | tuple[Broken, ...],
    chips: tuple[str, ...] = EVERY_CHIP,
    ordered: bool = True,
    named: bool = True,
) -> Step:
    """A step of phase 1 with mistakes, one by one or in groups."""
    found = tuple(m for group in mistakes for m in (group if isinstance(group, tuple) else [group]))
    return Step(code, found, chips, ordered=ordered, named=named)


unordered = partial(step, ordered=False)
"""A step whose mistakes are found in an order that is not known."""


def runs(name: str, changes: Changes, chips: tuple[str, ...] = EVERY_CHIP, **more: Any) -> Case:
    """A call that launches kernels."""
    return Case(name, changes, chips, launch=KERNELS, **more)


def idle(name: str, changes: Changes, chips: tuple[str, ...] = EVERY_CHIP, **more: Any) -> Case:
    """A call with nothing to do, and no workspace."""
    return Case(name, changes, chips, launch=NOTHING, workspace=0, **more)


def refused(code: int, name: str, changes: Changes, chips: tuple[str, ...] = EVERY_CHIP) -> Case:
    """A call that phase 1 answers with a code."""
    return Case(name, changes, chips, code)


def nulls(*names: str) -> tuple[Broken, ...]:
    """Each argument NULL."""
    return tuple(Broken(f"{name} NULL", {name: None}, name) for name in names)


def typed(*names: str, dtype: str = F64) -> tuple[Broken, ...]:
    """Each tensor of a type."""
    return tuple(Broken(f"{name} {dtype}", {name: Changed(dtype=dtype)}, name) for name in names)


def shaped(name: str, *shapes: tuple[int, ...]) -> tuple[Broken, ...]:
    """A tensor of each shape."""
    return tuple(Broken(f"{name} {list(dims)}", {name: Changed(dims)}, name) for dims in shapes)


def individual(
    tensors: tuple[str, ...],
    chips: tuple[str, ...],
    *tiling: Step,
    required: tuple[str, ...] = (),
) -> tuple[Step, ...]:
    """The steps of a generated operator, of which only the last are its own.

    Args:
        tensors: Its tensors, in the order of the signature.
        chips: Families of chips that it is configured for.
        tiling: What the tiling of its kernel looks at.
        required: The tensors that must not be NULL, if not all.
    """
    lacking = tuple(chip for chip in EVERY_CHIP if chip not in chips)
    private = tuple(
        Broken(f"{name} in a private format", {name: Changed(format="FRACTAL_NZ")}, name)
        for name in tensors
    )
    return (
        Step(NULL, nulls(*(required or tensors))),
        Step(NULL, nulls("executor")),
        Step(NULL, nulls("workspaceSize")),
        Step(NO_KERNEL, unconfigured=lacking),
        Step(INVALID, (*typed(*tensors), *private), ordered=False),
        *tiling,
    )


def as_nd(*names: str) -> tuple[Layouts, ...]:
    """The formats that a generated operator takes as ND, on each tensor."""
    return tuple(
        Layouts((name,), frozenset({"ND", "NCL", "NCDHW", "NHWC", "NCHW"})) for name in names
    )


def same_types(names: tuple[str, ...], *types: str) -> tuple[Row, ...]:
    """Rows in which all tensors have one type."""
    return tuple((name,) * len(names) for name in types)
