# SPDX-License-Identifier: Apache-2.0
"""Tensors of other libraries, by the protocol they share: DLPack.

What a tensor exports is looked at where it is, and kept as long as anybody looks at it. NumPy's own
reader knows neither bfloat16 nor devices, so the capsule is read here.

Source: DLPack, dlpack.h (``DLManagedTensor``); device type 12 is what producers for Ascend use, 21
the one that DLPack has assigned since.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, text_of
from pyaclnn.base.spelling import with_article
from pyaclnn.runtime.dtypes import bfloat16, require_native

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import CapsuleType

__all__ = [
    "NAME",
    "ON_ASCEND",
    "Exported",
    "SupportsDLPack",
    "code_of",
    "device_tensor",
    "host_array",
    "is_foreign",
]

_ON_CPU: Final = 1
ON_ASCEND: Final = frozenset({12, 21})
"""The device types under which tensors on an NPU are exported."""

_LETTERS: Final = {0: "i", 1: "u", 2: "f", 5: "c"}
_CODES: Final = {letter: code for code, letter in _LETTERS.items()}
_BFLOAT, _BOOL = 4, 6
NAME: Final = b"dltensor"
_VERSIONED: Final = b"dltensor_versioned"
_FLAGS, _BEHIND_FLAGS = 24, 32
"""Places of the flags, and of the ``DLTensor``, in a ``DLManagedTensorVersioned``."""
_READ_ONLY: Final = 1


class _Tensor(ctypes.Structure):
    """The ``DLTensor`` at the start of what a capsule holds."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


# A prototype of its own: types set on functions of ctypes.pythonapi hold for the whole process.
_pointer_in: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_is_named: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)


@runtime_checkable
class SupportsDLPack(Protocol):
    """A tensor of another library that exports itself as a DLPack capsule.

    To type checkers, a ``DeviceArray`` is none, because its ``__dlpack__`` returns an ``object``:
    they refuse it where tensors in the host's memory are meant.

    Examples:
        >>> def on_device(tensor: pyaclnn.SupportsDLPack) -> pyaclnn.DeviceArray:
        ...     return pyaclnn.to_device(tensor)
        >>> on_device(np.ones(4, np.float32)).shape  # or a tensor of PyTorch or JAX
        (4,)
    """

    def __dlpack__(self) -> CapsuleType:
        """Return a capsule named ``dltensor``."""


class Exported(NamedTuple):
    """Content of a capsule.

    Attributes:
        device_type: Where the memory is: 1 for the host, 12 or 21 for an NPU.
        device_id: Which of these devices.
        address: Address of the first element.
        shape: The shape.
        strides: Bytes from one element to the next along each axis.
        dtype: The data type.
        capsule: Keeps the memory: as long as it lives, its maker does not free.
        writable: True if the maker says that it may be written.
    """

    device_type: int
    device_id: int
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    capsule: object
    writable: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes from the first element to the end of the last one."""
        if 0 in self.shape:
            return 0
        steps = zip(self.shape, self.strides, strict=True)
        return sum((length - 1) * step for length, step in steps) + self.dtype.itemsize


def _exported(
    routine: str, argument: str, value: SupportsDLPack, stream: int | None = None
) -> Exported:
    """Have a tensor exported, and read what it says.

    Args:
        routine: The public function, for messages.
        argument: The argument's name.
        value: The tensor.
        stream: The stream on which it will be used; None to pass none to its exporter.

    Raises:
        InvalidArgumentError: It does not let itself be exported, or has a data type of which there
            is none in NumPy.
    """
    if isinstance(value, np.ndarray):
        require_native(routine, argument, value.dtype)
    try:
        capsule = _capsule_of(value, stream)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidArgumentError.of(
            routine,
            argument,
            f"{with_article(type(value).__name__)} that refuses to be exported ({text_of(error)})",
            "a tensor that DLPack can share",
            _way_to_export(argument, value),
        ) from error
    writable, place = False, _pointer_in(capsule, NAME) if _is_named(capsule, NAME) else None
    if place is None:
        versioned = _pointer_in(capsule, _VERSIONED)
        flags = ctypes.c_uint64.from_address(versioned + _FLAGS).value
        writable, place = not flags & _READ_ONLY, versioned + _BEHIND_FLAGS
    tensor = _Tensor.from_address(place)
    dtype = _dtype_of(tensor)
    if dtype is None:
        kind = f"of DLPack's type {tensor.code} with {tensor.bits} bits"
        raise InvalidArgumentError.of(routine, argument, kind, "of a type that NumPy has")
    shape = tuple(tensor.shape[: tensor.ndim])
    counted = (
        tuple(tensor.strides[: tensor.ndim])
        if tensor.strides
        else tuple(math.prod(shape[axis + 1 :]) for axis in range(tensor.ndim))
    )
    return Exported(
        tensor.device_type,
        tensor.device_id,
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        tuple(step * dtype.itemsize for step in counted),
        dtype,
        capsule,
        writable,
    )


def _capsule_of(value: SupportsDLPack, stream: int | None) -> object:
    """Return the capsule of a tensor; on the host one that has flags, if its maker knows them."""
    export: Any = value.__dlpack__
    if stream is not None:
        return export(stream=stream)
    try:
        return export(max_version=(1, 0))
    except TypeError:
        return export()


def _way_to_export(argument: str, value: object) -> str | None:
    """Return the hint how a tensor that refuses to be exported becomes one that can be."""
    if getattr(value, "is_meta", False):
        return "a tensor on PyTorch's device 'meta' has no data: create it on the CPU."
    if "sparse" in str(getattr(value, "layout", "")):
        return f"make it dense: {argument}.to_dense()."
    if getattr(value, "is_nested", False):
        return f"fill its rows to one length: {argument}.to_padded_tensor(0.0)."
    if getattr(value, "is_quantized", False):
        return f"compute its values: {argument}.dequantize()."
    if getattr(value, "requires_grad", False):
        return f"a tensor of PyTorch that requires a gradient is shared by {argument}.detach()."
    return None


def _dtype_of(tensor: _Tensor) -> np.dtype[Any] | None:
    size, rest = divmod(tensor.bits, 8)
    if rest or tensor.lanes != 1:
        return None
    if (tensor.code, size) == (_BFLOAT, bfloat16.itemsize):
        return bfloat16
    if (tensor.code, size) == (_BOOL, 1):
        return np.dtype(bool)
    letter = _LETTERS.get(tensor.code)
    return None if letter is None else np.dtype(f"{letter}{size}")


def code_of(dtype: np.dtype[Any]) -> int | None:
    """Return DLPack's number for the kind of a data type; None if it has none.

    Args:
        dtype: The data type.
    """
    if dtype == bfloat16:
        return _BFLOAT
    return _BOOL if dtype == np.bool_ else _CODES.get(dtype.kind)


class _Held:
    """Host memory in NumPy's array interface, with a reference to its owner."""

    def __init__(self, found: Exported) -> None:
        self._capsule = found.capsule
        # NumPy has no word for bfloat16.
        word = "<u2" if found.dtype == bfloat16 else found.dtype.str
        self.__array_interface__ = {
            "version": 3,
            "data": (found.address, not found.writable),
            "shape": found.shape,
            "strides": found.strides,
            "typestr": word,
        }


def is_foreign(value: object) -> bool:
    """Return whether a value is a tensor of another library.

    Args:
        value: Anything.
    """
    return not isinstance(value, (np.ndarray, np.generic)) and (
        hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    )


def host_array(routine: str, argument: str, value: object) -> NDArray[Any] | None:
    """Look at a tensor of another library in the host's memory as a NumPy array.

    Nothing is copied. The array is read-only unless the tensor's library says that it may be
    written.

    Args:
        routine: The public function, for messages.
        argument: The argument's name.
        value: Object with ``__dlpack__`` or ``__array_interface__``.

    Returns:
        The array; None if the value speaks neither.

    Raises:
        InvalidArgumentError: It lies elsewhere, or cannot be shared.
    """
    if isinstance(value, SupportsDLPack):
        found = _exported(routine, argument, value)
        if found.device_type != _ON_CPU:
            given = with_article(type(value).__name__)
            raise InvalidArgumentError.of(
                routine,
                argument,
                f"{given} on a device of DLPack's type {found.device_type}",
                "in the host's memory",
                f"pyaclnn.from_dlpack({argument}) looks at it where it is."
                if found.device_type in ON_ASCEND
                else "copy it to the host first.",
            )
        if 0 in found.shape:
            return np.empty(found.shape, found.dtype)
        return np.asarray(_Held(found)).view(found.dtype)
    if hasattr(value, "__array_interface__"):
        try:
            return np.asarray(value)
        except (TypeError, ValueError) as error:
            given = f"{with_article(type(value).__name__)} that NumPy cannot read"
            expected = f"memory as its __array_interface__ describes it ({text_of(error)})"
            raise InvalidArgumentError.of(routine, argument, given, expected) from None
    return None


def device_tensor(
    routine: str, argument: str, value: object, device_id: int, stream: int | None = None
) -> Exported:
    """Have a tensor exported that lies on an NPU.

    Args:
        routine: The public function, for messages.
        argument: The argument's name.
        value: The tensor.
        device_id: The number of the device on which it must lie.
        stream: The ``aclrtStream`` on which it will be used; None to pass none to its exporter.

    Raises:
        InvalidArgumentError: It lies elsewhere, or cannot be shared.
    """
    if not isinstance(value, SupportsDLPack):
        given = with_article(type(value).__name__)
        raise InvalidArgumentError.of(routine, argument, given, "a tensor with __dlpack__")
    found = _exported(routine, argument, value, stream)
    if found.device_type not in ON_ASCEND or found.device_id != device_id:
        raise InvalidArgumentError.of(
            routine,
            argument,
            f"on device {found.device_id} of DLPack's type {found.device_type}",
            f"on device {device_id} of an NPU",
            "to_device() copies what is in the host's memory; device= names another NPU.",
        )
    return found
