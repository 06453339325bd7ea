# SPDX-License-Identifier: Apache-2.0
"""Loads the operator package of mx-driving, and runs an operator on a kernel of its own.

It is both: ``python mx_driving_package.py FOLDER`` with the package, and what
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


@pyaclnn.mock.operator("aclnnPointToVoxel")
def voxels(
    points: np.ndarray, attr0: tuple[float, ...], attr1: tuple[float, ...], attr2: str
) -> np.ndarray:
    """The cells that points lie in: their sizes, the bounds of space, the order of the axes."""
    assert attr2 == "XYZ"
    return np.floor((points - attr1[:3]) / attr0).astype(np.int32)


def main(folder: Path) -> None:
    with pyaclnn.Device(0) as device:
        package = CustomOperators(folder)
        points = pyaclnn.to_device(np.array([[1, 2, 3], [4, 5, 6]], np.float32))
        out = pyaclnn.to_device(np.zeros((2, 3), np.int32))
        bounds = [0.0, 0.0, 1.0, 9.0, 9.0, 9.0]
        package.launch("aclnnPointToVoxel", points, [0.5, 1.0, 2.0], bounds, "XYZ", out)
        device.synchronize()
        sys.stdout.write(json.dumps([len(list(package.names)), out.numpy().tolist()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
