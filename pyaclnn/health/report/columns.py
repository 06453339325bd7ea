# SPDX-License-Identifier: Apache-2.0
"""Tables of records looked at by column: whether they are what they must be, and parts of them.

A fleet has millions of comparisons, nearly all of which passed; no record is made of these.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import math
import sys
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args, get_origin

from pyaclnn.health.report.fields import Rule, annotated, hints_of
from pyaclnn.health.report.reader import read
from pyaclnn.health.report.table import packed, unpacked, wrong_with

if TYPE_CHECKING:
    from collections.abc import Callable

    Look: TypeAlias = Callable[[list[Any]], bool]

__all__ = ["digest", "fits", "those_with"]

_LARGEST: Final = sys.float_info.max
_PLAIN: Final = Rule()


def digest(column: Any) -> bytes:
    """Return what is the same for equal columns only, in the types of their values too.

    Args:
        column: JSON's own types.
    """
    # A later version tells objects from their copies.
    return hashlib.blake2b(marshal.dumps(column, 2), digest_size=16).digest()


def fits(
    kind: Any, table: dict[str, Any] | None, known: set[tuple[str, bytes]] | None = None
) -> dict[str, bytes] | None:
    """Look whether a table is one that `reader.read` takes, as it stands.

    Args:
        kind: The type of its records.
        table: JSON's own types.
        known: Names and digests of columns of lists that fit, which are long to look at; more are
            added.

    Returns:
        The digests of its columns of lists, which take long to reckon as well; None if it does not
        fit.
    """
    if table is None:
        return {}
    if wrong_with(table):
        return None
    looks = _looks(kind)
    each = {**{name: [value] for name, value in table["same"].items()}, **table["each"]}
    if each.keys() != looks.keys():
        return None
    nested = {name: digest(each[name]) for name in _nested(kind)}
    known = set() if known is None else known
    new = looks.keys() - {name for name, found in nested.items() if (name, found) in known}
    if not all(looks[name](each[name]) for name in new):
        return None
    known.update(nested.items())
    return nested


def those_with(table: dict[str, Any] | None, name: str, value: Any) -> dict[str, Any] | None:
    """Return the table of those records of which a field has a value.

    Args:
        table: A table that fits.
        name: The field.
        value: The value.
    """
    if table is None or table["same"].get(name, value) != value:
        return None
    if name in table["same"]:
        return table
    return packed([row for row in unpacked(table) if row[name] == value])


@functools.cache
def _looks(kind: Any) -> dict[str, Look]:
    return {name: _look(hint) for name, hint in hints_of(kind).items()}


@functools.cache
def _nested(kind: Any) -> tuple[str, ...]:
    """The fields that are lists themselves."""
    return tuple(name for name, hint in hints_of(kind).items() if get_origin(annotated(hint)[0]))


def _look(hint: Any) -> Look:
    kind, rule = annotated(hint)
    inner = get_args(kind)
    if get_origin(kind) is tuple and inner[-1] is Ellipsis:
        items = _look(inner[0])
        return lambda column: _all(list, column) and items(list(chain.from_iterable(column)))
    if get_origin(kind) is tuple:
        left, right = map(_look, inner)  # no record has others
        return functools.partial(_pairs, left, right)
    if kind is float:
        return functools.partial(_floats, rule)
    if kind is int and rule == Rule(minimum=rule.minimum):
        least = -sys.maxsize if rule.minimum is None else rule.minimum
        return lambda column: _all(int, column) and min(column, default=least) >= least
    if kind in {bool, str} and rule == _PLAIN:
        return functools.partial(_all, kind)
    return functools.partial(_one_by_one, hint)


def _all(kind: type, column: list[Any]) -> bool:
    return set(map(type, column)) <= {kind}


def _pairs(left: Look, right: Look, column: list[Any]) -> bool:
    if not _all(list, column) or not set(map(len, column)) <= {2}:
        return False
    return not column or all(look(list(n)) for look, n in zip((left, right), zip(*column)))  # noqa: B905  # each has two


def _floats(rule: Rule, column: list[Any]) -> bool:
    """Whole numbers fit as well, but not as they stand: they are to become floats."""
    kinds = set(map(type, column))
    if rule.absent is not None and NoneType in kinds:
        column = [value for value in column if value is not None]
        kinds.discard(NoneType)
    least = -_LARGEST if rule.minimum is None else rule.minimum
    # A sum that is finite is of finite numbers.
    return kinds <= {float} and math.isfinite(sum(column)) and min(column, default=least) >= least


def _one_by_one(hint: Any, column: list[Any]) -> bool:
    try:
        return all(read(hint, value) is not None for value in set(column))
    except (ValueError, TypeError):
        return False
