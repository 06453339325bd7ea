# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CPU kernels as kernels of the simulated NPU, for programs that ask for them.

``PYACLNN_MOCK_KERNELS=torch`` does, for operators of which the simulated NPU has no kernel itself
and PyTorch is known to have one. `aten.txt` says which, and what they are there. PyTorch may differ
from CANN in how it promotes data types, in defaults and in rounding, which is said wherever such a
kernel speaks. It is imported with the first operator that needs it, into the device process alone.
"""

from __future__ import annotations

import ast
import functools
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pyaclnn.base.variable import choice
from pyaclnn.reference.kernels.kernel import Kernel
from pyaclnn.reference.kernels.promotion import BFLOAT16

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["CAUTION", "KERNELS", "aten_calls", "aten_kernel", "is_asked_for"]

KERNELS: Final = "PYACLNN_MOCK_KERNELS"
"""The environment variable that asks for them."""
CAUTION: Final = "computed by PyTorch, which may differ from CANN in data types and defaults"
"""The note that accompanies them."""
_LINE: Final = re.compile(r"(?P<names>[A-Za-z0-9 ]+): (?P<call>.*?)(?: \[(?P<null>[\w ]+)\])?")


class AtenCall(NamedTuple):
    """The expression of an operator in PyTorch.

    Attributes:
        text: An expression of functions of ``torch.ops.aten`` and of C's parameter names.
        null: Parameters that may be NULL although their C names do not say so.
    """

    text: str
    null: tuple[str, ...]


def is_asked_for() -> bool:
    """Report whether the environment asks for PyTorch's kernels.

    Raises:
        InvalidArgumentError: It asks for something else.
    """
    return choice(KERNELS, "torch") == "torch"


@functools.cache
def aten_calls() -> Mapping[str, AtenCall]:
    """Return what operators are in PyTorch, by their C names."""
    found: dict[str, AtenCall] = {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if match := _LINE.fullmatch(line):
            call = AtenCall(match["call"], tuple((match["null"] or "").split()))
            found |= {f"aclnn{name}": call for name in match["names"].split()}
    return found


@functools.cache
def aten_kernel(name: str) -> Kernel:
    """Return PyTorch's kernel for an operator.

    Args:
        name: The C name of an operator of `aten_calls`.

    Raises:
        ImportError: PyTorch is not installed for the interpreter of the device process.
    """
    call = aten_calls()[name]
    torch: Any = import_module("torch")
    function = _function(call, torch)
    return Kernel(
        name,
        _computing(torch, function, _on_the_cpu),
        trial=_computing(torch, function, _of_no_memory),
        note=f"{CAUTION} (PyTorch {torch.__version__})",
    )


def _function(call: AtenCall, torch: Any) -> Callable[..., Any]:
    """Compile an expression into a function of the parameters that it names."""
    tree = ast.parse(call.text, mode="eval")
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    functions = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)} | functions
    parameters = {node.id for node in names} - own
    last = [f"{name}=None" for name in call.null]
    known = {name: getattr(torch.ops.aten, name) for name in functions - {"zip"}}
    listed = ", ".join([*sorted(parameters - {*call.null}), *last])
    made: Callable[..., Any] = eval(f"lambda {listed}: {call.text}", known)  # noqa: S307 (our own)
    return made


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
            raise ValueError(str(error).partition("\n")[0]) from error

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
