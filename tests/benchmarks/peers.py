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


_NUMBER, _COUNT, _SIZE = ctypes.c_int, ctypes.c_int64, ctypes.c_uint64
_FULL, _ROWS, _COLUMNS = ((64, 512), (512, 1)), ((64, 1), (1, 1)), ((512,), (1,))


class _Libraries:
    """The functions of the libraries, with their types."""

    def __init__(self, folder: Path) -> None:
        self.base = ctypes.CDLL(str(folder / "libnnopbase.so"), mode=ctypes.RTLD_GLOBAL)
        self.operators = ctypes.CDLL(str(folder / "libopapi.so"), mode=ctypes.RTLD_GLOBAL)
        self.create = self.bind(
            "aclCreateTensor", _POINTER,
            _POINTER, _SIZE, _NUMBER, _POINTER, _COUNT, _NUMBER, _POINTER, _SIZE, _POINTER,
        )  # fmt: skip

    def bind(self, name: str, result: Any, *arguments: Any, library: Any = None) -> Any:
        function = getattr(library or self.base, name)
        function.restype, function.argtypes = result, arguments
        return function

    def pair(self, kind: str) -> tuple[Any, Any]:
        """Functions that create and destroy an array or a list."""
        make = self.bind(f"aclCreate{kind}", _POINTER, _POINTER, _SIZE)
        return make, self.bind(f"aclDestroy{kind}", _NUMBER, _POINTER)

    def phases(self, name: str, arguments: int) -> tuple[Any, Any]:
        pointers = [_POINTER] * (arguments + 2)
        first = self.bind(f"{name}GetWorkspaceSize", _NUMBER, *pointers, library=self.operators)
        types = (_POINTER, _SIZE, _POINTER, _POINTER)
        return first, self.bind(name, _NUMBER, *types, library=self.operators)

    def tensor(self, shape: Sequence[int], strides: Sequence[int]) -> Any:
        rank = len(shape)
        dims, steps = (_COUNT * rank)(*shape), (_COUNT * rank)(*strides)
        return self.create(dims, rank, _FLOAT, steps, 0, _ND, dims, rank, _ADDRESS)


def chains(folder: Path) -> dict[str, Callable[[], None]]:
    """Return the whole calls of both gradients, and of an operator that takes lists of 16.

    Args:
        folder: Where the libraries are.
    """
    libraries = _Libraries(folder)
    return {**_gradients(libraries), "foreach_neg": _of_lists(libraries)}


def _check(status: int) -> None:
    if status:
        raise RuntimeError(status)


def _gradients(libraries: _Libraries) -> dict[str, Callable[[], None]]:
    tensor = libraries.tensor
    destroy = libraries.bind("aclDestroyTensor", _NUMBER, _POINTER)
    create_ints, destroy_ints = libraries.pair("IntArray")
    create_flags, destroy_flags = libraries.pair("BoolArray")
    backward, run_backward = libraries.phases("aclnnLayerNormBackward", 11)
    grad, run_grad = libraries.phases("aclnnRmsNormGrad", 6)

    def layer_norm_backward() -> None:
        kinds = [_FULL, _FULL, _ROWS, _ROWS, _COLUMNS, _COLUMNS, _FULL, _COLUMNS, _COLUMNS]
        t = [tensor(*kind) for kind in kinds]
        shape = create_ints((_COUNT * 1)(512), 1)
        mask = create_flags((ctypes.c_bool * 3)(True, True, True), 3)
        workspace, executor = _SIZE(), _POINTER()
        out = ctypes.byref(workspace), ctypes.byref(executor)
        _check(backward(t[0], t[1], shape, *t[2:6], mask, *t[6:], *out))
        _check(run_backward(None, workspace.value, executor, None))
        for made in t:
            destroy(made)
        destroy_ints(shape)
        destroy_flags(mask)

    def rms_norm_grad() -> None:
        t = [tensor(*kind) for kind in (_FULL, _FULL, _ROWS, _COLUMNS, _FULL, _COLUMNS)]
        workspace, executor = _SIZE(), _POINTER()
        _check(grad(*t, ctypes.byref(workspace), ctypes.byref(executor)))
        _check(run_grad(None, workspace.value, executor, None))
        for made in t:
            destroy(made)

    return {"layer_norm_backward": layer_norm_backward, "rms_norm_grad": rms_norm_grad}


def _of_lists(libraries: _Libraries) -> Callable[[], None]:
    create, destroy = libraries.pair("TensorList")
    negate, run_negate = libraries.phases("aclnnForeachNeg", 2)

    def foreach_neg() -> None:
        made = []
        for _ in range(2):
            items = (_POINTER * 16)(*[libraries.tensor(*_COLUMNS) for _ in range(16)])
            made.append(create(items, 16))
        workspace, executor = _SIZE(), _POINTER()
        _check(negate(*made, ctypes.byref(workspace), ctypes.byref(executor)))
        _check(run_negate(None, workspace.value, executor, None))
        for found in made:
            destroy(found)

    return foreach_neg
