# SPDX-License-Identifier: Apache-2.0
"""An operator called the way hand-written bindings do it: ctypes, one C call at a time."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["chains"]

_POINTER = ctypes.c_void_p
_FLOAT, _ND, _ADDRESS = 0, 2, 4096


def chains(folder: Path) -> dict[str, Callable[[], None]]:
    """Return the whole call of both gradients, by the names of the public operators.

    Args:
        folder: Where the libraries are.
    """
    base = ctypes.CDLL(str(folder / "libnnopbase.so"), mode=ctypes.RTLD_GLOBAL)
    operators = ctypes.CDLL(str(folder / "libopapi.so"), mode=ctypes.RTLD_GLOBAL)

    def bind(library: Any, name: str, result: Any, *arguments: Any) -> Any:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
        return function

    number, count, size = ctypes.c_int, ctypes.c_int64, ctypes.c_uint64
    create = bind(
        base, "aclCreateTensor", _POINTER,
        _POINTER, size, number, _POINTER, count, number, _POINTER, size, _POINTER,
    )  # fmt: skip
    destroy = bind(base, "aclDestroyTensor", number, _POINTER)
    create_ints = bind(base, "aclCreateIntArray", _POINTER, _POINTER, size)
    destroy_ints = bind(base, "aclDestroyIntArray", number, _POINTER)
    create_flags = bind(base, "aclCreateBoolArray", _POINTER, _POINTER, size)
    destroy_flags = bind(base, "aclDestroyBoolArray", number, _POINTER)

    def phases(name: str, arguments: int) -> tuple[Any, Any]:
        first = bind(operators, f"{name}GetWorkspaceSize", number, *[_POINTER] * (arguments + 2))
        return first, bind(operators, name, number, _POINTER, size, _POINTER, _POINTER)

    def tensor(shape: Sequence[int], strides: Sequence[int]) -> Any:
        rank = len(shape)
        dims, steps = (count * rank)(*shape), (count * rank)(*strides)
        return create(dims, rank, _FLOAT, steps, 0, _ND, dims, rank, _ADDRESS)

    full, rows, columns = ((64, 512), (512, 1)), ((64, 1), (1, 1)), ((512,), (1,))
    backward, run_backward = phases("aclnnLayerNormBackward", 11)
    grad, run_grad = phases("aclnnRmsNormGrad", 6)

    def check(status: int) -> None:
        if status:
            raise RuntimeError(status)

    def layer_norm_backward() -> None:
        kinds = [full, full, rows, rows, columns, columns, full, columns, columns]
        t = [tensor(*kind) for kind in kinds]
        shape = create_ints((count * 1)(512), 1)
        mask = create_flags((ctypes.c_bool * 3)(True, True, True), 3)
        workspace, executor = size(), _POINTER()
        out = ctypes.byref(workspace), ctypes.byref(executor)
        check(backward(t[0], t[1], shape, *t[2:6], mask, *t[6:], *out))
        check(run_backward(None, workspace.value, executor, None))
        for made in t:
            destroy(made)
        destroy_ints(shape)
        destroy_flags(mask)

    def rms_norm_grad() -> None:
        t = [tensor(*kind) for kind in (full, full, rows, columns, full, columns)]
        workspace, executor = size(), _POINTER()
        check(grad(*t, ctypes.byref(workspace), ctypes.byref(executor)))
        check(run_grad(None, workspace.value, executor, None))
        for made in t:
            destroy(made)

    return {"layer_norm_backward": layer_norm_backward, "rms_norm_grad": rms_norm_grad}
