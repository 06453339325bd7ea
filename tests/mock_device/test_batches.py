# SPDX-License-Identifier: Apache-2.0
"""Batches of kernels in one message."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.mock.device import device as device_module
from pyaclnn.mock.protocol.batch import Batch, Reads, Run
from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import Call, Scalar, Value
from pyaclnn.mock.protocol.wire import Kind, Reply, decode_request

from .bench import BASE, Bench, tensor
from .host_wire import encode_request
from .test_device_process import WORKSPACE, rms_norm

if TYPE_CHECKING:
    import pytest


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


def test_reads_return_the_bytes_between_the_kernels(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "monotonic", float)
    ends, all_of_it = Reads(((BASE + 4, 4), (BASE, 2))), Reads(((BASE, 8),))

    replies = bench.device.run_batch(batch_of(fill(1), ends, fill(2), all_of_it, fill(3)))

    one, two = np.float32(1).tobytes(), np.float32(2).tobytes()
    assert [reply.data for reply in replies] == [b"", one + one[:2], b"", two + two, b""]
    assert not any(reply.status for reply in replies)


def test_reads_outside_of_the_memory_end_the_batch(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "monotonic", float)
    replies = bench.device.run_batch(batch_of(fill(1), Reads(((BASE - 4, 8),)), fill(2)))

    assert [reply.status for reply in replies] == [0, 507015]
    assert "8 bytes at 0x11fffffffffc are not inside of the device's memory" in replies[1].text
