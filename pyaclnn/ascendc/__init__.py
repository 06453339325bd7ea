# SPDX-License-Identifier: Apache-2.0
"""Ascend C kernels on the host: compiled with a plain C++17 compiler, run with strict checks.

`compile` builds a kernel's source against an emulation of the Ascend C interface (the headers
`kernel_operator.h` and `lib/normalization/…`), `Kernel.launch` runs it on NumPy arrays. What a chip
would get wrong silently (a tensor that was never filled, a queue that is out of step, memory that
is too small) ends the kernel with a `KernelFault` that names the call, the tensor and the line.

    kernel = pyaclnn.ascendc.compile("layer_norm.cpp", soc="Ascend910B3")
    kernel.launch(1, x, gamma, beta, y, mean, variance, tiling=tiling)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.lazy import public_names

if TYPE_CHECKING:
    from pyaclnn.ascendc.diagnostics import CompileError, Diagnostic
    from pyaclnn.ascendc.fault import KernelFault
    from pyaclnn.ascendc.kernel import Kernel
    from pyaclnn.ascendc.program import compile  # noqa: A004  # it is what one calls it

__all__ = ["CompileError", "Diagnostic", "Kernel", "KernelFault", "compile"]

# The modules that have public names.
_HOMES = ("diagnostics", "fault", "kernel", "program")

# So that the command line costs nothing where it is not this part's.
if not TYPE_CHECKING:  # so that what is misspelt is no name to a type checker
    __getattr__, __dir__ = public_names(__name__, __all__, _HOMES)
