# SPDX-License-Identifier: Apache-2.0
"""Results whose shape is known only after the operator has run, as of aclnnNonzero."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pyaclnn._binding import lib
from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.calling.launch import failure, launch_operator, release_plan
from pyaclnn.cann import raw
from pyaclnn.cann.library import function
from pyaclnn.runtime.handle import Resource, finalizer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.operator import Operator
    from pyaclnn.runtime.array import DeviceArray
    from pyaclnn.runtime.stream import Stream

__all__ = ["Descriptors", "Unsettled"]

_MOST_AXES = 25


class Descriptors:
    """Descriptors of a call, kept after it for queries of result shapes."""

    def __init__(
        self,
        operator: Operator,
        arguments: Sequence[Argument],
        stream: Stream,
        judge: Callable[[], None] | None = None,
    ) -> None:
        """Queue an operator on a stream, and keep the descriptors of its arguments.

        Args:
            operator: The operator.
            arguments: The arguments of phase 1 in its order, without the two out-parameters.
            stream: Where to queue the work.
            judge: See ``launch_operator``.

        Raises:
            AclError: CANN refused the call.
        """
        function("aclGetViewShape")
        self.stream = stream
        self._struct: Any = raw.ffi.new("struct binding_plan *", {"once": 1})
        # The place of an argument -> its descriptor's among those of tensors; NULL has none.
        there = [p for p, k in enumerate(operator.kinds) if k in "tw" and arguments[p] is not None]
        self._order = {place: number for number, place in enumerate(there)}
        resource = Resource("descriptors", None, release_plan, dependencies=(stream.device._held,))
        resource.pointer = self._struct
        self._finalizer = finalizer_of(self, resource.let_go)
        try:
            launch_operator(operator, *arguments, stream=stream, judge=judge, plan=self._struct)
            resource.adopt(self._struct)
        except BaseException:
            self._finalizer()
            raise

    def shape(self, place: int) -> tuple[int, ...]:
        """Return the shape that an argument has now.

        Args:
            place: Its place, in C order.

        Raises:
            AclError: CANN does not return it.
        """
        dims, rank = raw.ffi.new("int64_t[]", _MOST_AXES), raw.ffi.new("uint64_t *")
        status = lib.binding_view_shape(self._struct, self._order[place], dims, rank)
        if status:
            raise failure(status, {})
        return tuple(int(dims[axis]) for axis in range(min(rank[0], _MOST_AXES)))


class Unsettled:
    """A result whose shape is not known before the operator has run.

    Attributes:
        array: The array that was given for it, in which its elements come first.
    """

    def __init__(self, array: DeviceArray, kept: Descriptors, place: int) -> None:
        """Stand for an argument of a call."""
        self.array = array
        self._kept = kept
        self._place = place

    def actual(self) -> DeviceArray:
        """Wait for the stream, and return the result in its actual shape.

        Drives ``aclrtSynchronizeStream`` and ``aclGetViewShape``.

        Returns:
            A view of ``array``.

        Raises:
            KernelError: Work on the stream failed.
        """
        self._kept.stream.synchronize()
        shape, array = self._kept.shape(self._place), self.array
        if shape == array.shape:
            return array
        if math.prod(shape) > array.size or not array.is_contiguous:
            expected = f"a contiguous array of at least {math.prod(shape)} elements, for {shape}"
            raise InvalidArgumentError.of("actual", "array", repr_of(array), expected)
        return array.reshape(-1)[: math.prod(shape)].reshape(shape)

    def __repr__(self) -> str:
        return f"<result in {self.array!r}, whose shape actual() returns>"
