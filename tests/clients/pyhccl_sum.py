# SPDX-License-Identifier: Apache-2.0
"""Adds up vectors of two devices by pyhccl, and prints the ranks and what each of them has then."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pyhccl  # type: ignore[import-not-found]

import pyaclnn
from pyaclnn._binding import ffi, lib


def checked(code: int, *results: Any) -> Any:
    """Return the result of a function of HCCL, which has answered 0."""
    assert code == 0, code
    return results[0] if results else None


def main() -> None:
    devices = [pyaclnn.Device(i) for i in range(2)]
    ranks = checked(*pyhccl.HcclCommInitAll([0, 1]))
    streams = [pyaclnn.Stream(device) for device in devices]
    arrays = [
        pyaclnn.to_device(np.array([1, 2, 3], np.float32) * factor, device)
        for device, factor in zip(devices, (1, 10), strict=True)
    ]
    kind, add = pyhccl.HCCL_DATA_TYPE_FP32, pyhccl.HCCL_REDUCE_SUM
    for device, rank, array, stream in zip(devices, ranks, arrays, streams, strict=True):
        checked(lib.aclrtSetCurrentContext(device.pointer))
        place, queue = array.address, int(ffi.cast("uintptr_t", stream.pointer))
        checked(pyhccl.HcclAllReduce(place, place, 3, kind, add, rank, queue))
    found = []
    for rank, array, stream in zip(ranks, arrays, streams, strict=True):
        stream.synchronize()
        found.append([checked(*pyhccl.HcclGetRankSize(rank)), array.numpy().tolist()])
    for rank in ranks:
        checked(pyhccl.HcclCommDestroy(rank))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
