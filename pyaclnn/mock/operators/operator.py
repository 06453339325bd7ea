# SPDX-License-Identifier: Apache-2.0
"""Device-side operator: its argument checks and its kernel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from pyaclnn.base.locks import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pyaclnn.facts.chips import Chip
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.status import Status
    from pyaclnn.mock.protocol.values import Call, Tensor

    Shapes: TypeAlias = Sequence[tuple[Tensor, tuple[int, ...]]]

__all__ = [
    "ExecutorKind",
    "Launch",
    "Operator",
    "Parameter",
    "Plan",
    "RefusalError",
    "Setting",
    "Work",
]

Arguments = TypeVar("Arguments")


class ExecutorKind(IntEnum):
    """Implementation kind of an operator (CANN: opbase composite_op and individual_op).

    A composite operator is written by hand over several kernels and checks everything itself; an
    individual one is generated from its definition and leaves shapes to the kernel's tiling.
    """

    COMPOSITE = 0
    INDIVIDUAL = 1


class Launch(IntEnum):
    """Behaviour of phase 2 after a successful phase 1.

    ``FAILS`` is the composite operator that queued a kernel whose tiling failed and ignored that:
    phase 1 succeeds and phase 2 answers 561000.
    """

    NOTHING = 0
    KERNELS = 1
    FAILS = 2


class Plan(NamedTuple):
    """Answer of a successful phase 1.

    Attributes:
        workspace_size: Bytes of workspace.
        launch: The work of phase 2.
        text: With `Launch.FAILS`, why.
        unwritten: The names of results that silently stay as they are, by the caller's mistake.
    """

    workspace_size: int = 0
    launch: Launch = Launch.NOTHING
    text: str = ""
    unwritten: tuple[str, ...] = ()


class RefusalError(Exception):
    """Refusal by phase 1.

    Args:
        status: The code phase 1 returns.
        text: The text that ``aclGetRecentErrMsg`` returns afterwards.
    """

    def __init__(self, status: Status, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Parameter(NamedTuple):
    """A parameter of the C signature.

    Attributes:
        name: The C name.
        kind: The class of `pyaclnn.mock.protocol.values`, or the Python type, of its values.
        pointer: True if NULL (None) may be passed.
    """

    name: str
    kind: type
    pointer: bool = True


class Setting(NamedTuple):
    """Where a call is made.

    Attributes:
        chip: The chip that is simulated.
        flags: Bits of `pyaclnn.mock.protocol.values.Flag`.
    """

    chip: Chip
    flags: int = 0


class Work(NamedTuple):
    """Kernels of a call, bound to the memory of its tensors.

    Attributes:
        run: Reads and writes device memory; returns the shapes of results that turned out to be
            shorter than their tensors.
        is_lasting: True if `run` may be called again while the tensors are where they are. Kernels
            that have read device memory when they were bound may not.
    """

    run: Callable[[], Shapes | None]
    is_lasting: bool = True


@dataclass(frozen=True)
class Operator(Generic[Arguments]):
    """One operator.

    Attributes:
        name: The C name without suffix.
        executor_kind: Composite or individual.
        parameters: The C signature up to ``workspaceSize``.
        arguments: Makes the arguments object out of the values, in the order of `parameters`.
        check: Phase 1: returns the plan or raises `RefusalError`.
        kernels: Binds the kernels to device memory, where the tensors are.
        output_count: Number of the last parameters that hold the outputs, without `written`.
        written: The names of the parameters that are written.
        updated: The names of those of them that are read as well.
        apart: True if no output may be an input, not even exactly: the kernel may read a row again
            after it has written it.
        shows_unwritten: True if its kernels poison the elements of outputs that they leave out,
            because they compute their results elsewhere; outputs of the others are poisoned before.
        reads_bases: True if inputs may be described as the whole tensors that they are views of.
        any_scalars: True if scalars count in phase 1 by their data types alone, if the tensors are
            floats. Its kernels, once bound, read them at each run.
    """

    name: str
    executor_kind: ExecutorKind
    parameters: tuple[Parameter, ...]
    arguments: Callable[..., Arguments]
    check: Callable[[Arguments, Setting], Plan]
    kernels: Callable[[Arguments, DeviceMemory], Work]
    output_count: int = 0
    written: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    apart: bool = False
    shows_unwritten: bool = False
    reads_bases: bool = False
    any_scalars: bool = False

    def mask_of(self, names: Collection[str]) -> int:
        """Return a bit for each of some parameters; a list is one parameter."""
        places = enumerate(self.parameters)
        return sum(1 << place for place, parameter in places if parameter.name in names)

    @cached_property
    def written_mask(self) -> int:
        """The parameters that are written, a bit each."""
        outputs = self.parameters[len(self.parameters) - self.output_count :]
        return self.mask_of((*self.written, *(parameter.name for parameter in outputs)))

    @cached_property
    def updated_mask(self) -> int:
        """The parameters that are written and read, a bit each."""
        return self.mask_of(self.updated)

    def bind(self, call: Call) -> Arguments:
        """Match a call's arguments with the parameters, by position.

        Raises:
            TypeError: The call has other parameters than the operator: the host side was made from
                another declaration.
        """
        if len(call.arguments) != len(self.parameters):
            raise TypeError(
                f"{self.name} arrived with {len(call.arguments)} arguments "
                f"({', '.join(call.arguments)}); it has {len(self.parameters)}"
            )
        values: list[Any] = []
        for (name, value), parameter in zip(call.arguments.items(), self.parameters, strict=True):
            absent = value is None and parameter.pointer
            if not (absent or isinstance(value, parameter.kind)):
                raise TypeError(
                    f"{self.name} argument {name} arrived as {type(value).__name__}; "
                    f"it must be {parameter.kind.__name__}"
                )
            values.append(value)
        return self.arguments(*values)
