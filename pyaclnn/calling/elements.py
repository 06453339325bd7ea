# SPDX-License-Identifier: Apache-2.0
"""Operators behind the element-wise methods of device arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.calling.by_name import op
from pyaclnn.calling.empty import Empty

if TYPE_CHECKING:
    import numpy as np

    from pyaclnn.runtime.array import DeviceArray
    from pyaclnn.runtime.elements import ElementOperators
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.stream import Stream

__all__ = ["OPERATORS"]

_result_of = lru_cache(1024)(Empty)


class _Operators:
    """The implementation of ``ElementOperators`` by operators of CANN."""

    def cast(
        self, array: DeviceArray, dtype: np.dtype[Any], stream: StreamLike | None
    ) -> DeviceArray:
        """Queue the conversion of an array (``aclnnCast``), and return the new one."""
        # The result is given, so that no rule of a user for aclnnCast changes it.
        result = _result_of(array.shape, dtype)
        converted: DeviceArray = op("aclnnCast")(array, dtype, result, stream=stream)
        return converted

    def copy(self, target: DeviceArray, source: DeviceArray, stream: Stream) -> None:
        """Queue a copy into an array of the same shape and dtype (``aclnnInplaceCopy``)."""
        op("aclnnInplaceCopy")(target, source, stream=stream)


OPERATORS: Final[ElementOperators] = _Operators()
