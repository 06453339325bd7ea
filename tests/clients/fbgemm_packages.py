# SPDX-License-Identifier: Apache-2.0
"""Loads every operator package of fbgemm-ascend, and runs an operator on a kernel of its own.

It is both: ``python fbgemm_packages.py FOLDER`` with the packages, and what PYACLNN_MOCK_OPERATORS
names.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import pyaclnn
import pyaclnn.mock
from pyaclnn.ascendc.custom import CustomOperators


@pyaclnn.mock.operator("aclnnJaggedToPaddedDenseV2")
def pad(
    values: np.ndarray, offsets: list[np.ndarray], attr0: tuple[int, ...], attr1: float
) -> np.ndarray:
    """Rows of different lengths side by side: the length is the one, what pads them the other."""
    starts = offsets[0].tolist()
    rows = len(starts) - 1
    dense = np.full((rows, attr0[0], *values.shape[1:]), attr1, values.dtype)
    for row in range(rows):
        found = values[starts[row] : starts[row + 1]][: attr0[0]]
        dense[row, : len(found)] = found
    return dense


def main(folder: Path) -> None:
    with pyaclnn.Device(0) as device:
        packages = [CustomOperators(path.parents[2]) for path in folder.rglob("libcust_opapi.so")]
        (jagged,) = (p for p in packages if "aclnnJaggedToPaddedDenseV2" in p.names)
        values = pyaclnn.to_device(np.arange(12, dtype=np.float32).reshape(6, 2))
        offsets = pyaclnn.to_device(np.array([0, 2, 6], np.int64))
        out = pyaclnn.to_device(np.zeros((2, 3, 2), np.float32))
        jagged.launch("aclnnJaggedToPaddedDenseV2", values, [offsets], [3], -1.0, out)
        device.synchronize()
        sys.stdout.write(json.dumps([len(packages), out.numpy().tolist()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
