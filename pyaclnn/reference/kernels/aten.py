# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CPU kernels as kernels of the simulated NPU, for programs with PyTorch.

They serve operators of which the simulated NPU has no kernel itself and PyTorch is known to have
one, if the program has imported PyTorch; ``PYACLNN_MOCK_KERNELS`` decides otherwise. `aten.txt` has
the expressions. PyTorch may differ from CANN in how it promotes data types, in defaults and in
rounding, which messages of such a kernel mention. The device process imports it with the first
operator that needs it.
"""

from __future__ import annotations

import functools
import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.errors import text_of
from pyaclnn.base.variable import choice
from pyaclnn.reference.kernels.kernel import Kernel, KernelLimitError
from pyaclnn.reference.kernels.promotion import BFLOAT16
from pyaclnn.reference.kernels.rows import function_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from pyaclnn.reference.kernels.rows import Row

__all__ = ["CAUTION", "KERNELS", "SOURCES", "aten_calls", "aten_kernel", "is_asked_for"]

KERNELS: Final = "PYACLNN_MOCK_KERNELS"
"""The environment variable that asks for them, or for none of them."""
SOURCES: Final = ("torch", "numpy")
"""Its values."""
CAUTION: Final = "computed by PyTorch, which may differ from CANN in data types and defaults"
"""The note that accompanies them."""
_LIMIT: Final = re.compile(r"not (implemented for|supported)|dtype|(data|scalar) type|but got \w+$")
"""Texts in which PyTorch refuses data types: those of its own kernels, not of the operator."""
_SMALL: Final = 4
"""Longest dimension of the tensors on which a kernel's limits are tried."""


def is_asked_for() -> bool:
    """Report whether the device process uses PyTorch's kernels.

    The environment decides; without the variable, they are used once the program that started this
    process has loaded PyTorch.

    Raises:
        InvalidArgumentError: The environment asks for something else.
    """
    asked = choice(KERNELS, *SOURCES)
    return asked == "torch" if asked else _is_loaded_by(os.getppid())


_WITH_PYTORCH: set[int] = set()
"""Processes that have mapped PyTorch's library, which none of them unloads."""


def _is_loaded_by(process: int) -> bool:
    """Report whether a process has mapped PyTorch's library."""
    if process not in _WITH_PYTORCH:
        try:
            with open(f"/proc/{process}/maps", "rb") as maps:  # noqa: PTH123  # pathlib is dear
                if b"/libtorch_cpu.so" in maps.read():
                    _WITH_PYTORCH.add(process)
        except OSError:  # it has ended, or belongs to somebody else
            return False
    return process in _WITH_PYTORCH


def aten_calls() -> Mapping[str, Row]:
    """Return what operators are in PyTorch, by their C names."""
    return rows_of("aten")


@functools.cache
def aten_kernel(name: str) -> Kernel:
    """Return PyTorch's kernel for an operator.

    Args:
        name: The C name of an operator of `aten_calls`.

    Raises:
        ImportError: PyTorch is not installed for the interpreter of the device process.
    """
    torch: Any = import_module("torch")
    function = _function(name, torch)
    compute = _computing(torch, function, _on_the_cpu)
    return Kernel(
        name,
        compute,
        trial=_trial(_computing(torch, function, _of_no_memory), compute),
        note=f"{CAUTION} (PyTorch {torch.__version__})",
    )


def _function(name: str, torch: Any) -> Callable[..., Any]:
    """Compile the expression of an operator."""

    def function_named(name: str) -> Any:
        return zip if name == "zip" else getattr(torch.ops.aten, name)

    return function_of(name, aten_calls()[name], function_named)


def _trial(shapes: Callable[..., Any], compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the results' shapes that refuses what the kernel's own types exclude.

    PyTorch's shape functions accept types that its kernels on the CPU do not, so these are called
    with small tensors, once for each combination of types. Other failures of small tensors, whose
    shapes may not go together, are no limits.
    """
    tried: dict[tuple[Any, ...], str] = {}

    def types(value: Any) -> Any:
        return tuple(map(types, value)) if isinstance(value, list) else getattr(value, "dtype", 0)

    def small(value: Any) -> Any:
        if isinstance(value, list):
            return [small(item) for item in value]
        if not isinstance(value, np.ndarray):
            return value
        return np.zeros([min(length, _SMALL) for length in value.shape], value.dtype)

    def trial(**arguments: Any) -> Any:
        found = shapes(**arguments)
        key = tuple(types(value) for value in arguments.values())
        if key not in tried:
            tried[key] = ""
            try:
                compute(**{name: small(value) for name, value in arguments.items()})
            except KernelLimitError as error:
                tried[key] = str(error)
            except ValueError:
                pass
        if tried[key]:
            raise KernelLimitError(tried[key])
        return found

    return trial


def _computing(
    torch: Any, function: Callable[..., Any], tensor_of: Callable[[Any, NDArray[Any]], Any]
) -> Callable[..., Any]:
    """Wrap a function of PyTorch's tensors as one of arrays."""

    def given(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return tensor_of(torch, value)
        if isinstance(value, np.dtype):
            return _torch_dtype(torch, value)
        return [given(item) for item in value] if isinstance(value, (list, tuple)) else value

    def found(value: Any) -> Any:
        if isinstance(value, list):
            return [found(item) for item in value]
        if isinstance(value, tuple):
            return tuple(found(item) for item in value)
        return value if value is None else _array(torch, value)

    @functools.wraps(function)
    def compute(**arguments: Any) -> Any:
        try:
            with torch.no_grad():
                return found(function(**{name: given(value) for name, value in arguments.items()}))
        except Exception as error:  # its own refusals are of many kinds
            text = text_of(error).partition("\n")[0]
            own = isinstance(error, NotImplementedError) or _LIMIT.search(text)
            raise (KernelLimitError if own else ValueError)(text) from error

    return compute


def _torch_dtype(torch: Any, dtype: np.dtype[Any]) -> Any:
    found = getattr(torch, dtype.name, None)
    if found is None:
        raise ValueError(f"PyTorch has no data type {dtype}")
    return found


def _on_the_cpu(torch: Any, array: NDArray[Any]) -> Any:
    """A copy, which the function may write to."""
    copy = np.array(array, order="C")
    if copy.dtype == BFLOAT16:
        return torch.from_numpy(copy.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(copy)


def _of_no_memory(torch: Any, array: NDArray[Any]) -> Any:
    """A tensor that has a shape and a data type alone."""
    return torch.empty(array.shape, dtype=_torch_dtype(torch, array.dtype), device="meta")


def _array(torch: Any, tensor: Any) -> NDArray[Any]:
    narrow = tensor.dtype == torch.bfloat16
    dtype = BFLOAT16 if narrow else np.dtype(str(tensor.dtype).removeprefix("torch."))
    if tensor.device.type == "meta":
        return np.broadcast_to(np.zeros((), dtype), tuple(tensor.shape))
    plain = tensor.resolve_conj().resolve_neg().contiguous()
    array = plain.view(torch.uint16).numpy().view(dtype) if narrow else plain.numpy()
    return np.asarray(array)
