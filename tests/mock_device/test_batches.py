# SPDX-License-Identifier: Apache-2.0
"""Batches of kernels in one message."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pyaclnn.mock.device import device as device_module
from pyaclnn.mock.protocol.wire import Batch, Kind, Reply, Run, decode_request

from .bench import Bench, tensor
from .host_wire import encode_request
from .test_device_process import WORKSPACE, rms_norm

if TYPE_CHECKING:
    import pytest

    from pyaclnn.mock.protocol.values import Call


def batch_of(*calls: Call) -> Batch:
    frame = encode_request([Run(WORKSPACE, 16 << 20, call) for call in calls])
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
