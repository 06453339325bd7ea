# SPDX-License-Identifier: Apache-2.0
"""Operators whose kernels are NumPy functions, and operators that have none yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.base.errors import text_of
from pyaclnn.mock.operators.arguments import check_arguments
from pyaclnn.mock.operators.kernel_files import VARIABLE
from pyaclnn.mock.operators.limits import check_array_types
from pyaclnn.mock.operators.operator import ExecutorKind, Launch, Operator, Plan, RefusalError
from pyaclnn.mock.operators.outputs import poison_output
from pyaclnn.mock.protocol.dtypes import numpy_dtype
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import (
    BoolArray,
    FloatArray,
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
)
from pyaclnn.reference import Strength, implementation
from pyaclnn.reference.kernels.aten import CAUTION, KERNELS
from pyaclnn.reference.kernels.kernel import KernelLimitError
from pyaclnn.reference.kernels.promotion import rounded, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pyaclnn.mock.operators.arguments import Signature
    from pyaclnn.mock.operators.operator import Setting, Shapes
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Value
    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["operator_of_kernel", "operator_without_kernel"]


class Given(NamedTuple):
    """The arguments of a call by their C names."""

    values: dict[str, Value]


def operator_without_kernel(signature: Signature, why: str = "") -> Operator[Given]:
    """Make an operator that checks its signature, and then reports how to add a kernel.

    Args:
        signature: Its signature.
        why: Why there is no kernel, if there could be one.
    """
    text = _no_kernel(signature.name, why)

    def check(given: Given, _setting: Setting) -> Plan:
        check_arguments(signature, given.values)
        raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, text)

    def run(_given: Given, _setting: Setting, _memory: DeviceMemory) -> None:
        raise RuntimeError(text)

    return _operator(signature, check, run)


def operator_of_kernel(signature: Signature, kernel: Kernel) -> Operator[Given]:
    """Make an operator of a NumPy function."""
    names = [parameter.name for parameter in signature.parameters]
    optional = [name for name in names if kernel.may_lack(name)]
    named = [name for name in names if kernel.parameter_for(name) is not None]
    note = f"; {kernel.note}" if kernel.note else ""

    def check(given: Given, _setting: Setting) -> Plan:
        check_arguments(signature, given.values, optional, named)
        check_array_types(signature.name, given.values)
        try:
            _results(signature, kernel, given, _zeros, kernel.trial)
        except (ValueError, TypeError, IndexError) as error:
            text = f"{signature.name}: {text_of(error)}{note}"
            raise RefusalError(Status.PARAM_INVALID, text) from error
        return Plan(launch=Launch.KERNELS)

    def run(given: Given, _setting: Setting, memory: DeviceMemory) -> Shapes:
        def readable(name: str, tensor: Tensor) -> NDArray[Any]:
            array: NDArray[Any] = memory.view(name, tensor).view()
            array.flags.writeable = False
            return array

        try:
            written = _results(signature, kernel, given, readable)
        except (ValueError, TypeError, IndexError) as error:
            data = _numbers_of(signature, given, readable) if kernel.trial else ""
            raise DeviceMemoryError(f"{text_of(error)}{data}{note}") from error
        for name, tensor, result in written:
            target = memory.view(name, tensor)
            if result.shape != tensor.dims and name.split("[")[0] not in signature.read:
                poison_output(target, [result])
            if result.shape != tensor.dims and target.flags.c_contiguous:
                # In the shape that was found, the elements come first.
                target.reshape(-1)[: result.size] = result.reshape(-1)
            else:
                target[tuple(slice(length) for length in result.shape)] = result
        return [(tensor, array.shape) for _, tensor, array in written if array.shape != tensor.dims]

    return _operator(signature, check, run)


def _operator(
    signature: Signature,
    check: Callable[[Given, Setting], Plan],
    run: Callable[[Given, Setting, DeviceMemory], Shapes | None],
) -> Operator[Given]:
    names = [parameter.name for parameter in signature.parameters]
    return Operator(
        name=signature.name,
        executor_kind=ExecutorKind.COMPOSITE,
        parameters=signature.parameters,
        arguments=lambda *values: Given(dict(zip(names, values, strict=True))),
        check=check,
        run=run,
        written=signature.written,
        updated=tuple(name for name in signature.written if name in signature.read),
        shows_unwritten=True,
    )


def _no_kernel(name: str, why: str) -> str:
    found = implementation(name)
    known = found is not None and found.strength is Strength.ATEN
    aten = f"; or {KERNELS}=torch: {CAUTION}" if known and not why else ""
    return (
        f"EZ9999: the simulated NPU has {name}, but no kernel for it{why and f': {why}'}. Give it "
        f"one: a NumPy function of its C parameters' names under "
        f'@pyaclnn.mock.operator("{name}"), in a file that {VARIABLE} names; or a package of '
        "pyaclnn.ascendc.package.build_package, in a folder that ASCEND_CUSTOM_OPP_PATH names"
        f"{aten}"
    )


def _called(kernel: Kernel, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a kernel's function.

    Raises:
        KernelLimitError: A kernel of this project fails otherwise than by the data.
    """
    try:
        return function(**arguments)
    except (ValueError, TypeError, IndexError, MemoryError):
        raise
    except Exception as error:
        if kernel.trial is None and not kernel.function.__module__.startswith("pyaclnn.reference."):
            raise
        why = f"its own does not take these arguments ({text_of(error)})"
        raise KernelLimitError(_no_kernel(kernel.name, why)) from error


def _numbers_of(
    signature: Signature, given: Given, array_of: Callable[[str, Tensor], NDArray[Any]]
) -> str:
    """Describe the integers among the tensors, and the shapes they may point into."""
    found = []
    for name in signature.read:
        value = given.values[name]
        if isinstance(value, Tensor) and value.size:
            array = array_of(name, value)
            numbers = array.dtype.kind in "iu"
            extent = f" and elements from {array.min()} to {array.max()}" if numbers else ""
            found.append(f"{name} has shape {list(value.dims)}{extent}")
    return f" ({'; '.join(found)})" if found else ""


def _results(
    signature: Signature,
    kernel: Kernel,
    given: Given,
    array_of: Callable[[str, Tensor], NDArray[Any]],
    function: Callable[..., Any] | None = None,
) -> list[tuple[str, Tensor, NDArray[Any]]]:
    """Call the kernel's function or another one; return each written tensor with its result.

    Raises:
        ValueError: A result does not fit.
    """

    def widened(name: str, tensor: Tensor) -> NDArray[Any]:
        array = (array_of if name in signature.read else _zeros)(name, tensor)
        return wide(array) if kernel.plain and name in signature.read else array

    arguments = {
        parameter: _plain(name, value, widened)
        if name not in signature.types
        else _dtype(name, value)
        for name, value in given.values.items()
        if (parameter := kernel.parameter_for(name)) is not None
    }
    found = _called(kernel, function or kernel.function, arguments)
    names = list(signature.written)
    results = list(found) if isinstance(found, tuple) else [found]
    if len(results) != len(names):
        raise ValueError(
            f"its kernel gives {len(results)} results; it writes {len(names)}: {', '.join(names)}"
        )
    written = []
    for name, result in zip(names, results, strict=True):
        target = given.values[name]
        if result is None or target is None:
            continue
        listed = isinstance(target, TensorList)
        items = target.items if isinstance(target, TensorList) else (target,)
        pieces = list(result) if listed else [result]
        if len(pieces) != len(items):
            raise ValueError(f"{name} has {len(items)} tensors; its kernel gives {len(pieces)}")
        for place, (tensor, piece) in enumerate(zip(items, pieces, strict=True)):
            if isinstance(tensor, Tensor):
                shown = f"{name}[{place}]" if listed else name
                written.append((shown, tensor, _fitting(shown, tensor, piece, kernel)))
    if len(written) > 1:
        # The first written output must not be the base of another result's view.
        return [(name, tensor, array.copy()) for name, tensor, array in written]
    return written


def _fitting(name: str, tensor: Tensor, piece: Any, kernel: Kernel) -> NDArray[Any]:
    array = np.asarray(piece)
    wanted = numpy_dtype(tensor.data_type)
    if kernel.plain:
        array = rounded(array, wanted)
    if array.dtype != wanted:
        raise ValueError(f"{name} is {wanted}; the result is {array.dtype}")
    fits = array.ndim == tensor.rank and all(
        length <= most for length, most in zip(array.shape, tensor.dims, strict=True)
    )
    if array.shape != tensor.dims and not (kernel.shrinks and fits):
        raise ValueError(f"{name} has shape {tensor.dims}; the result has {array.shape}")
    return array


def _zeros(_name: str, tensor: Tensor) -> NDArray[Any]:
    """Return a zero-stride array for a trial of a kernel: no memory, whatever the shape."""
    if min(tensor.dims, default=0) < 0:
        raise ValueError(f"a shape of {tensor.dims} has a negative dimension")
    zero = np.zeros((), numpy_dtype(tensor.data_type))
    return np.broadcast_to(zero, tensor.dims)


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
    dtype = numpy_dtype(scalar.data_type)
    value = np.frombuffer(scalar.data, dtype, 1)[0]
    # A number of ml_dtypes is none of Python's.
    return value.item() if dtype.kind in "biufc" else float(value)


def _dtype(name: str, value: Value) -> np.dtype[Any]:
    try:
        return numpy_dtype(value if isinstance(value, int) else -1)
    except KeyError as error:
        raise ValueError(f"{name}: {error.args[0]}") from error
