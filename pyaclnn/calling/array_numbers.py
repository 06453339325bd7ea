# SPDX-License-Identifier: Apache-2.0
"""Host arrays of numbers, and of nested sequences of them, for the array API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of, text_of
from pyaclnn.calling import array_dtypes
from pyaclnn.reference.kernels.promotion import category
from pyaclnn.runtime.dtypes import conversion_hint, holds

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["default_dtype", "numbers"]

_DEFAULTS: Final = {
    "b": array_dtypes.bool,
    "i": array_dtypes.int64,
    "f": array_dtypes.float32,
    "c": array_dtypes.complex64,
}


def default_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that numbers have where none is asked for."""
    return _DEFAULTS[category(dtype)]


def numbers(
    routine: str, argument: str, value: object, dtype: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Make numbers, or nested sequences of them, an array of the host.

    Args:
        routine: The public function, for messages.
        argument: The argument's name.
        value: The numbers.
        dtype: The dtype to hold them; the default of their category if None.

    Raises:
        InvalidArgumentError: They are something else, or an integer that the dtype cannot hold.
    """
    try:
        host = np.asarray(value)
    except ValueError as error:
        if type(error) is not ValueError or "inhomogeneous" not in text_of(error):
            raise  # the object's own
        host = np.asarray(None)
    if host.dtype.kind in "OUSMm":
        expected = "a number of at most 64 bits, or nested sequences of them of equal lengths"
        hint = conversion_hint(argument, host.dtype) if host.dtype.kind != "O" else None
        raise InvalidArgumentError.of(routine, argument, repr_of(value), expected, hint)
    kind = default_dtype(host.dtype) if dtype is None else dtype
    if category(kind) == "i" and host.dtype.kind in "iuf":
        whole = np.trunc(host) if host.dtype.kind == "f" else host
        extremes = (whole.min().item(), whole.max().item()) if host.size else ()
        if not all(holds(kind, extreme) for extreme in extremes):
            given = repr_of(host.tolist() if isinstance(value, np.ndarray) else value)
            raise InvalidArgumentError.of(routine, argument, given, f"what {kind} can hold")
    return host.astype(kind)
