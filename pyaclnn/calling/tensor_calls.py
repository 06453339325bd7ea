# SPDX-License-Identifier: Apache-2.0
"""Calls on tensors of PyTorch that C makes again.

C reads the tensors by the functions that PyTorch keeps for programs in C. Releases before 2.7 lack
one of them, ``aoti_torch_call_dispatcher``: there every call is made from Python.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyaclnn._binding import ffi, lib

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.calling.operator import Operator
    from pyaclnn.runtime.array import DeviceArray

__all__ = ["TensorCall", "can_read", "launch_again", "layouts_of"]

_FUNCTIONS: Final = (
    *("get_dim", "get_sizes", "get_strides", "get_dtype", "get_device_type", "get_device_index"),
    *("get_data_ptr", "delete_tensor_object", "call_dispatcher"),
)
"""The functions, without ``aoti_torch_``."""

launch_again: Final = lib.binding_torch_launch
"""The launcher. It takes the struct of a call, the identity of the list of its tensors, and the C
side of the timeline, and answers as that of an operator; ``BINDING_DIFFERS`` if the tensors have
other layouts, or no memory."""


@functools.cache
def can_read(library: str, handles_of: Any, dense: frozenset[int]) -> bool:
    """Return whether this PyTorch has the functions; C uses them from now on.

    Args:
        library: The path of ``libtorch_cpu.so``, which is loaded.
        handles_of: PyTorch's function in Python that creates handles of the tensors in a list.
        dense: The formats of torch-npu whose elements are addressed by strides.
    """
    try:
        opened = ffi.cast("void *", ctypes.CDLL(library)._handle)  # noqa: SLF001  # as ctypes documents it
    except OSError:
        return False
    used = ffi.new("struct binding_torch *", (id(handles_of), sum(1 << f + 1 for f in dense)))
    for name in _FUNCTIONS:
        function = lib.binding_symbol(opened, f"aoti_torch_{name}".encode())
        if not function:
            return False
        setattr(used, name, ffi.cast(ffi.typeof(getattr(used, name)), function))
    lib.binding_torch_use(used)
    return True


def layouts_of(tensors: list[Any]) -> Any:
    """Return the layouts of tensors as C compares them, or None if it cannot read one of them."""
    layouts = ffi.new("struct binding_torch_layout[]", len(tensors))
    return layouts if lib.binding_torch_read(id(tensors), layouts, len(tensors)) else None


class TensorCall(NamedTuple):
    """A call that was made, for C.

    Attributes:
        struct: The call.
        layouts: Those of the tensors that were given.
        parts: The other memory that it points to.
    """

    struct: Any
    layouts: Any
    parts: tuple[Any, ...]

    def has(self, layouts: Any) -> bool:
        """Return whether tensors of these layouts were given."""
        return bool(ffi.buffer(self.layouts) == ffi.buffer(layouts))

    @classmethod
    def of(
        cls,
        operator: Operator,
        arguments: Sequence[Any],
        given: list[Any],
        places: Iterable[tuple[DeviceArray, int, int]],
    ) -> TensorCall | None:
        """Describe a call.

        Args:
            operator: The operator.
            arguments: Its arguments in C order, which must be kept, with views of tensors.
            given: The tensors that are given.
            places: Each view, with the place of its tensor in the list that the launcher will get,
                which begins as ``given`` does, and the byte at which it begins there.

        Returns:
            None if C cannot read one of the tensors.
        """
        rows = [
            (place, offset, ffi.addressof(view._memory.block, "address"))
            for view, place, offset in places
        ]
        layouts = layouts_of(given)
        if layouts is None:
            return None
        message = ffi.from_buffer(operator.message(arguments))
        targets = ffi.new("struct binding_torch_place[]", rows)
        counts = len(given), len(rows)
        known = (operator.struct, message, *counts, layouts, targets)
        return cls(ffi.new("struct binding_torch_call *", known), layouts, (message, targets))
