# SPDX-License-Identifier: Apache-2.0
"""Batches of kernels in one message."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.mock.device import device as device_module
from pyaclnn.mock.protocol.batch import Batch, Reads, Run
from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import Call, Scalar, Value
from pyaclnn.mock.protocol.wire import Kind, Reply, decode_request

from .bench import BASE, Bench, tensor
from .host_wire import encode_request
from .test_device_process import WORKSPACE, rms_norm

if TYPE_CHECKING:
    from collections.abc import Iterator


def batch_of(*items: Call | Reads) -> Batch:
    runs = (one if isinstance(one, Reads) else Run(WORKSPACE, 16 << 20, one) for one in items)
    frame = encode_request(list(runs))
    batch = decode_request(Kind.RUN, frame[16:])
    assert isinstance(batch, Batch)
    return batch


def test_a_batch_ends_with_the_first_kernel_that_fails(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "monotonic", float)  # no time passes
    wrong = rms_norm()
    wrong.arguments["yOut"] = tensor(1, 4, address=0x10)

    replies = bench.device.run_batch(batch_of(rms_norm(), wrong, rms_norm()))

    assert [reply.status for reply in replies] == [0, 507015]


def test_a_batch_that_takes_long_goes_back_to_the_host(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = itertools.count(0, 3600.0)
    monkeypatch.setattr(device_module, "monotonic", lambda: next(hours))

    assert bench.device.run_batch(batch_of(rms_norm(), rms_norm())) == [Reply(0, "")]


def fill(number: float) -> Call:
    value = Scalar(DATA_TYPES["FLOAT"], np.float32(number).tobytes())
    arguments: dict[str, Value] = {"selfRef": tensor(2), "value": value}
    return Call("aclnnInplaceFillScalar", 0, arguments)


@pytest.fixture
def room() -> Iterator[int]:
    descriptor = os.memfd_create("room")
    os.ftruncate(descriptor, 4096)
    yield descriptor
    os.close(descriptor)


def test_reads_leave_the_bytes_between_the_kernels_in_a_file(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(device_module, "monotonic", float)
    ends = Reads(os.getpid(), room, ((BASE + 4, 4, 64), (BASE, 2, 100)))
    all_of_it = Reads(os.getpid(), room, ((BASE, 8, 128),))

    replies = bench.device.run_batch(batch_of(fill(1), ends, fill(2), all_of_it, fill(3)))

    one, two = np.float32(1).tobytes(), np.float32(2).tobytes()
    assert replies == [Reply()] * 5
    found = os.pread(room, 4096, 0)
    assert (found[64:68], found[100:102], found[128:136]) == (one, one[:2], two + two)
    assert not any(found[:64] + found[68:100] + found[102:128] + found[136:])


@pytest.mark.parametrize(("address", "offset"), [(BASE - 4, 0), (BASE, 4089)])
def test_reads_outside_of_the_memory_or_the_file_end_the_batch(
    address: int, offset: int, bench: Bench, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(device_module, "monotonic", float)
    reads = Reads(os.getpid(), room, ((address, 8, offset),))
    replies = bench.device.run_batch(batch_of(fill(1), reads, fill(2)))

    assert [reply.status for reply in replies] == [0, 507015]
    assert f"8 bytes at {address:#x} are not in the device's memory" in replies[1].text


def test_reads_into_a_file_that_is_gone_end_the_batch(bench: Bench) -> None:
    (reply,) = bench.device.run_batch(batch_of(Reads(os.getpid(), 1 << 20, ((BASE, 8, 0),))))

    assert reply.status == 507015
