# SPDX-License-Identifier: Apache-2.0
"""A kernel that a test holds: it lasts until a pipe is closed, however fast or busy a machine is.

The environment variable ``HELD`` names the pipe. Who opens it to write has it once the kernel has
begun, and the kernel goes on when it is closed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyaclnn import reference
from pyaclnn.mock import operator

if TYPE_CHECKING:
    from numpy.typing import NDArray

IN_PHASE_1, IN_PHASE_2 = 113, 4111
"""Number of rows of an input that is held; phase 1 calls the kernel with a few zeros."""


@operator("aclnnRmsNormGrad")
def rms_norm_grad(
    dy: NDArray[Any], x: NDArray[Any], rstd: NDArray[Any], gamma: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    if len(x) == (IN_PHASE_2 if x.any() else IN_PHASE_1):
        Path(os.environ["HELD"]).read_bytes()
    return reference.rms_norm_grad(dy, x, rstd, gamma)
