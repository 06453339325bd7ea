# SPDX-License-Identifier: Apache-2.0
"""Shapes and dtypes of results that are left out, by rules."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.calling.empty import Empty
from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.results import result_rules
from pyaclnn.runtime.dtypes import bfloat16, dtype_of, numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["has_own_rule", "inferred", "on_new_rule", "shape_rule", "why_not"]

Rule: TypeAlias = "Callable[..., Any]"
_own: Final[dict[str, Rule]] = {}
_on_new_rule: Final[dict[str, Callable[[], None]]] = {}
_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)


def shape_rule(operator: str) -> Callable[[Rule], Rule]:
    """Register a rule for the shapes of an operator's results, which may then be left out.

    Args:
        operator: The C name of its second phase.

    Returns:
        A decorator for a function that takes arguments by their C names (``from_``, ``lambda_`` for
        those that Python reserves), as many of them as it names. It returns an ``Empty`` for each
        parameter that the operator writes and does not read, in C order; for a list, a sequence of
        them; alone if there is one. It takes the place of a rule that was known before.

    Examples:
        >>> @pyaclnn.shape_rule("aclnnTopk")
        ... def _(self, k, dim, **_):
        ...     shape = [*self.shape]
        ...     shape[dim] = k
        ...     return pyaclnn.Empty(shape, self.dtype), pyaclnn.Empty(shape, "int64")
        >>> row = np.array([3, -1, 2], np.float32)
        >>> values, places = pyaclnn.aclnn.topk(row, 2, 0, True, True)
        >>> places.tolist()
        [0, 2]
    """

    def register(rule: Rule) -> Rule:
        _own[operator] = rule
        _on_new_rule.get(operator, lambda: None)()
        return rule

    return register


def has_own_rule(operator: str) -> bool:
    """Return whether a user's own rule shapes the results of an operator."""
    return operator in _own


def on_new_rule(operator: str, forget: Callable[[], None]) -> None:
    """Have a function called when a user gives an operator a rule: results may be others then."""
    _on_new_rule[operator] = forget


def inferred(operator: str, given: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Return the placeholder of each result of an operator.

    Args:
        operator: The C name of its second phase.
        given: Arguments for the other parameters, by the names of Python's signature.
        results: The names of those that are written and not read, in C order.

    Returns:
        An ``Empty``, or a list of them, for each; nothing if no rule applies.

    Raises:
        InvalidArgumentError: A rule of the user's own does not return that.
    """
    own = _own.get(operator)
    if own is None:
        found = _by_rule(operator, given)
        return {} if found is None else dict(zip(results, found, strict=True))
    wanted = inspect.signature(own).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in wanted.values()):
        given = {name: value for name, value in given.items() if name in wanted}
    made = own(**given)
    if isinstance(made, Empty) or len(results) == 1:
        made = (made,)
    if not isinstance(made, (tuple, list)) or len(made) != len(results):
        expected = f"an Empty for each of {', '.join(results)}"
        raise InvalidArgumentError.of(operator, "shape_rule", f"a rule of {made!r}", expected)
    return dict(zip(results, made, strict=True))


def why_not(operator: str, given: Mapping[str, Any]) -> str:
    """Return why the results of a call have to be given.

    Args:
        operator: The C name of phase 2.
        given: The arguments by their Python names.
    """
    rule, names = result_rules().get(operator, ("", ()))
    if not rule:
        described = by_c_name().get(operator)
        there = f"pyaclnn.{described.name}() makes its results itself; " if described else ""
        return f"{there}no rule gives its shape"
    inputs = ", ".join(f"{name} {_in_short(given[name])}" for name in names)
    return f"its rule, {rule} of {', '.join(names)}, does not cover {inputs}"


def _in_short(argument: Any) -> str:
    if isinstance(argument, type):
        return argument.__name__
    if hasattr(argument, "shape") and hasattr(argument, "dtype"):
        return f"({argument.dtype}, shape {argument.shape})"
    if isinstance(argument, (tuple, list)) and any(hasattr(item, "shape") for item in argument):
        return f"({', '.join(map(_in_short, argument))})"
    return repr_of(argument)


def _by_rule(operator: str, given: Mapping[str, Any]) -> list[Any] | None:
    rule, names = result_rules().get(operator, ("", ()))
    values = [given[name] for name in names]
    made: Any = _RULES[rule](*values) if rule and values[0] is not None else None
    if made is None:
        return None
    return list(made) if isinstance(made, tuple) else [made]


# ---- the rules by name; None where they do not apply -------------------------------------------


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype == bfloat16


def _dtype(dtype: Any) -> np.dtype[Any] | None:
    if not isinstance(dtype, (int, np.integer)):
        return dtype_of(dtype)
    try:
        return numpy_dtype(int(dtype))
    except InvalidArgumentError:
        return None


def _as(dtype: np.dtype[Any], rule: Rule) -> Rule:
    """Return a rule for results of the shape that another rule gives, and of one dtype."""

    def applied(*arguments: Any) -> Empty | None:
        found = rule(*arguments)
        return None if found is None else Empty(found.shape, dtype)

    return applied


def _floats(rule: Rule) -> Rule:
    """Return a rule that applies to floats alone."""

    def applied(*arguments: Any) -> Empty | None:
        found = rule(*arguments)
        return found if found is not None and _is_float(found.dtype) else None

    return applied


def _same(one: Any, *_: Any) -> Empty | None:
    return Empty(one.shape, one.dtype) if hasattr(one, "dtype") else None


def _scalar(one: Any, scalar: Any) -> Empty | None:
    kind = np.asarray(scalar).dtype.kind
    fits = _is_float(one.dtype) and kind in "biuf"
    return _same(one) if fits or (one.dtype.kind in "iu" and kind in "iu") else None


def _cast(one: Any, dtype: Any) -> Empty | None:
    found = _dtype(dtype)
    return None if found is None else Empty(one.shape, found)


def _broadcast(*arrays: Any) -> Empty | None:
    if any(array is None for array in arrays) or len({array.dtype for array in arrays}) != 1:
        return None
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        return None
    return Empty(shape, arrays[0].dtype)


def _where(condition: Any, one: Any, other: Any) -> Empty | None:
    values = _broadcast(one, other)
    if values is None:
        return None
    shape = _broadcast(Empty(values.shape, _BOOL), Empty(condition.shape, _BOOL))
    return None if shape is None else Empty(shape.shape, values.dtype)


def _each(arrays: Any) -> tuple[list[Empty]] | None:
    if any(array is None for array in arrays):
        return None
    return ([Empty(array.shape, array.dtype) for array in arrays],)


def _reduce(array: Any, axes: Any, keep: bool) -> Empty | None:
    rank = len(array.shape)
    named = list(axes) if hasattr(axes, "__iter__") else [axes]
    if axes is None or not named:
        reduced = set(range(rank))
    elif all(-rank <= axis < rank for axis in named):
        reduced = {axis % rank for axis in named}
    else:
        return None
    lengths = [1 if axis in reduced else n for axis, n in enumerate(array.shape)]
    shape = tuple(n for axis, n in enumerate(lengths) if keep or axis not in reduced)
    return Empty(shape, array.dtype)


def _index_and_reduce(array: Any, axes: Any, keep: bool) -> tuple[Empty, Empty] | None:
    found = _reduce(array, axes, keep)
    return None if found is None else (found, Empty(found.shape, _INT64))


def _cast_reduce(array: Any, axes: Any, keep: bool, dtype: Any) -> Empty | None:
    found = _reduce(array, axes, keep)
    return None if found is None else _cast(found, dtype)


_RULES: Final[Mapping[str, Rule]] = {
    "same": _same,
    "floats": _floats(_same),
    "truth": _as(_BOOL, _same),
    "scalar": _scalar,
    "cast": _cast,
    "broadcast": _broadcast,
    "floats-broadcast": _floats(_broadcast),
    "truth-broadcast": _as(_BOOL, _broadcast),
    "where": _where,
    "each": _each,
    "reduce": _reduce,
    "floats-reduce": _floats(_reduce),
    "truth-reduce": _as(_BOOL, _reduce),
    "index-reduce": _as(_INT64, _reduce),
    "index-and-reduce": _index_and_reduce,
    "cast-reduce": _cast_reduce,
}
