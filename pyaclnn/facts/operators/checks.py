# SPDX-License-Identifier: Apache-2.0
"""Checks of an operator's phase 1: what CANN looks at, in its order, with the status of a failure.

A description lists its checks by C names of parameters. The device process of the simulated NPU
interprets them; the public functions do not need them.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyaclnn.facts.operators.request import Request

    Find: TypeAlias = Callable[[Request], str | None]

__all__ = [
    "COMPOSITE",
    "GENERATED",
    "Check",
    "Checks",
    "Code",
    "agree",
    "at_launch",
    "chips",
    "constraint",
    "dtypes",
    "each",
    "empty",
    "fixed_format",
    "flattened",
    "formats",
    "in_graph",
    "in_tiling",
    "launch",
    "masked",
    "one_element",
    "options",
    "packed",
    "public_formats",
    "rank",
    "required",
    "rule",
    "same_dtype",
    "same_format",
    "same_shape",
    "shape",
    "shapes",
    "text",
]


class Code(Enum):
    """Status of phase 1 when a check fails, by its name in ``opdev/op_errno.h``."""

    NULL = "PARAM_NULLPTR"
    INVALID = "PARAM_INVALID"
    NO_KERNEL = "INNER_FIND_KERNEL"
    TILING = "INNER_TILING"
    GRAPH = "INNER_NULLPTR"


class Check(NamedTuple):
    """A check.

    Attributes:
        kind: The kind of check: the function of this module that made the check.
        names: The parameters that it looks at, by C names; none for all that the kind concerns.
        code: The status if it fails.
        late: True if phase 1 succeeds all the same, and phase 2 fails.
        least: The least number of axes.
        most: The greatest number of axes; None for the number that the shape in words has.
        allowed: The values or data types that are accepted.
        by_rank: Formats by number of axes.
        find: Returns what is wrong, or None.
        idle: Returns whether there is nothing to launch.
    """

    kind: str
    names: tuple[str, ...] = ()
    code: Code = Code.INVALID
    late: bool = False
    least: int | None = None
    most: int | None = None
    allowed: tuple[str, ...] = ()
    by_rank: Mapping[int, str] = {}
    find: Callable[..., str | None] | None = None
    idle: Callable[[Request], bool] | None = None


Checks: TypeAlias = tuple["Check | Checks", ...]
"""Checks in CANN's order; those of a group count as if they stood there one by one."""


def flattened(checks: Checks) -> Iterator[Check]:
    """Yield the checks of all groups."""
    for check in checks:
        if isinstance(check, Check):
            yield check
        else:
            yield from flattened(check)


# ---- arguments --------------------------------------------------------------------------------


def pointers(*names: str) -> Check:
    """The two pointers at the end of the signature are not NULL."""
    return Check("pointers", names, Code.NULL)


def required(*names: str, code: Code = Code.NULL) -> Check:
    """Pointers are not NULL, but for those that are optional; the named ones never."""
    return Check("required", names, code)


def masked(*, null: Code = Code.NULL, length: Code = Code.INVALID) -> Checks:
    """The mask is there and of the right length, and so are the outputs that it selects."""
    return (
        Check("mask", code=null),
        Check("mask_length", code=length),
        Check("selected", code=null),
    )


def options() -> Check:
    """Options are in their ranges."""
    return Check("options")


def text(name: str, value: str) -> Check:
    """A string is this one, all of it; NULL passes."""
    return Check("text", (name,), allowed=(value,))


def agree(*names: str) -> Check:
    """Options that repeat lengths of the primary tensor have its lengths."""
    return Check("agree", names)


def constraint() -> Check:
    """The arguments meet the ``constraint`` of the description."""
    return Check("constraint")


# ---- data types -------------------------------------------------------------------------------


def dtypes(*names: str, among: tuple[str, ...] = ()) -> Check:
    """Data types are those of a row of the description; or each of some tensors' is among these."""
    return Check("dtypes_among" if among else "dtypes", names, allowed=among)


def same_dtype(name: str, other: str) -> Check:
    """A tensor has the data type of another one."""
    return Check("same_dtype", (name, other))


# ---- shapes -----------------------------------------------------------------------------------


def shapes() -> Check:
    """All shapes are as described: numbers of axes, then options that repeat lengths, then shapes.

    For an individual operator: the number of axes of each tensor, then shapes.
    """
    return Check("shapes")


def rank(*names: str, least: int | None = None, most: int | None = None) -> Check:
    """Tensors have the number of axes of their shapes in words; or at least and at most so many.

    Args:
        names: Tensors, or options that list lengths.
        least: The least, also of outputs that are not wanted; by default the fewest axes of the
            shape in words.
        most: The greatest.
    """
    return Check("rank", names, least=least, most=most)


def shape(*names: str) -> Check:
    """Tensors have their shapes in words."""
    return Check("shape", names)


def same_shape(name: str, other: str) -> Check:
    """A tensor has the shape of another one."""
    return Check("same_shape", (name, other))


def one_element(name: str) -> Check:
    """A tensor has one element."""
    return Check("one_element", (name,))


def packed(name: str, other: str) -> Check:
    """An int32 tensor of packed 4-bit integers has an eighth of the last axis of another tensor."""
    return Check("packed", (name, other))


# ---- formats ----------------------------------------------------------------------------------


def formats(by_rank: Mapping[int, str] | None = None, *, barred: tuple[str, ...] = ()) -> Check:
    """Tensors like the primary one have its format, and none with a layout of its own.

    Args:
        by_rank: The only format for a number of axes.
        barred: Further formats that are refused.
    """
    return Check("formats", by_rank=by_rank or {}, allowed=barred)


def public_formats() -> Check:
    """No tensor has a format with a layout of its own."""
    return Check("public_formats")


def same_format() -> Check:
    """Tensors like the primary one have its format."""
    return Check("same_format")


def fixed_format(*names: str, by_rank: Mapping[int, str]) -> Check:
    """Tensors with a number of axes have the format for it."""
    return Check("fixed_format", names, by_rank=by_rank)


# ---- the rest ---------------------------------------------------------------------------------


def chips() -> Check:
    """The chip is of a family that has kernels."""
    return Check("chips")


def empty(*names: str) -> Check:
    """Nothing is launched if one of some tensors has no elements; by default the primary one."""
    return Check("empty", names)


def rule(find: Find, code: Code = Code.INVALID) -> Check:
    """A function finds nothing wrong."""
    return Check("rule", code=code, find=find)


def each(
    find: Callable[[Request, str], str | None], *names: str, code: Code = Code.INVALID
) -> Check:
    """A function finds nothing wrong with any of some arguments, which it gets by Python names."""
    return Check("each", names, code, find=find)


# ---- where CANN finds a failure ---------------------------------------------------------------


def in_tiling(*checks: Check | Checks) -> Checks:
    """The tiling of the kernel makes these checks."""
    return tuple(check._replace(code=Code.TILING) for check in flattened(checks))


def in_graph(*checks: Check | Checks) -> Checks:
    """Nobody makes these checks until the graph of kernels is built."""
    return tuple(check._replace(code=Code.GRAPH) for check in flattened(checks))


def at_launch(*checks: Check | Checks) -> Checks:
    """Phase 1 ignores what these checks find, and phase 2 fails."""
    return tuple(check._replace(late=True) for check in flattened(checks))


def kernels() -> Check:
    """There are kernels for the chip."""
    return Check("kernels", code=Code.GRAPH)


def launch(
    *graph: Check | Checks,
    idle: Callable[[Request], bool] | None = None,
    late: Checks | None = None,
) -> Checks:
    """The graph of kernels is built: an output is wanted, the chip has kernels, copies succeed.

    Args:
        graph: Further checks, which fail as the graph does.
        idle: Returns whether nothing is launched although nothing is wrong.
        late: Given where CANN finds at the launch that the chip has no kernels: further checks
            that it makes before.
    """
    wanted, copies = Check("wanted", idle=idle), Check("copies", code=Code.GRAPH)
    if late is not None:
        return (wanted, *in_graph(*graph), copies, *at_launch(*late, kernels()))
    return (wanted, kernels(), *in_graph(*graph), copies)


COMPOSITE: Checks = (
    required(),
    masked(),
    dtypes(),
    options(),
    shapes(),
    formats(),
    empty(),
)
"""Checks of a composite operator of which no other order is known."""

GENERATED: Checks = (
    required(),
    pointers("executor", "workspaceSize"),
    Check("kernels", code=Code.NO_KERNEL),
    Check("nd_formats"),
    Check("dtype_row"),
    Check("scalars"),
    Check("no_outputs"),
)
"""Checks that CANN makes for every individual operator before the tiling of its kernel."""
