# SPDX-License-Identifier: Apache-2.0
"""Waits of pyhccl for ranks that do not come; prints the codes with which they end."""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

import numpy as np
import pyhccl  # type: ignore[import-not-found]

import pyaclnn
from pyaclnn import raw

KIND, ADD = pyhccl.HCCL_DATA_TYPE_FP32, pyhccl.HCCL_REDUCE_SUM


def join_alone() -> object:
    """Return the code of a rank that joins a group of two, whose other rank never joins."""
    with pyaclnn.Device(0) as device:
        assert raw.aclrtSetCurrentContext(device.pointer) == 0
        _, info = pyhccl.HcclGetRootInfo()
        return int(pyhccl.HcclCommInitRootInfo(2, info, 0)[0])


def with_two(counts: list[int]) -> object:
    """Return the code of each stream after sums of different lengths; of length 0, none."""
    ended = []
    _, ranks = pyhccl.HcclCommInitAll([0, 1])
    devices = [pyaclnn.Device(i) for i in range(2)]
    streams: list[Any] = []
    for device, rank, count in zip(devices, ranks, counts, strict=True):
        stream, array = pyaclnn.Stream(device), pyaclnn.to_device(np.ones(8, np.float32), device)
        streams.append((device, stream, array))
        if count:
            assert raw.aclrtSetCurrentContext(device.pointer) == 0
            place, queue = array.address, int(raw.ffi.cast("uintptr_t", stream.pointer))
            assert pyhccl.HcclAllReduce(place, place, count, KIND, ADD, rank, queue) == 0
    for device, stream, _ in streams:
        assert raw.aclrtSetCurrentContext(device.pointer) == 0
        sys.stderr.write("waits\n")
        ended.append(raw.aclrtSynchronizeStream(stream.pointer))
    for rank in ranks:
        pyhccl.HcclCommDestroy(rank)
    return ended


def main() -> None:
    # A shell in the background has its children ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    counts = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(with_two(counts) if counts else join_alone()))


if __name__ == "__main__":
    main()
