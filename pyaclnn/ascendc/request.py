# SPDX-License-Identifier: Apache-2.0
"""Shared memory of a launch and the kernel's process; its C++ side is ascendc/launcher.h.

One anonymous file: a head with the request, the description of every argument and the place for the
report; then the arguments, each in pages of its own and at their end, so that what lies behind an
argument belongs to nobody.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.ascendc.fault import KernelFault, buffer_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

__all__ = ["LaunchArgument", "SharedRequest"]

_MAGIC = 0x314B43534E4C4341
_HEAD = struct.Struct("=Q7I3i32s96s96s128s1024s1024s1024s")
_DESCRIPTION = struct.Struct("=3Q2I64s16s")
_HEAD_BYTES = 4 * mmap.PAGESIZE
_ALIGNMENT = 32
_FINISHED, _FAULT, _CRASH = 1, 2, 3

_TYPE_NAMES = {"float32": "float", "float16": "half", "float64": "double", "bool": "uint8_t"}


class LaunchArgument(NamedTuple):
    """An argument of a launch.

    Attributes:
        name: The parameter's name.
        data: Its bytes, or the array itself.
        typed: The type of the array is checked; False for tiling and workspace.
        elements: The number of the first argument whose address it lists; 0 if it lists none.
    """

    name: str
    data: NDArray[Any]
    typed: bool = True
    elements: int = 0


class SharedRequest:
    """The shared memory of one launch; leaving the ``with`` statement gives it back.

    Args:
        entry: The number of the kernel in its program.
        blocks: Number of blocks.
        family: The number of the chip's family.
        unified_buffer: Bytes of the unified buffer.
        arguments: The kernel's arguments, in order.

    Raises:
        ValueError: There are more arguments than fit, or two of them overlap.
    """

    def __init__(
        self,
        entry: int,
        blocks: int,
        family: int,
        unified_buffer: int,
        arguments: Sequence[LaunchArgument],
    ) -> None:
        if _HEAD.size + len(arguments) * _DESCRIPTION.size > _HEAD_BYTES:
            raise ValueError(f"the kernel has {len(arguments)} parameters, more than can be passed")
        self._arguments = arguments
        self._places: list[tuple[int, int]] = []
        descriptions, size = self._lay_out()
        self.descriptor = os.memfd_create("pyaclnn-ascendc", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.descriptor, size)
            self._map = mmap.mmap(self.descriptor, size)
        except BaseException:
            os.close(self.descriptor)
            raise
        self._map[:28] = struct.pack(
            "=Q5I", _MAGIC, entry, blocks, family, unified_buffer, len(arguments)
        )
        self._map[_HEAD.size : _HEAD.size + len(descriptions)] = descriptions
        for argument, (start, _) in zip(arguments, self._places, strict=True):
            self._inside(argument, start)[...] = argument.data

    def _lay_out(self) -> tuple[bytes, int]:
        described = bytearray()
        end = _HEAD_BYTES
        for number, argument in enumerate(self._arguments):
            same = self._same_memory(number)
            size = argument.data.nbytes
            mapped = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
            described += _DESCRIPTION.pack(
                end,
                mapped,
                size,
                same,
                argument.elements,
                argument.name.encode()[:63],
                _type_name(argument),
            )
            if same != number:
                self._places.append(self._places[same])
                continue
            aligned = -(-size // _ALIGNMENT) * _ALIGNMENT
            self._places.append((end + mapped - aligned, size))
            end += mapped
        return bytes(described), end

    def _same_memory(self, number: int) -> int:
        """Return the first argument with the same memory, or itself."""
        argument = self._arguments[number]
        for earlier, other in enumerate(self._arguments[:number]):
            if np.may_share_memory(argument.data, other.data):
                address, size = argument.data.ctypes.data, argument.data.nbytes
                if (address, size) == (other.data.ctypes.data, other.data.nbytes):
                    return earlier
                raise ValueError(
                    f"{argument.name} and {other.name} overlap in memory; arguments must be the "
                    "same memory or have nothing in common"
                )
        return number

    def _inside(self, argument: LaunchArgument, start: int) -> NDArray[Any]:
        data = argument.data
        inside: NDArray[Any] = np.ndarray(data.shape, data.dtype, self._map, start)
        return inside

    def read_back(self) -> None:
        """Write what the kernel left into the arrays.

        Raises:
            ValueError: The kernel wrote to a read-only array; no array was changed.
        """
        results = [
            (argument, self._inside(argument, start))
            for argument, (start, _) in zip(self._arguments, self._places, strict=True)
            if argument.typed
        ]
        for argument, result in results:
            if not argument.data.flags.writeable and result.tobytes() != argument.data.tobytes():
                raise ValueError(f"{argument.name} is a read-only array and the kernel wrote to it")
        for argument, result in results:
            if argument.data.flags.writeable:
                argument.data[...] = result

    def fault(self, status: int, errors: str) -> KernelFault | None:
        """Raise what went wrong, if anything did.

        Args:
            status: The exit status of the kernel's process; negative: the signal that ended it.
            errors: Its standard error.
        """
        (_, _, _, _, _, _, outcome, block, line, set_up_line, signal, *texts) = _HEAD.unpack_from(
            self._map
        )
        rule, api, name, memory, file, set_up_file, message = (
            text.split(b"\0", 1)[0].decode(errors="replace") for text in texts
        )
        if outcome == _FINISHED and status == 0:
            return None
        if outcome == _FAULT and status == 0:
            origin = buffer_name(set_up_file, set_up_line)
            known = ", ".join(filter(None, [memory, origin]))
            tensor = f"{name} ({known})" if name and known else name or known
        else:
            rule, tensor = "crash", ""
            number = signal if outcome == _CRASH else -status
            message = _crash_text(number, api, errors)
        return KernelFault(rule, message, api=api, tensor=tensor, file=file, line=line, block=block)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._map.close()
        os.close(self.descriptor)


def _type_name(argument: LaunchArgument) -> bytes:
    if not argument.typed:
        return b""
    name = argument.data.dtype.name
    return _TYPE_NAMES.get(name, name if name == "bfloat16" else f"{name}_t").encode()[:15]


def _crash_text(number: int, api: str, errors: str) -> str:
    names = {
        8: "it divided by zero (SIGFPE)",
        11: "it used a wild address (SIGSEGV)",
        7: "it used a wild address (SIGBUS)",
        6: "it aborted (SIGABRT)",
        9: "it was killed (SIGKILL)",
    }
    what = names.get(number, f"signal {number}" if number > 0 else "its process reported nothing")
    since = f"; {api} was the last call of the interface before that" if api else ""
    said = f"\n{errors.strip()}" if errors.strip() else ""
    return f"the kernel was stopped: {what}{since}{said}"
