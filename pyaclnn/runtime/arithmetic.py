# SPDX-License-Identifier: Apache-2.0
"""Python operators, ufuncs and conversions to Python numbers of device arrays."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, TypeVar

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.base.lazy import provided
from pyaclnn.runtime.writers import follow_writers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from typing_extensions import Self

    _A = TypeVar("_A", bound="Arithmetic")
    Operand: TypeAlias = "Arithmetic | complex | np.number[Any] | np.bool_"

    class _Unary(Protocol):
        def __get__(self, array: _A, owner: type[_A]) -> Callable[[], _A]: ...

    class _Binary(Protocol):
        def __get__(self, array: _A, owner: type[_A]) -> Callable[[Operand], _A]: ...


__all__ = ["Arithmetic", "ArrayFunctions", "ArrayNamespace"]


class ArrayFunctions(Protocol):
    """Interface of the functions that arrays use; the room of operators implements it."""

    def operate(self, name: str, *operands: Any, out: Any = None) -> Any:
        """Compute a function for a Python operator; ``NotImplemented`` for operands of others."""

    def ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Compute a ufunc of NumPy on device arrays."""


class ArrayNamespace(Protocol):
    """Interface of the namespace of the array API; the room of operators implements it."""

    __array_api_version__: str

    def __getattr__(self, name: str) -> Any:
        """Return a function, a dtype or a constant of the standard."""


@functools.cache
def _functions() -> ArrayFunctions:
    found: ArrayFunctions = provided(f"{__name__}.{ArrayFunctions.__name__}")
    return found


def _unary(name: str) -> _Unary:
    def compute(self: Any) -> Any:
        return _functions().operate(name, self)

    method: Any = compute
    return method  # type: ignore[no-any-return]  # a function is a descriptor


def _comparison(name: str) -> _Binary:
    def compare(self: Any, other: Operand) -> Any:
        return _functions().operate(name, self, other)

    method: Any = compare
    return method  # type: ignore[no-any-return]


def _binary(name: str) -> tuple[_Binary, _Binary, _Binary]:
    """Return the methods of an operator: with the array left, with it right, and in place."""

    def reflected(self: Any, other: Operand) -> Any:
        return _functions().operate(name, other, self)

    def in_place(self: Any, other: Operand) -> Any:
        return _functions().operate(name, self, other, out=self)

    methods: Any = (_comparison(name), reflected, in_place)
    return methods  # type: ignore[no-any-return]


class Arithmetic:
    """Mixin of arrays: operators, ufuncs and numbers.

    Operators and ufuncs queue operators of CANN on the default stream, behind whatever has still to
    write their operands, and do not wait. ``float``, ``int``, ``complex`` and ``bool`` wait for the
    one element of an array and copy it.
    """

    __slots__ = ()

    __add__, __radd__, __iadd__ = _binary("add")
    __sub__, __rsub__, __isub__ = _binary("subtract")
    __mul__, __rmul__, __imul__ = _binary("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _binary("divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _binary("floor_divide")
    __mod__, __rmod__, __imod__ = _binary("remainder")
    __pow__, __rpow__, __ipow__ = _binary("power")
    __matmul__, __rmatmul__, __imatmul__ = _binary("matmul")
    __and__, __rand__, __iand__ = _binary("bitwise_and")
    __or__, __ror__, __ior__ = _binary("bitwise_or")
    __xor__, __rxor__, __ixor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _binary("left_shift")
    __rshift__, __rrshift__, __irshift__ = _binary("right_shift")
    __lt__ = _comparison("less")
    __le__ = _comparison("less_equal")
    __gt__ = _comparison("greater")
    __ge__ = _comparison("greater_equal")
    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __invert__ = _unary("invert")
    __hash__ = object.__hash__  # an array is a key by its identity

    def __abs__(self) -> Self:
        found: Self = _functions().operate("absolute", self)
        return found

    def __eq__(self, other: object) -> Self:  # type: ignore[override]  # as NumPy's, no bool
        found: Self = _functions().operate("equal", self, other)
        return found

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        found: Self = _functions().operate("not_equal", self, other)
        return found

    def __divmod__(self, other: Operand) -> tuple[Self, Self]:
        array: Any = self
        return array // other, array % other

    def __rdivmod__(self, other: Operand) -> tuple[Self, Self]:
        array: Any = self
        return other // array, other % array

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute a ufunc of NumPy by an operator of CANN."""
        return _functions().ufunc(ufunc, method, inputs, options)

    def __array_namespace__(self, *, api_version: str | None = None) -> ArrayNamespace:
        """Return the namespace of the array API for device arrays, ``pyaclnn.array_api``.

        Args:
            api_version: The version of the standard; the newest known one if None.

        Raises:
            InvalidArgumentError: The version is another one.
        """
        found: ArrayNamespace = provided(f"{__name__}.{ArrayNamespace.__name__}")
        known = found.__array_api_version__
        if api_version not in (None, known):
            given, expected = repr_of(api_version), f"{known!r}, or None"
            raise InvalidArgumentError.of("__array_namespace__", "api_version", given, expected)
        return found

    @property
    def mT(self) -> Self:  # noqa: N802  # the array API's name for it
        """A view with the last two axes exchanged; one axis stays as it is, as in ``T``."""
        array: Any = self
        axes = (*range(array.ndim - 2), array.ndim - 1, array.ndim - 2)
        found: Self = array.transpose(*axes) if array.ndim > 1 else array[...]
        return found

    def __float__(self) -> float:
        return float(_number(self, float))

    def __int__(self) -> int:
        return int(_number(self, int))

    def __complex__(self) -> complex:
        return complex(_number(self, complex))

    def __index__(self) -> int:
        array: Any = self
        if array.dtype.kind not in "iu":
            message = f"an array of {array.dtype} is no index; only integers are"
            raise TypeError(message)
        return int(_number(self, int))

    def __bool__(self) -> bool:
        array: Any = self
        if array.size != 1:
            message = (
                f"an array of {array.size} elements is neither true nor false; copy it with "
                ".numpy() and use .any() or .all(), or compare with None by 'is'"
            )
            raise TypeError(message)
        return bool(_number(self, bool))

    def __iter__(self) -> Iterator[Self]:
        array: Any = self
        if not array.ndim:
            message = "iteration over an array without axes"
            raise TypeError(message)
        return (array[place] for place in range(len(array)))

    def __contains__(self, _value: object) -> NoReturn:
        raise TypeError(
            "'in' would compare and copy every element; copy the array with .numpy() first, or "
            "compare with '=='"
        )

    def _repr_html_(self) -> str:
        """Return the array's properties as a table for notebooks; no data is copied."""
        from html import escape  # noqa: PLC0415  # only notebooks want it

        array: Any = self
        rows = {
            "dtype": array.dtype,
            "shape": array.shape,
            "strides": f"{array.strides} bytes",
            "size": f"{array.nbytes:,} bytes",
            "device": f"{array.device.id}{', closed' if array.closed else ''}",
        }
        cells = (f"<tr><th>{n}</th><td>{escape(str(v))}</td></tr>" for n, v in rows.items())
        return f"<table><caption>DeviceArray</caption>{''.join(cells)}</table>"


def _number(array: Any, kind: type) -> Any:
    """Wait for the one element of an array, and return it as a Python number."""
    if array.size != 1:
        message = (
            f"{kind.__name__}() needs an array of one element, not of shape {array.shape}; index "
            "it, or copy it with .numpy()"
        )
        raise TypeError(message)
    follow_writers(array, None)
    return array.numpy().item()
