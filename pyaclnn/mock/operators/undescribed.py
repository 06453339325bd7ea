# SPDX-License-Identifier: Apache-2.0
"""Operators without a description: by their kernels, or by their signatures alone.

PyTorch's kernels come last, if the program or the environment asks for them.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, TypeGuard

from pyaclnn.base.errors import text_of
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.user_kernels import operator_of_kernel, operator_without_kernel
from pyaclnn.reference import Strength, implementation
from pyaclnn.reference.kernels.aten import is_asked_for

if TYPE_CHECKING:
    from pyaclnn.mock.operators.operator import Operator
    from pyaclnn.mock.protocol.values import Call
    from pyaclnn.reference import Implementation
    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["find_undescribed"]


def find_undescribed(call: Call, kernel: Kernel | None) -> Operator[Any] | None:
    """Find the operator of a call that no description is of.

    Args:
        call: The call; its arguments are the parameters of an operator that no table has.
        kernel: The user's kernel of it, if there is one.

    Returns:
        The operator; None if nothing is known of it.
    """
    name, why = call.operator, ""
    found = implementation(name)
    if kernel is None and _is_used(found):
        try:
            kernel = found.kernel
        except ImportError as error:
            why = f"PyTorch would compute it, which {sys.executable} has not ({text_of(error)})"
    types = () if name in catalogue() else tuple((n, type(v)) for n, v in call.arguments.items())
    return _make(name, kernel, why, types)


def _is_used(found: Implementation | None) -> TypeGuard[Implementation]:
    """Report whether an implementation computes a call of an operator without a description.

    A definition does not: a described operator that comes here is not in the release.
    """
    strength = None if found is None else found.strength
    return strength is Strength.KERNEL or (strength is Strength.ATEN and is_asked_for())


@functools.lru_cache(maxsize=4096)
def _make(
    name: str, kernel: Kernel | None, why: str, types: tuple[tuple[str, type], ...]
) -> Operator[Any] | None:
    """Make an operator without description, once; ``types`` describe one that no table has."""
    signature = signature_of(name, kernel, types)
    if signature is None:
        return None
    if kernel is None:
        return operator_without_kernel(signature, why)
    return operator_of_kernel(signature, kernel)
