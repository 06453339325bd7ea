# SPDX-License-Identifier: Apache-2.0
"""Operators without a description: by their kernels, or by their signatures alone."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.user_kernels import operator_of_kernel, operator_without_kernel
from pyaclnn.reference import Strength, implementation

if TYPE_CHECKING:
    from pyaclnn.mock.operators.operator import Operator
    from pyaclnn.mock.protocol.values import Call
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
    name = call.operator
    found = implementation(name)
    # No definition computes it: a described operator that comes here is not in the release.
    if kernel is None and found is not None and found.strength is Strength.KERNEL:
        kernel = found.kernel
    types = () if name in catalogue() else tuple((n, type(v)) for n, v in call.arguments.items())
    return _make(name, kernel, types)


@functools.lru_cache(maxsize=4096)
def _make(
    name: str, kernel: Kernel | None, types: tuple[tuple[str, type], ...]
) -> Operator[Any] | None:
    """Make an operator without description, once; ``types`` describe one that no table has."""
    signature = signature_of(name, kernel, types)
    if signature is None:
        return None
    if kernel is None:
        return operator_without_kernel(signature)
    return operator_of_kernel(signature, kernel)
