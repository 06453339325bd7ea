# SPDX-License-Identifier: Apache-2.0
"""Operators without a description: by their kernels, or by their signatures alone.

PyTorch's kernels come last, if they are asked for.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.aten import KERNELS, aten_kernel, is_asked_for
from pyaclnn.mock.kernels import built_in
from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.user_kernels import operator_of_kernel, operator_without_kernel

if TYPE_CHECKING:
    from pyaclnn.mock.kernel import Kernel
    from pyaclnn.mock.operators.operator import Operator
    from pyaclnn.mock.values import Call

__all__ = ["find_undescribed"]


def find_undescribed(call: Call, kernel: Kernel | None) -> Operator[Any] | None:
    """Find the operator of a call that no description is of.

    Args:
        call: The call; it tells the parameters of an operator that no table has.
        kernel: The user's kernel of it, if there is one.

    Returns:
        The operator; None if nothing is known of it.
    """
    name, why = call.operator, ""
    kernel = kernel or built_in().get(name)
    if kernel is None and is_asked_for():
        try:
            kernel = aten_kernel(name)
        except ImportError as error:
            why = f"{KERNELS} asks for those of PyTorch, which {sys.executable} has not ({error})"
    types = () if name in catalogue() else tuple((n, type(v)) for n, v in call.arguments.items())
    return _taught(name, kernel, why, types)


@functools.lru_cache(maxsize=4096)
def _taught(
    name: str, kernel: Kernel | None, why: str, types: tuple[tuple[str, type], ...]
) -> Operator[Any] | None:
    """Make an operator without a description, once; types tell one that no table has."""
    signature = signature_of(name, kernel, types)
    if signature is None:
        return None
    if kernel is None:
        return operator_without_kernel(signature, why)
    return operator_of_kernel(signature, kernel)
