# SPDX-License-Identifier: Apache-2.0
"""Call of a kernel: its arguments as arrays, and its results as those of the written tensors."""

from __future__ import annotations

import operator
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.base.errors import text_of
from pyaclnn.facts.operators.call_rules import call_rules
from pyaclnn.facts.operators.limits import CATEGORIES, category_of
from pyaclnn.mock.operators.limits import items_of
from pyaclnn.mock.operators.missing_kernel import kernel_missing
from pyaclnn.mock.operators.unread import harmless_values
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, dtype_of_word, numpy_dtype, type_word
from pyaclnn.mock.protocol.values import (
    BoolArray,
    FloatArray,
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
)
from pyaclnn.reference.kernels.functions.exchange import GroupError
from pyaclnn.reference.kernels.kernel import KernelLimitError
from pyaclnn.reference.kernels.promotion import category, wide, wide_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from pyaclnn.mock.operators.arguments import Signature
    from pyaclnn.mock.protocol.values import Value
    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["CountError", "KernelCall", "Result", "zeros"]


_UNPACK = {
    DATA_TYPES[name]: Struct(form).unpack_from
    for name, form in {"FLOAT": "<f", "DOUBLE": "<d", "INT32": "<i", "INT64": "<q"}.items()
}
"""The usual types of scalars -> a quicker way to their numbers than NumPy's."""


class CountError(ValueError):
    """Number of tensors that is not that of a list of results."""


class Result(NamedTuple):
    """Result of a kernel.

    Attributes:
        name: The name of the tensor that it is written to, for messages.
        tensor: That tensor.
        array: The result.
    """

    name: str
    tensor: Tensor
    array: NDArray[Any]

    def misfit(self, shape: tuple[int, ...], *, shrinks: bool) -> str | None:
        """Return the reason why a shape of the result does not fit the tensor, or None.

        Args:
            shape: The shape.
            shrinks: True if it may be shorter than the tensor.
        """
        dims = self.tensor.dims
        shorter = len(shape) == len(dims) and all(map(int.__le__, shape, dims))
        if shape == dims or (shrinks and shorter):
            return None
        return f"{self.name} has shape {dims}; the result has {shape}"


class _Target(NamedTuple):
    """Tensors of a written parameter, with the names that messages show and their types.

    Attributes:
        name: The parameter.
        listed: True if it is a list.
        items: The tensors; None for one that is NULL, and for a parameter that is.
    """

    name: str
    listed: bool
    items: Sequence[tuple[str, Tensor, np.dtype[Any]] | None] | None

    @classmethod
    def of(cls, name: str, value: Value) -> _Target:
        if not isinstance(value, (Tensor, TensorList)):
            return cls(name, listed=False, items=None)
        listed = isinstance(value, TensorList)
        items = [
            (f"{name}[{place}]" if listed else name, item, dtype_of_word(item.type))
            if isinstance(item, Tensor)
            else None
            for place, item in enumerate(items_of(value))
        ]
        return cls(name, listed, items)


class KernelCall(NamedTuple):
    """Kernel of an operator, to be called.

    Attributes:
        signature: The operator's signature.
        kernel: The kernel.
    """

    signature: Signature
    kernel: Kernel

    @property
    def is_own(self) -> bool:
        """True if the kernel is one of this project, and none of a user's."""
        kernel = self.kernel
        return kernel.plain or kernel.function.__module__.startswith("pyaclnn.reference.")

    def results(
        self, values: dict[str, Value], array_of: Callable[[str, Tensor], NDArray[Any]]
    ) -> list[Result]:
        """Call the kernel's function once.

        Args:
            values: The arguments by their C names.
            array_of: Returns the array of a tensor that is read.

        Returns:
            Each written tensor with its result, whose data type is that of the tensor.

        Raises:
            CountError: There are more or fewer tensors than results.
            KernelLimitError: A kernel of this project fails otherwise than by the data.
            ValueError: The function raises it, or a result has the wrong type.
        """
        return self.bound(values, array_of)()

    def bound(
        self, values: dict[str, Value], array_of: Callable[[str, Tensor], NDArray[Any]]
    ) -> Callable[..., list[Result]]:
        """Bind arguments to the kernel's function, to call it any number of times.

        Args:
            values: The arguments by their C names.
            array_of: Returns the array of a tensor that is read.

        Returns:
            A function that returns what `results` does, with the arrays as they are then. A kernel
            that fills memory is offered what the function is called with, an array or a list; if
            all results lie there, none is returned.

        Raises:
            KernelLimitError: The function does not know a tensor that is there.
        """
        signature, kernel = self
        lifted = self.is_own and _is_scalar_with_axis(signature, values)
        fixed, fresh = self._arguments(values, array_of, lifted=lifted)
        names = list(signature.written)
        targets = [_Target.of(name, values[name]) for name in names]
        given = [item for value in values.values() for item in items_of(value)]
        categories = [category_of(type_word(i.data_type)) for i in given if isinstance(i, Scalar)]
        scalars = max(map(CATEGORIES.index, categories), default=-1)

        def results(into: Any = None) -> list[Result]:
            arguments = dict(fixed)
            for parameter, made in fresh:
                arguments[parameter] = made()
            if into is not None and not lifted:
                arguments["into"] = into
            found = self._called(kernel.function, arguments)
            if into is not None and _is_there(found, into):
                return []
            if found is None and any(target.items is not None for target in targets):
                raise ValueError(f"its kernel returns None; it writes {', '.join(names)}")
            pieces = list(found) if isinstance(found, tuple) else [found]
            if len(pieces) != len(names):
                raise ValueError(
                    f"its kernel gives {len(pieces)} results; it writes {len(names)}: "
                    f"{', '.join(names)}"
                )
            written = [
                result
                for target, piece in zip(targets, pieces, strict=True)
                for result in self._written(target, piece, scalars)
            ]
            if lifted:
                written = [each._replace(array=_lowered(each)) for each in written]
            if len(written) > 1:
                # The first written output must not be the base of another result's view.
                return [
                    r if r.array.base is None else r._replace(array=r.array.copy()) for r in written
                ]
            return written

        return results

    def _arguments(
        self,
        values: dict[str, Value],
        array_of: Callable[[str, Tensor], NDArray[Any]],
        *,
        lifted: bool,
    ) -> tuple[dict[str, Any], list[tuple[str, Callable[[], Any]]]]:
        """Return arguments by the function's names: those that stay, and those made for each call.

        Raises:
            KernelLimitError: The function does not know a tensor that is there.
        """
        signature, kernel = self
        unseen = [name for name in signature.read if self._ignores(name, values[name])]
        if unseen:
            known = {v for name in unseen for v in harmless_values(signature.name, name)}
            allowed = ", ".join(("NULL, 0, false or empty", *sorted(known)))
            why = f"its own does not compute with {', '.join(unseen)}, which must be {allowed}"
            raise KernelLimitError(kernel_missing(signature.name, why))

        def array(name: str, tensor: Tensor) -> NDArray[Any]:
            if name not in signature.read:
                return zeros(name, tensor)
            found = array_of(name, tensor)
            return np.atleast_1d(found) if lifted else found

        fixed: dict[str, Any] = {}
        fresh: list[tuple[str, Callable[[], Any]]] = []
        for name, value in values.items():
            parameter = kernel.parameter_for(name)
            if parameter is None:
                continue
            if name in signature.types:
                fixed[parameter] = _dtype(name, value)
                continue
            if kernel.any_scalars and isinstance(value, (Scalar, ScalarList)):
                fresh.append((parameter, partial(_plain, name, value, array)))
                continue
            bound: Any = _plain(name, value, array)
            is_wide = kernel.plain and name in signature.read
            if isinstance(bound, list):
                fresh.append((parameter, partial(_list_of, bound, is_wide)))
            elif is_wide and isinstance(value, Tensor) and _is_copied(bound):
                fresh.append((parameter, partial(_widened, bound)))
            else:
                fixed[parameter] = bound
        return fixed, fresh

    def _ignores(self, name: str, value: Value) -> bool:
        """Report whether a kernel of this project would not see an input that matters."""
        if self.kernel.parameter_for(name) is not None or not self.is_own or not _is_given(value):
            return False
        harmless = harmless_values(self.signature.name, name)
        return "" not in harmless and str(value) not in harmless

    def _written(self, target: _Target, result: Any, scalars: int) -> Iterator[Result]:
        """Pair the result of a parameter with its tensors."""
        name, items = target.name, target.items
        if result is None or items is None:
            return
        pieces = list(result) if target.listed else (result,)
        if len(pieces) != len(items):
            raise CountError(f"{name} has {len(items)} tensors; its kernel gives {len(pieces)}")
        for item, piece in zip(items, pieces, strict=True):
            if item is not None:
                shown, tensor, wanted = item
                array = np.asarray(piece)
                if array.dtype != wanted:
                    array = self._cast(name, shown, array, wanted, scalars)
                yield Result(shown, tensor, array)

    def _cast(
        self, parameter: str, name: str, array: NDArray[Any], wanted: np.dtype[Any], scalars: int
    ) -> NDArray[Any]:
        """Cast a result to its tensor's type, which the rules of the operator have accepted.

        No scalar, of the highest category ``scalars``, loses its fraction or its imaginary part.
        """
        if not self.is_own:
            raise ValueError(f"{name} is {wanted}; the result is {array.dtype}")
        most = CATEGORIES.index(category(wanted))
        loses = CATEGORIES.index(category(array.dtype)) > most
        in_place = scalars >= 0 and parameter in self.signature.read
        is_ruled = call_rules(self.signature.name) is not None
        if loses and (not is_ruled or in_place or scalars > most):
            raise ValueError(
                f"{name} is {wanted}; the result is {array.dtype}, which cannot be cast to {wanted}"
            )
        return (array.real if wanted.kind != "c" else array).astype(wanted)

    def _called(self, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        try:
            return function(**arguments)
        except (ValueError, TypeError, IndexError, MemoryError, GroupError):
            raise
        except Exception as error:
            if not self.is_own:
                raise
            why = f"its own does not take these arguments ({text_of(error)})"
            raise KernelLimitError(kernel_missing(self.signature.name, why)) from error


def _is_there(found: Any, into: Any) -> bool:
    """Report whether all results were computed in the memory that was offered."""
    if isinstance(into, list):
        return all(map(operator.is_, found, into))
    return found is into


def _is_given(value: Value) -> bool:
    """Report whether an input is neither NULL, 0, false nor empty."""
    if isinstance(value, (Tensor, TensorList)):
        return any(isinstance(item, Tensor) and 0 not in item.dims for item in items_of(value))
    found = _plain("", value, zeros)
    return any(found) if isinstance(found, (list, tuple)) else bool(found)


def _is_scalar_with_axis(signature: Signature, values: dict[str, Value]) -> bool:
    """Report whether a tensor without axes is taken along one: CANN takes it as a vector."""
    axis = values.get("dim", values.get("dims"))
    named = axis.values if isinstance(axis, IntArray) else isinstance(axis, (int, Scalar))
    tensors = (values[name] for name in signature.read if isinstance(values[name], Tensor))
    first = next(tensors, None)
    return bool(named) and isinstance(first, Tensor) and not first.dims


def _lowered(result: Result) -> NDArray[Any]:
    """Return the result of a kernel on vectors of one element, in the shape of its tensor."""
    only = result.array.size == 1 and not result.tensor.dims
    return result.array.reshape(()) if only else result.array


def zeros(_name: str, tensor: Tensor) -> NDArray[Any]:
    """Return a zero-stride array for a trial of a kernel: no memory, whatever the shape."""
    if min(tensor.dims, default=0) < 0:
        raise ValueError(f"a shape of {tensor.dims} has a negative dimension")
    zero = np.zeros((), dtype_of_word(tensor.type))
    return np.broadcast_to(zero, tensor.dims)


def _is_copied(array: NDArray[Any]) -> bool:
    """Report whether an array is computed in another one."""
    return array.dtype != wide_dtype(array.dtype) or (array.size > 0 and not any(array.strides))


def _widened(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the type that it is computed in, cast once along repeated axes."""
    once = array[tuple(slice(None if stride else 1) for stride in array.strides)]
    if once.size < array.size:
        return np.broadcast_to(wide(once), array.shape)
    return np.asarray(wide(array))


def _list_of(items: list[Any], is_wide: bool) -> list[Any]:
    """Return a new list of arrays or numbers, as a kernel takes it."""
    return [_widened(i) if is_wide and isinstance(i, np.ndarray) else i for i in items]


def _plain(name: str, value: Value, array_of: Callable[[str, Tensor], NDArray[Any]]) -> Any:
    if isinstance(value, Tensor):
        return array_of(name, value)
    if isinstance(value, TensorList):
        return [None if item is None else array_of(name, item) for item in value.items]
    if isinstance(value, Scalar):
        return _number_of(value)
    if isinstance(value, ScalarList):
        return [None if item is None else _number_of(item) for item in value.items]
    if isinstance(value, (IntArray, FloatArray, BoolArray)):
        return value.values
    return value


def _number_of(scalar: Scalar) -> Any:
    if unpack := _UNPACK.get(scalar.data_type):
        return unpack(scalar.data)[0]
    dtype = numpy_dtype(scalar.data_type)
    value = np.frombuffer(scalar.data, dtype, 1)[0]
    # A number of ml_dtypes is none of Python's.
    return value.item() if dtype.kind in "biufc" else float(value)


def _dtype(name: str, value: Value) -> np.dtype[Any]:
    word = type_word(value if isinstance(value, int) else -1)
    try:
        return dtype_of_word(word)
    except KeyError:
        text = f"{name}: data type {word} has no array type on the simulated device"
        raise ValueError(text) from None
