# SPDX-License-Identifier: Apache-2.0
"""Built kernels, launched on NumPy arrays.

A launch is a process of its own. The checks end a kernel by a C++ exception, and everything that
goes through the interface is checked; but a kernel may also dereference an address, divide by zero
or never end, and none of that may take Python with it. A process costs a few milliseconds, and it
is what makes sanitizers and time limits possible.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from pyaclnn.ascendc.fault import KernelFault
from pyaclnn.ascendc.request import LaunchArgument, SharedRequest
from pyaclnn.base.spelling import with_article

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pyaclnn.ascendc.entries import KernelEntry, KernelParameter
    from pyaclnn.ascendc.target import Target

__all__ = ["Kernel", "TilingData", "tiling_bytes"]

_MOST_BLOCKS = 65535
_TILING = "tiling"
_WORKSPACE = "workspace"
_WORD = 8  # bytes of a number in a list of tensors


class _Packable(Protocol):
    def to_bytes(self) -> bytes: ...


TilingData: TypeAlias = "bytes | bytearray | _Packable | np.generic | NDArray[Any] | Sequence[Any]"
"""Accepted tiling data: bytes, a structure of `pyaclnn.ascendc.tiling`, a NumPy scalar or
array, or a sequence of these, whose bytes follow one another."""


class Kernel:
    """A kernel, built for a chip.

    Attributes:
        name: The name of its function.
        parameters: The names of its parameters, in order.
        soc: The chip it was built for.
        program: The program that runs it.
    """

    def __init__(self, program: Path, number: int, entry: KernelEntry, target: Target) -> None:
        self._number = number
        self._entry = entry
        self._target = target
        self.program = program
        self.name = entry.name
        self.parameters = tuple(parameter.name for parameter in entry.parameters)
        self.soc = target.soc_name

    def __repr__(self) -> str:
        return f"<Kernel {self.name}({', '.join(self.parameters)}) for {self.soc}>"

    def launch(
        self,
        block_dim: int,
        *arrays: NDArray[Any] | float | TilingData | Sequence[NDArray[Any]],
        tiling: TilingData | None = None,
        workspace: int = 0,
        timeout: float | None = None,
    ) -> None:
        """Run the kernel's blocks, one after the other, and wait for the end.

        Args:
            block_dim: Number of blocks, from 1 on; `GetBlockNum`.
            *arrays: The values of the parameters, in order: C-contiguous arrays, which are global
                memory and are written in place, numbers where the kernel takes values, and for a
                structure that it takes by value what `tiling` can be. A sequence of arrays is a
                list of tensors, as ``ListTensorDesc`` reads it: offset of the addresses,
                shapes, addresses.
                Parameters named ``tiling…`` and ``workspace…`` are left out.
            tiling: The bytes of the tiling data, a structure with ``to_bytes()``, or a sequence of
                such and of NumPy scalars, which are joined. For the parameter named ``tiling…``,
                else for the last one.
            workspace: Bytes of memory for the parameter named ``workspace…``.
            timeout: Seconds after which the kernel is stopped; None waits for ever.

        Raises:
            KernelFault: The kernel broke a rule. No array was changed.
            TypeError: The arguments do not fit the parameters.
            ValueError: An argument cannot be global memory: it is not contiguous, or it overlaps
                another.
        """
        if not 1 <= block_dim <= _MOST_BLOCKS:
            raise ValueError(f"block_dim is {block_dim}; it must be 1 to {_MOST_BLOCKS}")
        arguments = self._arguments(list(arrays), tiling, workspace)
        target = self._target
        with SharedRequest(
            self._number, block_dim, target.family, target.unified_buffer, arguments
        ) as request:
            status, errors = self._run(request.descriptor, timeout)
            fault = request.fault(status, errors)
            if fault is not None:
                raise fault
            if errors:
                sys.stderr.write(errors)
            request.read_back()

    def _run(self, descriptor: int, timeout: float | None) -> tuple[int, str]:
        try:
            done = subprocess.run(  # noqa: S603  # the program was built from the user's source
                [str(self.program), str(descriptor), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(descriptor,),
                check=False,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            raise KernelFault(
                "timeout",
                f"the kernel did not end within {timeout} s and was stopped",
                api="",
                tensor="",
                file="",
                line=0,
                block=0,
            ) from None
        return done.returncode, done.stderr.decode(errors="replace")

    def _arguments(
        self,
        values: list[NDArray[Any] | float | TilingData | Sequence[NDArray[Any]]],
        tiling: TilingData | None,
        workspace: int,
    ) -> list[LaunchArgument]:
        parameters = self._entry.parameters
        roles = self._roles(tiling is not None)
        expected = roles.count("")
        if len(values) != expected:
            names = ", ".join(
                parameter.name
                for parameter, role in zip(parameters, roles, strict=True)
                if not role
            )
            raise TypeError(
                f"{self.name} was launched with {len(values)} arguments; it takes {expected}: "
                f"{names or 'none'}{'' if tiling is not None else ' (tiling was not given)'}"
            )
        rest = iter(values)
        elements: list[LaunchArgument] = []

        def given(parameter: KernelParameter) -> LaunchArgument:
            value = next(rest)
            if not isinstance(value, (list, tuple)) or parameter.structure or parameter.scalar:
                return _argument(parameter, value)
            first = len(parameters) + len(elements)
            elements.extend(
                _argument(parameter._replace(name=f"{parameter.name}[{i}]"), element)
                for i, element in enumerate(value)
            )
            shapes = [n for i, x in enumerate(value) for n in (np.ndim(x) | i << 32, *np.shape(x))]
            table = [_WORD * (1 + len(shapes)), *shapes, *[0] * len(value)]
            return _untyped(parameter, np.array(table, np.uint64))._replace(elements=first)

        own = [
            _untyped(parameter, np.frombuffer(tiling_bytes(tiling), np.uint8))
            if role == _TILING
            else _untyped(parameter, np.full(workspace, 0x7F, np.uint8))
            if role == _WORKSPACE
            else given(parameter)
            for parameter, role in zip(parameters, roles, strict=True)
        ]
        return own + elements

    def _roles(self, has_tiling: bool) -> list[str]:
        """Which parameters are tiling and workspace; the others are the caller's."""
        roles = [
            next((role for role in (_TILING, _WORKSPACE) if p.name.lower().startswith(role)), "")
            if p.scalar is None
            else ""
            for p in self._entry.parameters
        ]
        if has_tiling and _TILING not in roles:
            if not roles or self._entry.parameters[-1].scalar is not None:
                raise TypeError(f"tiling was given; {self.name} has no address to take it")
            roles[-1] = _TILING
        return roles


def tiling_bytes(tiling: TilingData | None) -> bytes:
    """Bring tiling data into the bytes that a kernel reads.

    Args:
        tiling: See `TilingData`; None gives no bytes.

    Raises:
        TypeError: It is nothing that has bytes.
    """
    if tiling is None:
        return b""
    if isinstance(tiling, (bytes, bytearray)):
        return bytes(tiling)
    if isinstance(tiling, (np.generic, np.ndarray)):
        return tiling.tobytes()
    if isinstance(tiling, Sequence) and not isinstance(tiling, str):
        return b"".join(map(tiling_bytes, tiling))
    # A plain int has to_bytes() as well, but no size of its own.
    if hasattr(tiling, "to_bytes") and not isinstance(tiling, (int, str)):
        return bytes(tiling.to_bytes())
    raise TypeError(
        f"tiling is {type(tiling).__name__}; it must be bytes, an object with to_bytes(), a NumPy "
        "scalar or array, or a sequence of these"
    )


def _untyped(parameter: KernelParameter, data: NDArray[Any]) -> LaunchArgument:
    return LaunchArgument(parameter.name, data, typed=False)


def _argument(
    parameter: KernelParameter, value: NDArray[Any] | float | TilingData | Sequence[NDArray[Any]]
) -> LaunchArgument:
    if parameter.scalar is not None:
        if not isinstance(value, (int, float, np.generic, np.ndarray)) or np.ndim(value) != 0:
            wanted = with_article(str(parameter.type))
            raise TypeError(f"{parameter.name} is an array; it must be {wanted}")
        return _untyped(parameter, np.array(value, parameter.scalar))
    if parameter.structure:
        if isinstance(value, (int, float)):
            raise TypeError(
                f"{parameter.name} is {type(value).__name__}; it must be the bytes of "
                f"{with_article(parameter.type)}, or what has them, as tiling data"
            )
        return _untyped(parameter, np.frombuffer(tiling_bytes(value), np.uint8))
    if not isinstance(value, np.ndarray):
        raise TypeError(
            f"{parameter.name} is {type(value).__name__}; it must be a NumPy array, which is the "
            "kernel's global memory"
        )
    if not value.dtype.isnative and not value.dtype.hasobject:
        raise TypeError(
            f"{parameter.name} is {value.dtype.str}, which is not of the machine's byte order; "
            f"convert it: {parameter.name}.astype(np.{value.dtype.newbyteorder('=')})"
        )
    if value.dtype.hasobject:
        raise TypeError(f"{parameter.name} has dtype {value.dtype}, which no kernel can read")
    if not value.flags.c_contiguous:
        raise ValueError(
            f"{parameter.name} is not C-contiguous; it must be, because it is written in place: "
            "pass numpy.ascontiguousarray(…)"
        )
    return LaunchArgument(parameter.name, value)
