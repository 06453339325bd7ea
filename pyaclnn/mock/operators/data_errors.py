# SPDX-License-Identifier: Apache-2.0
"""Texts of errors that a kernel raises because of the data that it reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.errors import text_of
from pyaclnn.mock.protocol.values import Tensor
from pyaclnn.reference.kernels.kernel import ElementError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from pyaclnn.mock.operators.arguments import Signature
    from pyaclnn.mock.protocol.values import Value

__all__ = ["data_error_text"]

_NUMPY_INDEX: Final = re.compile(r"index (-?\d+) is out of bounds for axis \d+ with size (\d+)")


def data_error_text(
    error: Exception,
    signature: Signature,
    values: Mapping[str, Value],
    array_of: Callable[[str, Tensor], NDArray[Any]],
) -> str:
    """Describe a kernel's error with the argument, its element and the bound, as far as known.

    NumPy names an index and the length that it exceeds; the argument is most likely the one whose
    smallest or largest element it is. The shapes and the range of the integers are added, because
    an index may also follow from several arguments.

    Args:
        error: The error.
        signature: The signature of the operator.
        values: The arguments by their C names.
        array_of: Returns the array of a tensor.
    """
    text = text_of(error)
    if isinstance(error, ElementError):
        return text
    read = [(name, value) for name in signature.read if isinstance(value := values[name], Tensor)]
    arrays = {name: array_of(name, tensor) for name, tensor in read if tensor.size}
    integers = {name: array for name, array in arrays.items() if array.dtype.kind in "iu"}
    found = _NUMPY_INDEX.search(text)
    if found is not None:
        wrong, length = map(int, found.groups())
        names = [name for name, a in integers.items() if wrong in (a.min(), a.max())]
        if names:
            text = str(ElementError(" or ".join(names), wrong, length))
    extents = {name: f" and elements from {a.min()} to {a.max()}" for name, a in integers.items()}
    shapes = [f"{name} has shape {[*a.shape]}{extents.get(name, '')}" for name, a in arrays.items()]
    return f"{text} ({'; '.join(shapes)})" if shapes else text
