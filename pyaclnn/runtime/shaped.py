# SPDX-License-Identifier: Apache-2.0
"""Properties of an array that follow from its layout, and hints for those that need its data."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.base.lazy import provided
from pyaclnn.base.spelling import of_other_libraries

if TYPE_CHECKING:
    from pyaclnn.runtime.layout import Layout

__all__ = ["Shaped"]

_OF_NUMPY: Final = frozenset(name for name in dir(np.ndarray) if not name.startswith("_"))
_OF_TENSORS: Final = frozenset(
    "bfloat16 bool contiguous cpu cuda data_ptr detach dim double float get half int long npu "  # noqa: SIM905
    "to".split()
)
"""Attributes of arrays of other libraries for devices, which NumPy's arrays lack."""


class _Elsewhere:
    """Attribute that other arrays have; access raises an error that names the alternative."""

    # Not a __getattr__, with which Python finds the slots of an array slower: a tenth of a launch.
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, array: object, owner: type) -> NoReturn:
        instead = of_other_libraries(self._name, "array")
        if not instead:
            instead = (
                "the operators of pyaclnn.ops and pyaclnn.aclnn compute on it where it is, and "
                ".numpy() copies it to the host as an array that has all of NumPy"
            )
            if self._name in dir(provided("pyaclnn.runtime.arithmetic.ArrayNamespace")):
                instead = f"pyaclnn.array_api.{self._name}() computes it; {instead}"
        message = f"a DeviceArray has no {self._name!r}; {instead}"
        raise AttributeError(message, name=self._name, obj=array)


class _Shown(type):
    """Lists of a class what it has."""

    def __dir__(cls) -> list[str]:
        return [
            name
            for name in super().__dir__()
            if not isinstance(inspect.getattr_static(cls, name), _Elsewhere)
        ]


class Shaped(metaclass=_Shown):
    """The attributes of a NumPy array that need no data, and refusals of what needs it."""

    __slots__ = ("_layout", "_offset")

    _layout: Layout
    _offset: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._layout.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self._layout.strides

    @property
    def offset(self) -> int:
        """Bytes from the start of the buffer to the first element."""
        return self._offset

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._layout.size

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self._layout.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, without gaps between them."""
        return self.size * self.itemsize

    @property
    def is_contiguous(self) -> bool:
        """True if the elements lie without gaps in C order."""
        return self._layout.is_contiguous

    def __len__(self) -> int:
        if not self.shape:
            message = "len() of an array without axes"
            raise TypeError(message)
        return self.shape[0]

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError(
            "a DeviceArray cannot be pickled or deep-copied: its data is in device memory; copy it "
            "to the host with .numpy(), and back with to_device()"
        )

    def __reduce__(self) -> NoReturn:
        self.__deepcopy__(None)

    def __array__(self, *_args: object, **_options: object) -> NoReturn:
        raise InvalidArgumentError.of(
            "numpy.asarray",
            "self",
            "a DeviceArray, whose data is not in host memory",
            "a NumPy array",
            "copy it to the host with .numpy(), after synchronizing the stream; pyaclnn.array_api "
            "has functions that compute on the device.",
        )


for _name in (_OF_NUMPY | _OF_TENSORS) - set(dir(Shaped)):
    setattr(Shaped, _name, _Elsewhere(_name))  # classes that derive from it have some all the same
