# SPDX-License-Identifier: Apache-2.0
"""Memory layout of an array: dtype, shape and strides on one device.

Equal layouts are one object, so what follows from layouts alone, such as whether an operator
accepts its arguments, can be remembered by them.
"""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.errors import InvalidArgumentError, repr_of, text_of
from pyaclnn.base.locks import reentrant_lock
from pyaclnn.cann import raw
from pyaclnn.runtime.dtypes import acl_dtype
from pyaclnn.runtime.shapes import count_of, phantom, shape_of, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from pyaclnn.runtime.memory import Memory

__all__ = ["Layout"]

_SMALL: Final = 512
_LARGE: Final = 2 << 20
"""Blocks are handed out in multiples of the first up to the second, then in multiples of that."""

_MOST_AXES: Final = 25
"""The most axes that ``aclCreateTensor`` takes; operators take fewer, and say so."""

_PREFIX: Final = "ACL_FORMAT_"
_FORMATS: Final = {4: "NCHW", 5: "NCDHW"}
"""Formats by the number of axes. Batch norms look at the format of five axes, one also of four, and
take no ND; to all other operators these are the same as ND (CANN: ops-nn norm/batch_norm,
norm/bn_training_reduce, opbase indv_executor_tensor.cpp)."""


class Layout:
    """A layout; make it with :meth:`of`, which returns the same object for equal ones.

    Attributes:
        context: The address of the context whose device the array lies on.
        dtype: The type of the elements.
        shape: The length of each axis.
        strides: Bytes from one element to the next along each axis.
        size: The number of elements.
        span: Bytes from the start of the first element to the end of the last in memory.
        format: The name of the format that is passed to CANN.
        storage: The shape of the storage, where it is another than that of the elements in one row.
        is_contiguous: True if the elements lie without gaps in C order.
        room: The size of block that a pool hands out for it.
    """

    __slots__ = (
        "__weakref__",
        "_struct",
        "context",
        "dtype",
        "format",
        "is_contiguous",
        "room",
        "shape",
        "size",
        "span",
        "storage",
        "strides",
    )

    def __init__(
        self,
        context: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        form: str = "",
        storage: tuple[int, ...] = (),
    ) -> None:
        self.context = context
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.format = form or _FORMATS.get(len(shape), "ND")
        self.storage = storage
        self.size = math.prod(shape)
        self.span = span(shape, strides, dtype.itemsize)
        self.is_contiguous = bool(phantom(shape, strides, dtype.itemsize, 0).flags.c_contiguous)
        step = _SMALL if self.span <= _LARGE else _LARGE
        self.room = -(-self.span // step) * step
        self._struct = self._fill() if len(shape) <= _MOST_AXES else None

    @classmethod
    def of(
        cls,
        context: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        form: str = "",
        storage: tuple[int, ...] = (),
    ) -> Layout:
        """Return the layout of these attributes; with no format said, of that which is usual."""
        key = (context, dtype, shape, strides, form, storage)
        layout = _known.get(key)
        if layout is None:
            made = cls(*key)
            with _lock:  # of two threads that make it, one does
                layout = _known.setdefault(key, made)
        return layout

    @classmethod
    def dense(cls, context: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Layout:
        """Return the C-contiguous layout of a shape."""
        return cls.of(context, dtype, shape, phantom(shape, None, dtype.itemsize, 0).strides)

    def formatted(self, form: str, storage: Sequence[int] | None, room: int) -> Layout:
        """Return the same layout in another format; see ``DeviceArray.with_format``.

        Args:
            form: The name of the format.
            storage: The shape of the memory, if that is said.
            room: The bytes that there are.

        Raises:
            InvalidArgumentError: CANN has no such format, or the storage does not fit.
        """
        if getattr(raw, f"{_PREFIX}{text_of(form)}", None) is None:
            known = [n.removeprefix(_PREFIX) for n in dir(raw) if n.startswith(_PREFIX)]
            expected = f"one of {', '.join(known)}"
            raise InvalidArgumentError.of("with_format", "form", repr_of(form), expected)
        there = () if storage is None else shape_of(storage, "with_format", "storage")
        nbytes = math.prod(there) * self.dtype.itemsize if there else 0
        if nbytes > room or len(there) > _MOST_AXES:
            expected = f"of at most {_MOST_AXES} axes and {room} bytes, which the memory has"
            raise InvalidArgumentError.of("with_format", "storage", str(there), expected)
        return Layout.of(self.context, self.dtype, self.shape, self.strides, form, there)

    def check_place(self, nbytes: int, offset: object, routine: str) -> int:
        """Check that an array of this layout can begin at an offset of a buffer.

        Args:
            nbytes: The size of the buffer.
            offset: Bytes from its start to the first element, as a caller gave it.
            routine: The function that was given it, for the message.

        Returns:
            The offset as a plain integer.

        Raises:
            InvalidArgumentError: The offset is not acceptable, or the buffer too short.
        """
        size = self.dtype.itemsize
        start = count_of(offset)
        if start is None or start % size:
            expected = f"a multiple of {size} bytes, 0 or more"
            raise InvalidArgumentError.of(routine, "offset", repr_of(offset), expected)
        if start + self.span > nbytes:
            expected = (
                f"at least {start + self.span} bytes long, to hold shape {self.shape} of "
                f"{self.dtype} with strides {self.strides} from offset {start}"
            )
            raise InvalidArgumentError.of(routine, "buffer", f"{nbytes} bytes long", expected)
        return start

    def tensor(self, memory: Memory, offset: int) -> Any:
        """Describe an array of this layout to the launcher.

        Args:
            memory: The memory it looks at; must outlive what is returned, as must this layout.
            offset: Bytes from the start of the memory to the first element.

        Returns:
            A ``struct binding_tensor``, or NULL for more axes than CANN takes.
        """
        if self._struct is None:
            return raw.NULL
        itemsize = self.dtype.itemsize
        # The storage is no more than the array needs: what else the buffer holds is nobody's
        # business, and arrays in buffers of different sizes can take each other's place in a plan.
        extent = (offset + self.span) // itemsize
        described = (memory.block, self._struct, offset, offset // itemsize, extent)
        return raw.ffi.new("struct binding_tensor *", described)

    def _fill(self) -> Any:
        layout = raw.ffi.new("struct binding_layout *")
        itemsize = self.dtype.itemsize
        layout.span = self.span
        layout.data_type = acl_dtype(self.dtype)
        layout.format = getattr(raw, f"ACL_FORMAT_{self.format}")
        layout.rank = len(self.shape)
        for axis, (length, step) in enumerate(zip(self.shape, self.strides, strict=True)):
            layout.dims[axis] = length
            layout.strides[axis] = step // itemsize
        layout.storage_rank = len(self.storage)
        for axis, length in enumerate(self.storage):
            layout.storage[axis] = length
        return layout


_lock: Final = reentrant_lock()
_known: Final[weakref.WeakValueDictionary[tuple[Any, ...], Layout]] = weakref.WeakValueDictionary()
