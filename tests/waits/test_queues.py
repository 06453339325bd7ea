# SPDX-License-Identifier: Apache-2.0
"""Waits for messages of another thread, which never come, and each of their ends."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.releases import NEWEST

from .held import HeldProgram
from .test_programs import BEGIN
from .waiting import waiting_functions

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import os, threading
from pyaclnn import raw
from pyaclnn._binding import ffi
N = ffi.NULL
pyaclnn.Device(0)
attr, number = raw.acltdtCreateQueueAttr(), ffi.new("uint32_t *")
raw.acltdtSetQueueAttr(attr, 1, 4, ffi.new("uint32_t *", 2))
assert raw.acltdtCreateQueue(attr, number) == 0
queue, data, size = number[0], ffi.new("char[8]"), ffi.new("size_t *")
buffer = ffi.new("acltdtBuf *")
assert raw.acltdtAllocBuf(16, 0, buffer) == 0
channel, tensors = raw.acltdtCreateChannelWithCapacity(0, b"held", 1), raw.acltdtCreateDataset()
if {name!r} in {senders!r}:
    for _ in range(2):
        assert raw.acltdtEnqueueData(queue, data, 8, N, 0, 0, 0) == 0
    assert raw.acltdtSendTensor(channel, tensors, 0) == 0
arguments = {{
    "acltdtEnqueue": (queue, buffer[0], {timeout}),
    "acltdtEnqueueData": (queue, data, 8, N, 0, {timeout}, 0),
    "acltdtDequeue": (queue, ffi.new("acltdtBuf *"), {timeout}),
    "acltdtDequeueData": (queue, data, 8, size, N, 0, {timeout}),
    "acltdtReceiveTensor": (channel, raw.acltdtCreateDataset(), {timeout}),
    "acltdtSendTensor": (channel, tensors, {timeout}),
}}
threading.Timer(0.3, lambda: os.write(os.open(os.environ["HELD"], os.O_WRONLY), b"1")).start()
print(getattr(raw, {name!r})(*arguments[{name!r}]), flush=True)
"""
SENDERS = ("acltdtEnqueue", "acltdtEnqueueData", "acltdtSendTensor")
QUEUES = ("acltdtDequeue", "acltdtDequeueData", "acltdtReceiveTensor", *SENDERS)


def waiting(folder: Path, name: str, timeout: int) -> HeldProgram:
    text = PROGRAM.format(name=name, timeout=timeout, senders=SENDERS)
    return HeldProgram(folder, BEGIN + text, PYACLNN_MOCK_CANN=NEWEST)


def test_every_wait_for_a_message_is_held() -> None:
    assert {name for name in waiting_functions() if name.startswith("acltdt")} == {*QUEUES}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", QUEUES)
def test_ctrl_c_ends_the_wait_and_the_program(tmp_path: Path, name: str) -> None:
    with waiting(tmp_path, name, -1) as held:
        held.await_held()
        held.end(signal.SIGINT)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", QUEUES)
def test_a_limit_ends_the_wait(tmp_path: Path, name: str) -> None:
    with waiting(tmp_path, name, 1000) as held:
        held.await_held()
        status, out = held.end()
    assert (status, out.strip()) == (0, "207014" if name in SENDERS else "207013"), held.errors()
