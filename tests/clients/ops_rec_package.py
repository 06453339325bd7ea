# SPDX-License-Identifier: Apache-2.0
"""Loads the operator package of ops-rec, and runs its LayerNorm times a tensor on a kernel.

It is both: ``python ops_rec_package.py FOLDER`` with the package, and what
PYACLNN_MOCK_OPERATORS names.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import pyaclnn
import pyaclnn.mock
from pyaclnn.ascendc.custom import CustomOperators


@pyaclnn.mock.operator("aclnnLnMul")
def normed_times(
    inputXGm: np.ndarray,  # noqa: N803  # the C names
    inputUGm: np.ndarray,  # noqa: N803
    gammaGm: np.ndarray,  # noqa: N803
    betaGm: np.ndarray,  # noqa: N803
) -> np.ndarray:
    """Each row with a mean of 0 and a deviation of 1, scaled, shifted, and times a tensor."""
    x = inputXGm - inputXGm.mean(-1, keepdims=True)
    return np.asarray((x / x.std(-1, keepdims=True) * gammaGm + betaGm) * inputUGm)


def main(folder: Path) -> None:
    with pyaclnn.Device(0) as device:
        package = CustomOperators(folder)
        x = pyaclnn.to_device(np.array([[1, 3], [2, 6]], np.float32))
        u = pyaclnn.to_device(np.array([[1, 2], [3, 4]], np.float32))
        gamma, beta = (pyaclnn.to_device(np.array(v, np.float32)) for v in ([2, 3], [1, 0]))
        out = pyaclnn.to_device(np.zeros((2, 2), np.float32))
        package.launch("aclnnLnMul", x, u, gamma, beta, out)
        device.synchronize()
        sys.stdout.write(json.dumps([list(package.names), out.numpy().tolist()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
