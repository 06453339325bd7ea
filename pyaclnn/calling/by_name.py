# SPDX-License-Identifier: Apache-2.0
"""Functions of operators by their C names."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.base.locks import reentrant_lock
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.calling.declared import Declared, snake_name
from pyaclnn.calling.undescribed_function import undescribed_function
from pyaclnn.cann.library import loaded_backend, operator_headers
from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyaclnn.calling.undescribed_function import OperatorFunction

__all__ = ["c_spelling", "closest_operators", "known_operators", "op", "operators_by_snake_name"]

_KINDS: Final = re.compile("(_?(tensor|scalar|dim))+$", re.IGNORECASE)
"""Ends of names by which CANN tells the forms of an operator apart."""
_lock: Final = reentrant_lock()
_made: Final[dict[str, OperatorFunction]] = {}


def op(name: str) -> OperatorFunction:
    """Return an operator of CANN as a function, by its C name.

    It takes the arguments of C, by position in the order of C or by their names (``from_`` and
    ``lambda_`` where Python reserves a name), and ``stream=``. Arrays are NumPy arrays, then it
    returns when all is done, or device arrays, then it queues the work and does not wait. Optional
    arguments that are left out are NULL, as is None. A result is an array, or ``Empty``, or left
    out where a rule gives its shape. The function returns what the operator writes; a tuple if
    that is more than one array.

    Args:
        name: The C name of the second phase, e.g. ``aclnnAdd``.

    Returns:
        The function, the same for the same name; ``help`` shows its parameters.

    Raises:
        InvalidArgumentError: No header, and no table, has such an operator.
        BackendNotFoundError: There is no backend to load.
        UnsupportedError: It takes what no operator of CANN takes.

    Examples:
        >>> add = pyaclnn.op("aclnnAdd")
        >>> row = np.array([3, -1, 2], np.float32)
        >>> add(row, row, alpha=1.0).tolist()
        [6.0, -2.0, 4.0]
    """
    found = _made.get(name)
    if found is not None:
        return found
    if not isinstance(name, str):
        raise InvalidArgumentError.of("op", "name", repr_of(name), "a C name, such as 'aclnnAdd'")
    operator_headers()
    with _lock:
        if name not in _made:
            declared = Declared.of(name)
            if declared is None:
                raise _unknown(name)
            _made[name] = undescribed_function(declared)
    return _made[name]


def known_operators() -> tuple[str, ...]:
    """Return the C names of all operators, sorted: of the installation, else of the table."""
    backend = loaded_backend()
    names = set(catalogue())
    if backend is not None:
        there = operator_headers().operators()
        names = there if backend.headers and there else names | there
    return tuple(sorted(names))


def operators_by_snake_name() -> Mapping[str, str]:
    """Return the C names by Python's spelling; see ``known_operators``."""
    return _by_snake_name(loaded_backend() is not None)


@functools.lru_cache(1)
def _by_snake_name(_loaded: bool) -> Mapping[str, str]:
    """The names; they change when the backend is loaded, which happens once in a process."""
    return {snake_name(name): name for name in known_operators()}


def closest_operators(name: str, known: Iterable[str]) -> str:
    """Return the question for the operators that a wrong name may mean; else where all are listed.

    Args:
        name: The wrong name, in the spelling of the names that exist.
        known: The names that exist, among them ``eq_scalar`` and ``eq_tensor`` for ``eq``.
    """
    kinds = [other for other in known if _KINDS.sub("", other) == name != other]
    if kinds:
        return f"did you mean {' or '.join(map(repr, sorted(kinds)))}?"
    return did_you_mean(name, known) or "'pyaclnn ops list' lists them."


def c_spelling(name: str) -> str:
    """Return the C name that a wrong name of an operator, such as ``add_rms_norm``, may mean."""
    wanted = name.rpartition(".")[2].removesuffix(PHASE_1).replace("_", "")
    return wanted if wanted.lower().startswith(("acl", "hccl")) else f"aclnn{wanted}"


def _unknown(name: str) -> InvalidArgumentError:
    known, wanted = known_operators(), c_spelling(name)
    hint = closest_operators(wanted, known) if wanted != "aclnn" else None
    given = f"{repr_of(name)}, which no header declares"
    return InvalidArgumentError.of("op", "name", given, "the C name of an operator", hint)
